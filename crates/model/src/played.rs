//! A played game, as a worker reports it and the store keeps it.

use spelrum_engine::{ENGINE_REVISION, GameRecord, MARGIN_MAX, MoveRecord, MoveValue, Remarks};

use crate::engines::{ENGINE_NAME_BYTES_MAX, EngineIdentity, FORFEIT_OUTPUT_BYTES_MAX, Forfeit};
use crate::game::DerivedGame;
use crate::ids::GameId;
use crate::speed::ScaledTime;

/// The greatest number in a result: 2^53 - 1, so that it is exact in JSON, JavaScript and a double.
const NUMBER_MAX: u64 = (1 << 53) - 1;
/// The longest move, in bytes.
const MOVE_BYTES_MAX: usize = 64;
/// The longest opening, in bytes.
const OPENING_BYTES_MAX: usize = 4096;
/// The longest game, in plies.
const PLIES_MAX: usize = 100_000;

/// Most moves with values.
const VALUES_MAX: usize = 100_000;

/// A game's record with its identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedGame {
    /// The game's id.
    pub game: GameId,
    /// The engine that played it.
    pub engine_revision: u32,
    /// Its starting position, in the game's notation.
    pub opening: String,
    /// The record of its moves.
    pub record: GameRecord,
    /// [`GameRecord::moves_hash`], as reported.
    pub moves_hash: u64,
    /// For a choice: the value of each legal move of the opening by the cell's reference, in canonical order. Empty for
    /// a game.
    pub values: Vec<MoveValue>,
    /// The external engines that played: the side that moved first from the opening, then the other. `None` for
    /// built-in players.
    pub engines: [Option<EngineIdentity>; 2],
    /// The fault by which an external engine lost the game, if any.
    pub forfeit: Option<Forfeit>,
    /// The scaling of its players' time limits; `None` if unscaled.
    pub scaled: Option<ScaledTime>,
    /// The start by its worker's clock, in microseconds of Unix time: for people only.
    pub started_unix_us: i64,
}

impl PlayedGame {
    /// Creates a game played by built-in players.
    #[must_use]
    pub fn new(
        game: GameId,
        derived: &DerivedGame,
        record: GameRecord,
        started_unix_us: i64,
    ) -> Self {
        Self {
            game,
            engine_revision: ENGINE_REVISION,
            opening: derived.opening.to_string(),
            moves_hash: record.moves_hash(),
            values: Vec::new(),
            engines: [None, None],
            forfeit: None,
            scaled: None,
            record,
            started_unix_us,
        }
    }

    /// Adds the values of the opening's moves.
    #[must_use]
    pub fn with_values(self, values: Vec<MoveValue>) -> Self {
        Self { values, ..self }
    }

    /// Adds the external engines, and the fault by which one of them lost.
    #[must_use]
    pub fn with_engines(
        self,
        engines: [Option<EngineIdentity>; 2],
        forfeit: Option<Forfeit>,
    ) -> Self {
        Self { engines, forfeit, ..self }
    }

    /// Adds the scaling of time limits.
    #[must_use]
    pub fn with_scaled(self, scaled: Option<ScaledTime>) -> Self {
        Self { scaled, ..self }
    }

    /// Checks that a store can keep the game and readers find valid data. A worker of another release must not be able
    /// to fail a transaction that holds other workers' results.
    ///
    /// # Errors
    /// The problem, in words.
    pub fn check(&self) -> Result<(), String> {
        text("its opening", &self.opening, OPENING_BYTES_MAX)?;
        number("its number", self.game.number)?;
        number("its moves_hash", self.moves_hash)?;
        number("its wall_us", self.record.wall_us)?;
        number("its started_unix_us", self.started_unix_us.unsigned_abs())?;
        if let Some(margin) = self.record.margin
            && margin.unsigned_abs() > MARGIN_MAX.unsigned_abs()
        {
            return Err(format!("its margin is {margin}"));
        }
        if self.values.len() > VALUES_MAX {
            return Err(format!("it has values of {} moves", self.values.len()));
        }
        self.values.iter().try_for_each(check_value)?;
        self.engines.iter().flatten().try_for_each(check_engine)?;
        if let Some(ScaledTime { factor_permille, nodes_per_second }) = self.scaled {
            number("the speed of its worker", nodes_per_second)?;
            if factor_permille == 0 {
                return Err("its time limits are scaled to nothing".to_owned());
            }
        }
        if let Some(Forfeit { message, output }) = &self.forfeit {
            text("the message of its forfeit", message, FORFEIT_OUTPUT_BYTES_MAX)?;
            within("what was said before its forfeit", output, FORFEIT_OUTPUT_BYTES_MAX)?;
        }
        if self.record.moves.len() > PLIES_MAX {
            return Err(format!("it has {} moves", self.record.moves.len()));
        }
        self.record.moves.iter().try_for_each(check_move)
    }
}

fn check_engine(EngineIdentity { name, author, sha256: _ }: &EngineIdentity) -> Result<(), String> {
    within("an engine's name", name, ENGINE_NAME_BYTES_MAX)?;
    within("an engine's author", author, ENGINE_NAME_BYTES_MAX)
}

fn check_value(MoveValue { mv, value }: &MoveValue) -> Result<(), String> {
    text("a move of known value", mv, MOVE_BYTES_MAX)?;
    number("the value of a move, without its sign,", value.unsigned_abs())
}

fn check_move(mv: &MoveRecord) -> Result<(), String> {
    if mv.mover > 1 {
        return Err(format!("a move has mover {}", mv.mover));
    }
    text("a move", &mv.mv, MOVE_BYTES_MAX)?;
    if let Some(problem) = mv.remarks.as_deref().and_then(Remarks::problem) {
        return Err(problem.to_owned());
    }
    number("a move's position_key", mv.position_key)?;
    number("a move's nodes", mv.search.nodes)?;
    number("a move's evaluations", mv.search.evaluations)?;
    number("a move's full_tree_leaves", mv.search.full_tree_leaves)?;
    number("the time that a player says a move took", mv.search.told_us.unwrap_or(0))?;
    number("a move's wall_us", mv.wall_us)?;
    number("a move's cpu_us", mv.cpu_us)?;
    number("a move's involuntary_switches", mv.involuntary_switches.unwrap_or(0))
}

fn text(field: &str, value: &str, bytes_max: usize) -> Result<(), String> {
    if value.is_empty() {
        Err(format!("{field} is empty"))
    } else {
        within(field, value, bytes_max)
    }
}

/// Checks a text that may be empty.
fn within(field: &str, value: &str, bytes_max: usize) -> Result<(), String> {
    match value.len() {
        length if length > bytes_max => Err(format!("{field} has {length} bytes")),
        // A database of C strings would end the text there.
        _ if value.contains('\0') => Err(format!("{field} contains a NUL character")),
        _ => Ok(()),
    }
}

fn number(field: &str, value: u64) -> Result<(), String> {
    if value > NUMBER_MAX { Err(format!("{field} is not below 2^53")) } else { Ok(()) }
}
