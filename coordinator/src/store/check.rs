//! What a reported game must look like to be stored. A worker of another release, or none at all,
//! must not be able to put into the database what its readers do not expect, or to make a
//! transaction fail that holds other workers' results.

use spelrum_proto::{names, v1};

use super::numbers::SAFE_MAX;

/// The longest word (a termination, what ended a search) and the longest move, in bytes.
const WORD_BYTES_MAX: usize = 64;
/// The longest opening, in bytes.
const OPENING_BYTES_MAX: usize = 4096;
/// The longest game, in plies.
const PLIES_MAX: usize = 100_000;

/// What a reported game says in words of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// For who moved first.
    pub outcome: v1::Outcome,
    /// The name of the side of the game that moved first.
    pub first_side: &'static str,
}

/// Checks a reported game.
///
/// # Errors
/// What is wrong with it, in words.
pub fn check_game(game: &v1::Game) -> Result<Told, String> {
    let outcome = match game.outcome() {
        v1::Outcome::Unspecified => return Err("it has no outcome".to_owned()),
        outcome @ (v1::Outcome::Win | v1::Outcome::Draw | v1::Outcome::Loss) => outcome,
    };
    let first_side = names::side(game.first_side())
        .map(names::side_name)
        .ok_or_else(|| "it does not say which side of the game moved first".to_owned())?;
    word("its termination", &game.termination)?;
    text("its opening", &game.opening, OPENING_BYTES_MAX)?;
    number("its number", game.number)?;
    number("its moves_hash", game.moves_hash)?;
    number("its wall_us", game.wall_us)?;
    if game.started_unix_us.unsigned_abs() > SAFE_MAX {
        return Err("its started_unix_us is not below 2^53".to_owned());
    }
    if game.moves.len() > PLIES_MAX {
        return Err(format!("it has {} moves", game.moves.len()));
    }
    game.moves.iter().try_for_each(check_move)?;
    Ok(Told { outcome, first_side })
}

fn check_move(mv: &v1::Move) -> Result<(), String> {
    if mv.mover > 1 {
        return Err(format!("a move has mover {}", mv.mover));
    }
    word("a move", &mv.r#move)?;
    word("a move's ended_by", &mv.ended_by)?;
    number("a move's position_key", mv.position_key)?;
    number("a move's nodes", mv.nodes)?;
    number("a move's evaluations", mv.evaluations)?;
    number("a move's full_tree_leaves", mv.full_tree_leaves)?;
    number("a move's wall_us", mv.wall_us)?;
    number("a move's cpu_us", mv.cpu_us)
}

fn word(what: &str, value: &str) -> Result<(), String> {
    text(what, value, WORD_BYTES_MAX)
}

fn text(what: &str, value: &str, bytes_max: usize) -> Result<(), String> {
    match value.len() {
        0 => Err(format!("{what} is empty")),
        length if length > bytes_max => Err(format!("{what} has {length} bytes")),
        // SQLite would end the text there.
        _ if value.contains('\0') => Err(format!("{what} contains a NUL character")),
        _ => Ok(()),
    }
}

fn number(what: &str, value: u64) -> Result<(), String> {
    if value > SAFE_MAX { Err(format!("{what} is not below 2^53")) } else { Ok(()) }
}
