//! Turns trees without references into a game, openings and players.

use spelrum_engine::tables::Endgame;
use spelrum_engine::{
    ALGORITHMS, EXTERNAL_ALGORITHMS, ParameterKind, Parameters, Player, Protocol, Rules, Value,
    parameters_of,
};
use spelrum_model::builds::Builds;
use spelrum_model::course::{OPTIONS, option_named, set_parameter};
use spelrum_model::seeds::SEED_END;
use spelrum_model::{OPENING_PLIES_MAX, OpeningsError, OpeningsRule};
use spelrum_toml::{Entry, Fault, Node, Span, Table, Tree, did_you_mean};

use crate::fields::{texts, value_of};
use crate::key::{self, Keys};
use crate::keys;

/// The seed of every random number.
pub(super) fn seed(node: &Node) -> Result<u64, Fault> {
    let seed = node.integer("`seed`", "seed = 2014")?;
    u64::try_from(seed).ok().filter(|&seed| seed < SEED_END).ok_or_else(|| {
        Fault::at(
            &node.place,
            format!("the seed {seed} is out of range"),
            format!("choose a whole number from 0 to 2^53 - 1 = {}", SEED_END - 1),
        )
    })
}

const GAME_EXAMPLE: &str = "game = \"pentago\", or game = { name = \"nim\", misere = true }";

/// The game and its rules.
pub(super) fn game(node: &Node) -> Result<Rules, Fault> {
    let rules = match &node.tree {
        Tree::Table(table) => match table.get("name") {
            Some(name) => game_with_rules(&name.value, table)?,
            None => {
                let problem = "this game has no `name`";
                return Err(Fault::at(&node.place, problem, format!("write {GAME_EXAMPLE}")));
            }
        },
        Tree::Scalar(_) | Tree::Array(_) => named_game(node)?,
    };
    Ok(rules)
}

fn named_game(name: &Node) -> Result<Rules, Fault> {
    Rules::from_name(name.text("`game`", GAME_EXAMPLE)?)
        .map_err(|error| Fault::at(&name.place, error.what, error.remedy))
}

fn game_with_rules(name: &Node, table: &Table) -> Result<Rules, Fault> {
    let game = named_game(name)?;
    let rules = game.game().rules;
    let known_keys: Vec<&str> =
        ["name"].into_iter().chain(rules.iter().map(|rule| rule.name)).collect();
    table.check_keys(&format!("the game {}", game.name()), &known_keys)?;
    let given = table.entries.iter().filter(|entry| entry.key != "name");
    let given = given.map(|entry| Ok((entry.key.clone(), value(&entry.value)?)));
    let given: Parameters = given.collect::<Result<_, Fault>>()?;
    Rules::from_parameters(game.name(), &given).map_err(|error| {
        let place = error.place.and_then(|rule| table.get(&rule));
        let place = place.map_or(&name.place, |entry| &entry.value.place);
        Fault::at(place, error.what, error.remedy)
    })
}

/// The content of a node, whatever its form.
fn value(node: &Node) -> Result<Value, Fault> {
    Ok(match &node.tree {
        Tree::Scalar(scalar) => value_of(scalar),
        Tree::Array(nodes) => Value::List(nodes.iter().map(value).collect::<Result<_, _>>()?),
        Tree::Table(table) => {
            let entry = |entry: &Entry| Ok((entry.key.clone(), value(&entry.value)?));
            Value::Table(table.entries.iter().map(entry).collect::<Result<_, Fault>>()?)
        }
    })
}

const OPENINGS_EXAMPLE: &str = "openings = { kind = \"random\", plies = 2 }, \
                                { kind = \"all\", plies = 2 }, \"start\", or a list of positions";

/// The openings rule. Listed positions keep the sweep's spelling.
pub(super) fn openings(node: &Node) -> Result<OpeningsRule, Fault> {
    let listed = |node: &Node| {
        let positions = texts(node, "an opening", OPENINGS_EXAMPLE)?;
        let positions = positions.iter().map(|(text, _)| (*text).to_owned()).collect();
        Ok(OpeningsRule::Listed { positions })
    };
    match &node.tree {
        Tree::Array(_) => listed(node),
        Tree::Scalar(_) => {
            let kind = node.text("`openings`", OPENINGS_EXAMPLE)?;
            match kind {
                "start" => Ok(OpeningsRule::Start {}),
                "random" | "all" => Err(Fault::at(
                    &node.place,
                    format!("\"{kind}\" openings need a number of plies"),
                    format!("write openings = {{ kind = \"{kind}\", plies = 2 }}"),
                )),
                _ => Err(unknown_openings(kind, &node.place)),
            }
        }
        Tree::Table(table) => {
            let Some(kind) = table.get("kind") else {
                let problem = "these openings have no `kind`";
                return Err(Fault::at(&node.place, problem, format!("write {OPENINGS_EXAMPLE}")));
            };
            let name = kind.value.text("`kind`", OPENINGS_EXAMPLE)?;
            let owner = format!("\"{name}\" openings");
            let needed = |keys: Keys, key: &str, example: &str| {
                key::check(table, &owner, keys)?;
                table.get(key).map(|entry| &entry.value).ok_or_else(|| {
                    let problem = format!("{owner} have no `{key}`");
                    Fault::at(&node.place, problem, format!("add, for example, {example}"))
                })
            };
            let needed_plies = || needed(keys::OPENINGS_PLIES, "plies", "plies = 2");
            match name {
                "start" => {
                    key::check(table, &owner, keys::OPENINGS_START).map(|()| OpeningsRule::Start {})
                }
                "random" => drawn(needed_plies()?),
                "all" => Ok(OpeningsRule::All { plies: plies(needed_plies()?)? }),
                "listed" => listed(needed(
                    keys::OPENINGS_LISTED,
                    "positions",
                    "positions = [\"…\", \"…\"], or file = \"openings.txt\"",
                )?),
                // A `file` has been read by now, and become a list.
                "book" => listed(needed(keys::OPENINGS_BOOK, "file", "file = \"openings.epd\"")?),
                "ending" => ending(
                    node,
                    table,
                    needed(keys::OPENINGS_ENDING, "ending", "ending = \"KRK\"")?,
                ),
                _ => Err(unknown_openings(name, &kind.value.place)),
            }
        }
    }
}

fn unknown_openings(kind: &str, place: &Span) -> Fault {
    let kinds = ["start", "random", "all", "listed", "book", "ending"];
    let problem = format!("there are no \"{kind}\" openings");
    Fault::at(place, problem, did_you_mean(kind, "kinds", kinds))
}

/// Positions of the named ending.
fn ending(node: &Node, table: &Table, name: &Node) -> Result<OpeningsRule, Fault> {
    let endgame: Endgame = name
        .text("`ending`", "ending = \"KRK\"")?
        .parse()
        .map_err(|error| openings_fault(&OpeningsError::Ending(error), node))?;
    let (stratified, to_move) = (keys::STRATIFIED.read(table)?, keys::TO_MOVE.read(table)?);
    let distance = table.get("distance").map(|entry| distance(&entry.value)).transpose()?;
    let ending = endgame.name().to_owned();
    Ok(OpeningsRule::Ending { ending, to_move, distance, stratified })
}

/// The range of moves to mate.
fn distance(node: &Node) -> Result<[u32; 2], Fault> {
    const EXAMPLE: &str = "distance = [5, 10]";
    let Tree::Array(nodes) = &node.tree else {
        return Err(node.wrong_type("`distance`", "a list of two", EXAMPLE));
    };
    let [from, to] = nodes.as_slice() else {
        let problem = format!("`distance` has {} numbers, not two", nodes.len());
        return Err(Fault::at(&node.place, problem, format!("write, for example, {EXAMPLE}")));
    };
    let moves = |node: &Node| {
        let moves = node.integer("a number of moves", EXAMPLE)?;
        u32::try_from(moves).ok().filter(|&moves| moves > 0).ok_or_else(|| {
            let problem = format!("there are no positions {moves} moves from mate");
            Fault::at(&node.place, problem, "choose 1 or more: a position of 1 is won at once")
        })
    };
    let moves = [moves(from)?, moves(to)?];
    if moves[0] > moves[1] {
        let problem = format!("no distance is from {} to {} moves", moves[0], moves[1]);
        return Err(Fault::at(&node.place, problem, "write the smaller number first"));
    }
    Ok(moves)
}

/// Random play to one distance, or to several in turn.
fn drawn(node: &Node) -> Result<OpeningsRule, Fault> {
    let Tree::Array(nodes) = &node.tree else {
        return Ok(OpeningsRule::Random { plies: plies(node)? });
    };
    let mut strata = Vec::with_capacity(nodes.len());
    for node in nodes {
        let plies = plies(node)?;
        if strata.contains(&plies) {
            let problem = format!("{plies} plies are there twice");
            return Err(Fault::at(&node.place, problem, "name each number of plies once"));
        }
        strata.push(plies);
    }
    match strata.as_slice() {
        [] => {
            Err(Fault::at(&node.place, "these are no plies at all", "write plies = [20, 24, 28]"))
        }
        &[plies] => Ok(OpeningsRule::Random { plies }),
        plies => Ok(OpeningsRule::Strata { plies: plies.into() }),
    }
}

/// A number of plies from the start to an opening.
pub(super) fn plies(node: &Node) -> Result<u32, Fault> {
    let plies = node.integer("`plies`", "plies = 2")?;
    u32::try_from(plies).ok().filter(|&plies| plies <= OPENING_PLIES_MAX).ok_or_else(|| {
        Fault::at(
            &node.place,
            format!("an opening cannot be {plies} plies from the start"),
            format!("choose 0 to {OPENING_PLIES_MAX}"),
        )
    })
}

/// A fault of openings that could not be made, at the faulty position or rule.
pub(super) fn openings_fault(error: &OpeningsError, node: &Node) -> Fault {
    let list = match &node.tree {
        Tree::Array(nodes) => Some(nodes),
        Tree::Table(table) => match table.get("positions").map(|entry| &entry.value.tree) {
            Some(Tree::Array(nodes)) => Some(nodes),
            Some(Tree::Scalar(_) | Tree::Table(_)) | None => None,
        },
        Tree::Scalar(_) => None,
    };
    let listed = |number: usize| {
        list.and_then(|nodes| nodes.get(number - 1)).map_or(&node.place, |node| &node.place)
    };
    let at = |key: &str| match &node.tree {
        Tree::Table(table) => table.get(key).map_or(&node.place, |entry| &entry.value.place),
        Tree::Array(_) | Tree::Scalar(_) => &node.place,
    };
    let (place, remedy) = match error {
        OpeningsError::Rules(error) => (&node.place, error.remedy.clone()),
        OpeningsError::Far { .. } => (&node.place, "choose fewer plies".to_owned()),
        OpeningsError::Many { plies } => {
            let remedy = format!("choose fewer, or {{ kind = \"random\", plies = {plies} }}");
            (&node.place, remedy)
        }
        OpeningsError::None { .. } => {
            (&node.place, "choose fewer plies, or openings = \"start\"".to_owned())
        }
        OpeningsError::Empty => {
            (&node.place, "list positions, or choose openings = \"start\"".to_owned())
        }
        OpeningsError::Notation { number, error } => {
            return Fault::at(listed(*number), error.what.clone(), error.remedy.clone());
        }
        OpeningsError::Over { number } => {
            (listed(*number), "list positions from which play goes on".to_owned())
        }
        OpeningsError::NotChess => {
            let remedy = "write game = \"chess\", or choose other openings";
            (&node.place, remedy.to_owned())
        }
        OpeningsError::Ending(error) => (at("ending"), error.remedy.clone()),
        OpeningsError::NoWin { distance: None, .. } => {
            let remedy =
                "name an ending that white wins, white's pieces first, such as KRK or KBNK";
            (at("ending"), remedy.to_owned())
        }
        OpeningsError::NoWin { distance: Some(_), .. } => {
            let remedy =
                "choose other distances; `spelrum table` says how far the mates of an ending are";
            (at("distance"), remedy.to_owned())
        }
        OpeningsError::Repeated { number, .. } => {
            (listed(*number), "list every opening once; its mirror images are the same".to_owned())
        }
    };
    Fault::at(place, error.to_string(), remedy)
}

/// A player's setting of one parameter, at a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlayerEntry<'a> {
    pub(super) key: &'a str,
    pub(super) key_place: &'a Span,
    pub(super) value: &'a Node,
}

/// The player that this belongs to.
pub(super) fn player(
    rules: &Rules,
    name: &str,
    header: &Span,
    entries: &[PlayerEntry<'_>],
    builds: Option<&Builds>,
) -> Result<Player, Fault> {
    let find = |key: &str| entries.iter().find(|entry| entry.key == key);
    let Some(algorithm) = find("algorithm") else {
        return Err(Fault::at(
            header,
            format!("the player `{name}` has no `algorithm`"),
            format!("add one of {}", quoted(&[ALGORITHMS, EXTERNAL_ALGORITHMS].concat())),
        ));
    };
    let example = "algorithm = \"alpha-beta\"";
    let algorithm = algorithm.value.text("`algorithm`", example)?;
    let weights = || rules.evaluations().iter().flat_map(|evaluation| evaluation.parameters);
    let info = |key: &str| {
        parameters_of(algorithm).iter().chain(weights()).find(|parameter| parameter.name == key)
    };
    // An unknown algorithm's parameters are unknown, too: report the error in its name.
    let is_known = ALGORITHMS.contains(&algorithm) || EXTERNAL_ALGORITHMS.contains(&algorithm);
    let mut given = Parameters::new();
    // Placeholders of options that a course decides: they belong in the player's `options`.
    let mut decided = Vec::new();
    for PlayerEntry { key, value: node, .. } in entries {
        let is_whole = info(key).is_some_and(|info| {
            matches!(
                info.kind,
                ParameterKind::Nested | ParameterKind::Recipe(_) | ParameterKind::Integers { .. }
            )
        });
        let option = option_named(key);
        if (*key == OPTIONS || option.is_some()) && ALGORITHMS.contains(&algorithm) {
            return Err(Fault::at(
                &node.place,
                format!(
                    "`options` of the player `{name}` is for external engines, and {algorithm} is not one"
                ),
                "write its parameters as keys of the player, such as depth = 4, or table_mib = 64 for a hash table",
            ));
        }
        if is_known && !is_whole && !matches!(node.tree, Tree::Scalar(_)) {
            return Err(Fault::at(
                &node.place,
                format!("`{key}` of the player `{name}` cannot be {}", node.kind()),
                format!(
                    "give one value; to try several, write vary = {{ {key} = [1, 2] }}, or make \
                     an axis and write {key} = \"${key}\""
                ),
            ));
        }
        if option.is_some() {
            decided.push((key, value(node)?));
        } else {
            given.insert((*key).to_owned(), value(node)?);
        }
    }
    for (key, value) in decided {
        set_parameter(&mut given, key, value);
    }
    let is_pinned = ["build", "commit", "program"].iter().any(|key| given.contains_key(*key));
    if let (Some(builds), Some(_), Some(Value::Text(engine)), false) =
        (builds, Protocol::named(algorithm), given.get("engine"), is_pinned)
        && let Some(build) = builds.get(engine)
    {
        given.insert("build".to_owned(), Value::Text(build.clone()));
    }
    Player::from_parameters(rules, &given).map_err(|error| {
        let is_parameter = |key: &str| matches!(key, "algorithm" | "preset") || info(key).is_some();
        let find = |key: &str| {
            let is_option =
                |entry: &&PlayerEntry<'_>| key == OPTIONS && option_named(entry.key).is_some();
            find(key).or_else(|| entries.iter().find(is_option))
        };
        let place = match error.place.as_deref().and_then(find) {
            Some(entry) if is_parameter(entry.key) => &entry.value.place,
            Some(entry) => entry.key_place,
            None => header,
        };
        Fault::at(place, format!("player `{name}`: {}", error.what), error.remedy)
    })
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
}
