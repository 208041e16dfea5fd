//! Sweeps of kind `accuracy`: players choose in positions, alone, and a reference assigns a value to every
//! move.

use spelrum_engine::{Player, check_reference};
use spelrum_model::Task;
use spelrum_toml::{Entry, Fault, Node, Scalar, Span, Table, Tree};

use crate::overrides::Override;
use crate::pairing::Pairing;
use crate::player_template::PlayerTemplate;
use crate::player_template::Variant;
use crate::players::Players;

/// The reference's name among the players, in results and in `where = { opponent = … }`.
pub(super) const REFERENCE: &str = "reference";

/// Keys that only a sweep of games has, each with its replacement, or why there is none.
const OF_GAMES: [(&str, &str); 12] = [
    ("games", "write `choices`: in how many positions each player chooses"),
    ("openings", "write `positions`: where the players choose"),
    ("swap_sides", "remove it: each player moves once, alone"),
    ("max_plies", "remove it: nothing is played beyond the chosen move"),
    ("adjudication", "remove it: nothing is played beyond the chosen move"),
    ("record", "remove it: a choice is one move, and is always stored"),
    ("stop", "remove it: every player chooses in all positions"),
    ("allocate", "remove it: cells are done one after the other"),
    ("pairing", "remove it: every player chooses alone"),
    ("anchors", "remove it: every player is measured against the reference"),
    ("replicates", "remove it: replicates are of scores of games"),
    ("monotone", "remove it: curves are of scores of games"),
];

const NODES: &str = "nodes";

/// Default bound of the exact solver in one position: minutes. A position that takes more is given up as out
/// of reach, with this number in the message.
const NODES_MAX: i64 = 10_000_000_000;

/// Keys that only a sweep of kind `accuracy` has.
pub(crate) const OF_ACCURACY: [&str; 3] = ["positions", "choices", "reference"];

/// Refuses keys that belong to the other kind.
pub(super) fn check_keys(root: &Table, task: Task) -> Result<(), Fault> {
    for Entry { key, key_place, .. } in &root.entries {
        let fault = match task {
            Task::Choice => {
                OF_GAMES.iter().find(|(of_games, _)| of_games == key).map(|(_, remedy)| {
                    (format!("an accuracy experiment has no `{key}`"), (*remedy).to_owned())
                })
            }
            Task::Game => OF_ACCURACY.contains(&key.as_str()).then(|| {
                let remedy = "add kind = \"accuracy\", or remove it".to_owned();
                (format!("only an accuracy experiment has `{key}`"), remedy)
            }),
        };
        if let Some((problem, remedy)) = fault {
            return Err(Fault::at(key_place, problem, remedy));
        }
    }
    Ok(())
}

/// Adds the reference to the players, and pairs it with every other player.
pub(super) fn add_reference(players: &mut Players, node: &Node) -> Result<Pairing, Fault> {
    let example = "[reference] and below it algorithm = \"exact\"";
    let table = node.table("`reference`", example)?;
    let taken = players.templates.iter().find(|template| template.name == REFERENCE);
    if let Some(PlayerTemplate { place, .. }) = taken {
        let problem = "`reference` cannot be the name of a player here";
        return Err(Fault::at(place, problem, "choose another name: [reference] has this one"));
    }
    for Entry { key, key_place, .. } in &table.entries {
        if matches!(key.as_str(), "from" | "like" | "use" | "vary") {
            let problem = format!("the reference cannot have `{key}`");
            return Err(Fault::at(key_place, problem, "spell out its parameters"));
        }
    }
    let mut parameters = table.clone();
    let is_exact = |entry: &Entry| matches!(entry.value.text("", ""), Ok("exact"));
    if table.get("algorithm").is_some_and(is_exact) && table.get(NODES).is_none() {
        parameters.entries.push(Entry {
            key: NODES.to_owned(),
            key_place: node.place.clone(),
            value: Node {
                place: node.place.clone(),
                tree: Tree::Scalar(Scalar::Integer(NODES_MAX)),
            },
        });
    }
    let choosing = players.variants.len();
    players.variants.push(Variant {
        name: REFERENCE.to_owned(),
        template: players.templates.len(),
        values: Vec::new(),
    });
    players.templates.push(PlayerTemplate {
        name: REFERENCE.to_owned(),
        place: node.place.clone(),
        parameters,
        varied: Vec::new(),
        uses: Vec::new(),
        is_model: false,
    });
    let pairs = (0..choosing).map(|player| (player, choosing)).collect();
    Ok(Pairing { pairs, anchors: Vec::new() })
}

/// Refuses different numbers of choices for some cells: all players must choose in the same positions.
pub(super) fn check_overrides(overrides: &[Override]) -> Result<(), Fault> {
    match overrides.iter().find(|given| given.games.is_some()) {
        None => Ok(()),
        Some(given) => Err(Fault::at(
            &given.games_place,
            "an override cannot change the number of choices",
            "write skip = true to leave cells out: the others are compared on the same positions",
        )),
    }
}

/// Refuses a reference whose value of a move would not follow from the position alone.
pub(super) fn check_player(player: &Player, place: &Span) -> Result<(), Fault> {
    check_reference(player)
        .map_err(|error| Fault::at(place, format!("the reference: {}", error.what), error.remedy))
}
