//! Tables made once a process, and lookups of positions.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use cozy_chess::Piece;

use super::endgame::has_castle_rights;
use super::{Endgame, EndgameTable, Metric, TableValue};
use crate::core::position::{Ending, Position};
use crate::core::termination::Termination;
use crate::games::chess::CLOCK_MAX;
use crate::games::{Chess, ChessMove};

type Source = fn(&Endgame, Metric) -> EndgameTable;

static SOURCE: OnceLock<Source> = OnceLock::new();

/// By the endgame's name and the metric. By each there are 55 with four pieces: 36 without pawns, which take 137 MB together, and 19
/// with pawns, 281 MB (invariant 9).
static SHARED: RwLock<BTreeMap<(String, Metric), Slot>> = RwLock::new(BTreeMap::new());

/// Filled by the first caller, while others wait.
type Slot = Arc<OnceLock<Arc<EndgameTable>>>;

/// The endgame's table, made at the first call in this process. Calls during its making wait.
///
/// A table is a pure function of its endgame, so caching changes no result.
///
/// # Panics
/// If the installed source returns the table of another endgame.
#[must_use]
pub fn shared(endgame: &Endgame) -> Arc<EndgameTable> {
    shared_by(endgame, Metric::Mate)
}

/// The same with distances by a metric.
///
/// # Panics
/// As [`shared`].
#[must_use]
pub fn shared_by(endgame: &Endgame, metric: Metric) -> Arc<EndgameTable> {
    let key = (endgame.name().to_owned(), metric);
    let slot = {
        let known = SHARED.read().unwrap_or_else(PoisonError::into_inner);
        known.get(&key).cloned()
    };
    let slot = slot.unwrap_or_else(|| {
        let mut known = SHARED.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(key).or_default())
    });
    let table = slot.get_or_init(|| {
        let table = match SOURCE.get() {
            Some(source) => source(endgame, metric),
            None => EndgameTable::make_by(endgame, metric, |_| {}),
        };
        assert_eq!(
            (table.endgame(), table.metric()),
            (endgame, metric),
            "a source gives the table that it is asked for"
        );
        Arc::new(table)
    });
    Arc::clone(table)
}

/// Installs a source for tables that [`shared`] does not have yet, such as stored ones, instead of making
/// them. It must return the same tables as [`EndgameTable::make_by`]. Only the first source in a process counts;
/// returns whether it is this one.
pub fn install_source(source: fn(&Endgame, Metric) -> EndgameTable) -> bool {
    SOURCE.set(source).is_ok()
}

/// The value of a position by the shared table of its pieces; `None` if there is no table
/// ([`Endgame::from_position`]).
#[must_use]
pub fn value(position: &Chess) -> Option<TableValue> {
    value_by(position, Metric::Mate)
}

/// The same with distances by a metric.
#[must_use]
pub fn value_by(position: &Chess, metric: Metric) -> Option<TableValue> {
    shared_by(&Endgame::from_position(position)?, metric).value(position)
}

/// The value of a move for the mover: `child` is the position after it. By [`Metric::Conversion`] a capture or
/// promotion is the end, so that only its result counts.
#[must_use]
pub fn move_value(position: &Chess, child: &Chess, metric: Metric) -> Option<TableValue> {
    let pawns = |position: &Chess| position.cozy().pieces(Piece::Pawn).len();
    let men = |position: &Chess| position.cozy().occupied().len();
    let is_conversion = (men(position), pawns(position)) != (men(child), pawns(child));
    if metric == Metric::Mate || !is_conversion {
        return Some(value_by(child, metric)?.for_mover());
    }
    Some(match value(child)? {
        TableValue::Loss { .. } => TableValue::Win { plies: 1 },
        TableValue::Draw => TableValue::Draw,
        TableValue::Win { .. } => TableValue::Loss { plies: 2 },
    })
}

/// The same by a table that is already in memory; `None` also if it is not. It never takes long.
#[must_use]
pub fn known_value(position: &Chess) -> Option<TableValue> {
    let endgame = Endgame::from_position(position)?;
    let slot = {
        let known = SHARED.read().unwrap_or_else(PoisonError::into_inner);
        known.get(&(endgame.name().to_owned(), Metric::Mate)).cloned()?
    };
    slot.get()?.value(position)
}

/// The end of a game that has reached a position of a table without pawns, under best play by both; `None` in
/// other games and positions, and if the fifty-move rule may end the game before the table's mate.
///
/// A position with a pawn goes on: such games were played before there were tables of pawns, and must come out as
/// then.
///
/// Ignoring repetition changes nothing: this ends a game at its first position of a table, and no position
/// recurs on the way to mate.
#[must_use]
pub fn ending<P: Position>(position: &P) -> Option<Ending> {
    let position = (position as &dyn Any).downcast_ref::<Chess>()?;
    let endgame = Endgame::from_position(position).filter(|endgame| !endgame.has_pawns())?;
    let value = shared(&endgame).value(position)?;
    if !is_in_time(position, value) {
        return None;
    }
    let mover = position.to_move();
    let winner = match value {
        TableValue::Win { .. } => Some(mover),
        TableValue::Draw => None,
        TableValue::Loss { .. } => Some(mover.other()),
    };
    Some(Ending { winner, termination: Termination::TABLE })
}

/// A chess position as FEN, if it has at most this many pieces and no castling rights; `None` elsewhere.
pub(crate) fn syzygy_position<P: Position>(position: &P, pieces: u8) -> Option<String> {
    let position = (position as &dyn Any).downcast_ref::<Chess>()?;
    let board = position.cozy();
    let is_covered = board.occupied().len() <= pieces.into() && !has_castle_rights(board);
    is_covered.then(|| position.to_string())
}

/// Whether a mate comes before the fifty-move rule ends the game.
fn is_in_time(position: &Chess, value: TableValue) -> bool {
    let left = u32::from(CLOCK_MAX).saturating_sub(position.halfmove_clock());
    value.plies().is_none_or(|plies| plies <= left)
}

/// Every legal move in canonical order with its value for the mover, by the shared tables; `None`
/// if there is no table for the position. A finished game has no moves, also if the fifty-move
/// rule, which tables ignore, has ended it.
#[must_use]
pub fn move_values(position: &Chess) -> Option<Vec<(ChessMove, TableValue)>> {
    let table = shared(&Endgame::from_position(position)?);
    let mut moves = Vec::new();
    position.legal_moves(&mut moves);
    let worth = |mv: ChessMove| {
        let mut child = position.clone();
        child.play_unchecked(mv);
        // A capture leads to another table.
        let value = table.value(&child).or_else(|| value(&child))?;
        Some((mv, value.for_mover()))
    };
    moves.into_iter().map(worth).collect()
}

/// A position solved by its table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSolution {
    /// Its value for the side to move, with the plies to mate.
    pub value: TableValue,
    /// All moves that keep it, in canonical order: those that mate soonest, or delay mate longest, or all
    /// that draw. None if the game is over.
    pub best_moves: Vec<ChessMove>,
}

/// Solves a position by the shared tables; `None` if there is no table ([`Endgame::from_position`]), or if the
/// fifty-move rule may end the game before the table's mate.
///
/// ```
/// use spelrum_engine::games::Chess;
/// use spelrum_engine::tables::{self, TableValue};
/// use spelrum_engine::Game;
///
/// let position = Chess::parse(&Chess::rules(), "7k/8/5K2/8/8/8/8/R7 w - - 0 1")?;
/// let solution = tables::solve(&position).expect("it has three pieces");
/// assert_eq!(solution.value, TableValue::Win { plies: 3 });
/// let moves: Vec<String> = solution.best_moves.iter().map(ToString::to_string).collect();
/// assert_eq!(moves, ["f6g6", "f6f7"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn solve(position: &Chess) -> Option<TableSolution> {
    let value = value(position)?;
    let moves = move_values(position)?;
    let is_in_time = |value| is_in_time(position, value);
    if !is_in_time(value) || !moves.iter().all(|&(_, value)| is_in_time(value)) {
        return None;
    }
    let best_moves = moves
        .into_iter()
        .filter(|&(_, move_value)| move_value == value)
        .map(|(mv, _)| mv)
        .collect();
    Some(TableSolution { value, best_moves })
}
