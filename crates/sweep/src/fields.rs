//! Reads values that several tables share: names, words, lists of texts.

use spelrum_engine::Value;
use spelrum_toml::{Fault, Node, Scalar, Span};

/// Longest name of an experiment, an axis or a player, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Checks the name of an axis or a player: it becomes a column, a key, a word in messages.
pub(super) fn check_name(owner: &str, name: &str, place: &Span) -> Result<(), Fault> {
    let starts_well = name.starts_with(|first: char| first.is_ascii_alphabetic());
    let goes_on_well = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if starts_well && goes_on_well && name.len() <= NAME_BYTES_MAX {
        return Ok(());
    }
    Err(Fault::at(
        place,
        format!("`{name}` cannot be the name of {owner}"),
        format!("use a letter, then letters, digits, `_` and `-`, at most {NAME_BYTES_MAX} in all"),
    ))
}

/// A number of games: whole pairs if sides are swapped; at least a pair or a game.
pub(super) fn number_of_games(node: &Node, swap_sides: bool) -> Result<u64, Fault> {
    let games = node.integer("`games`", "games = 100")?;
    if games < 1 {
        let problem = format!("a cell cannot have {games} games");
        let remedy = if swap_sides { "play at least 2: a pair" } else { "play at least 1" };
        return Err(Fault::at(&node.place, problem, remedy));
    }
    if swap_sides && games % 2 != 0 {
        let even = match games {
            1 => "2".to_owned(),
            _ => format!("{}, or {}", games - 1, games.saturating_add(1)),
        };
        let remedy = format!("write {even}; or play single games, with swap_sides = false");
        let problem = format!("games come in colour-swapped pairs: {games} is odd");
        return Err(Fault::at(&node.place, problem, remedy));
    }
    Ok(games.unsigned_abs())
}

/// The texts of a list.
pub(super) fn texts<'a>(
    node: &'a Node,
    label: &str,
    example: &str,
) -> Result<Vec<(&'a str, &'a Span)>, Fault> {
    let texts = node.list(label, "a list", example)?.iter();
    texts.map(|node| Ok((node.text(label, example)?, &node.place))).collect()
}

/// The engine's value of a scalar.
pub(super) fn value_of(scalar: &Scalar) -> Value {
    match scalar {
        Scalar::Bool(value) => Value::Bool(*value),
        Scalar::Integer(integer) => Value::Integer(*integer),
        Scalar::Number(number) => Value::Number(*number),
        Scalar::Text(text) => Value::Text(text.clone()),
    }
}
