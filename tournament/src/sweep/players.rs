//! `[players.x]`: names, and what each says of its player, `like` resolved.

use super::fault::{Fault, Span, did_you_mean};
use super::file::check_name;
use super::tree::{Entry, Node, Table};

/// Most players of a sweep.
const PLAYERS_MAX: usize = 256;

/// Most parameters of a player: no algorithm has so many.
const PARAMETERS_MAX: usize = 128;

/// A player as the file describes it: its parameters may name axes.
#[derive(Debug)]
pub(super) struct PlayerTemplate {
    pub(super) name: String,
    /// Its header.
    pub(super) place: Span,
    /// Its parameters, with those it takes over from the player it is `like`.
    pub(super) parameters: Table,
    /// Whether another player is `like` it.
    pub(super) is_model: bool,
}

/// Reads `[players]`.
pub(super) fn read(node: &Node) -> Result<Vec<PlayerTemplate>, Fault> {
    let table = node.table("`players`", "[players.alphabeta]")?;
    if table.entries.len() > PLAYERS_MAX {
        let problem = format!("{} players are too many", table.entries.len());
        return Err(Fault::at(&node.place, problem, format!("name at most {PLAYERS_MAX}")));
    }
    let mut own = Vec::new();
    for entry in &table.entries {
        check_name("a player", &entry.key, &entry.key_place)?;
        let what = format!("the player `{}`", entry.key);
        let example = format!("[players.{}]", entry.key);
        let parameters = entry.value.table(&what, &example)?.entries.len();
        if parameters > PARAMETERS_MAX {
            let problem = format!("{what} has {parameters} parameters");
            let remedy = format!("give it at most {PARAMETERS_MAX}");
            return Err(Fault::at(&entry.key_place, problem, remedy));
        }
        own.push((entry, model(entry, table)?));
    }
    let is_model =
        |name: &str| own.iter().any(|(_, model)| model.is_some_and(|model| model.key == name));
    own.iter()
        .map(|(entry, _)| {
            Ok(PlayerTemplate {
                name: entry.key.clone(),
                place: entry.key_place.clone(),
                parameters: inherited(entry, table)?,
                is_model: is_model(&entry.key),
            })
        })
        .collect()
}

/// The player that this one is `like`.
fn model<'a>(player: &Entry, players: &'a Table) -> Result<Option<&'a Entry>, Fault> {
    let Some(like) = player.value.table("a player", "")?.get(LIKE) else { return Ok(None) };
    let name = like.value.text("`like`", "like = \"alphabeta\"")?;
    match players.get(name) {
        Some(model) => Ok(Some(model)),
        None => Err(Fault::at(
            &like.value.place,
            format!("there is no player `{name}`"),
            did_you_mean(name, "players", players.keys()),
        )),
    }
}

/// A player's parameters over those of its model, and its model's over those of the next.
fn inherited(player: &Entry, players: &Table) -> Result<Table, Fault> {
    let mut parameters = Table::default();
    let mut line = vec![player];
    while let Some(&current) = line.last() {
        for entry in &current.value.table("a player", "")?.entries {
            if entry.key != LIKE && parameters.get(&entry.key).is_none() {
                parameters.entries.push(entry.clone());
            }
        }
        let Some(next) = model(current, players)? else { break };
        if line.iter().any(|seen| seen.key == next.key) {
            return Err(Fault::at(
                &player.key_place,
                format!("the player `{}` is like itself, by way of `{}`", next.key, current.key),
                "let one of the players spell out its parameters",
            ));
        }
        line.push(next);
    }
    Ok(parameters)
}

const LIKE: &str = "like";
