//! Seats at the board: a seat gets the game so far and answers with a move or a fault.

use std::time::Duration;

use crate::core::budget::Budget;
use crate::core::host::Host;
use crate::core::limits::{Limits, MemoryRefused, NoMove};
use crate::core::parameters::ClockRule;
use crate::core::position::{Line, Side};
use crate::core::rng::Random;
use crate::core::rules::Rules;
use crate::core::stack;
use crate::core::termination::Termination;
use crate::core::time_management::time_for_move_us;
use crate::games::game::Game;
use crate::play::notation::parse_legal_move;
use crate::play::player::Player;
use crate::play::records::{MoveRecord, Remarks, SearchReport};
use crate::search::Search;

/// One side of one game.
pub trait Seat<G: Game> {
    /// Chooses a move in a position that is not over.
    ///
    /// # Errors
    /// If it has no move: see [`Fault`].
    fn choose(&mut self, turn: &Turn<'_, G>, host: &dyn Host) -> Result<Answer<G::Move>, Fault>;

    /// The wall time of its last move beyond which the arbiter declares the game lost; `None` if the seat may be
    /// late, as built-in searches without a clock are by a few microseconds, which are recorded.
    fn forfeits_after(&self) -> Option<Duration> {
        None
    }

    /// Whether it thinks on the calling thread. Interruptions and processor time of that thread mean nothing for
    /// a seat that thinks elsewhere.
    fn thinks_here(&self) -> bool {
        true
    }

    /// The duration of its last move, if the seat knows it more precisely than the arbiter, whose measure
    /// includes work before and after.
    fn measured_time(&self) -> Option<Duration> {
        None
    }

    /// The processor time of its last move, for a seat that thinks elsewhere; `None` if it is not known.
    fn measured_cpu_time(&self) -> Option<Duration> {
        None
    }

    /// Remarks on the last move, from a seat that thinks elsewhere.
    fn remarks(&mut self) -> Option<Box<Remarks>> {
        None
    }
}

/// The input of a seat.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a, G: Game> {
    /// The game and its rules.
    pub rules: &'a Rules,
    /// The opening position, in the game's notation.
    pub opening: &'a str,
    /// The position to move in, with the moves and keys before it.
    pub line: Line<'a, G>,
    /// The records of those moves.
    pub moves: &'a [MoveRecord],
    /// The seat that moves, as in these records: 0 if it moved first from the opening, 1 for the other.
    pub mover: u8,
}

/// A seat's move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<M> {
    /// The move.
    pub mv: M,
    /// How it was found.
    pub search: SearchReport,
}

/// The reason for which a seat has no move. All but [`Fault::Aborted`] and [`Fault::Memory`] lose
/// the game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The answer is not a legal move.
    #[error("an illegal move: {0}")]
    IllegalMove(String),
    /// The player failed and cannot go on.
    #[error("the player failed: {0}")]
    Crash(String),
    /// The player used up its time.
    #[error("out of time: {0}")]
    OutOfTime(String),
    /// The player did not answer within any allowed wait.
    #[error("no answer: {0}")]
    Stall(String),
    /// The player resigned.
    #[error("the player gave up: {0}")]
    Resignation(String),
    /// The system refused memory that a built-in player needs: the game has no result.
    #[error("{}; {}", .0, .0.remedy())]
    Memory(MemoryRefused),
    /// The host stopped the game: neither player is at fault.
    #[error("the game was aborted")]
    Aborted,
}

impl Fault {
    /// The fault that leads to this termination; [`Fault::Aborted`] if none does.
    #[must_use]
    pub fn of_termination(termination: Termination) -> Self {
        let nothing = String::new();
        let faults = [
            (Termination::ILLEGAL_MOVE, Self::IllegalMove as fn(String) -> Self),
            (Termination::CRASH, Self::Crash),
            (Termination::TIME_FORFEIT, Self::OutOfTime),
            (Termination::STALL, Self::Stall),
            (Termination::RESIGNATION, Self::Resignation),
        ];
        let fault = faults.into_iter().find(|(ends, _)| *ends == termination);
        fault.map_or(Self::Aborted, |(_, fault)| fault(nothing))
    }
}

/// A built-in player. Its search keeps its memory from move to move.
pub(crate) struct SearchSeat<'a, G: Game> {
    search: Box<dyn Search<G>>,
    limits: Limits,
    clock: Option<ClockRule>,
    margin: Duration,
    is_timed: bool,
    /// The time that its clock and its margin leave for the current move.
    allowed: Option<Duration>,
    random: Random,
    /// For a replay, the node count at which the clock stopped the search of each recorded ply.
    stops: Option<&'a [Option<u64>]>,
}

impl<'a, G: Game> SearchSeat<'a, G> {
    /// Makes the seat; `None` if the player was made for another game.
    pub(crate) fn new(
        player: &Player,
        key: [u8; 32],
        stops: Option<&'a [Option<u64>]>,
    ) -> Option<Self> {
        stack::assert_fits::<G>();
        let search = player.search::<G>()?;
        Some(Self {
            search,
            limits: *player.limits(),
            clock: player.clock(),
            margin: Duration::from_micros(player.margin_us()),
            is_timed: player.is_timed(),
            allowed: None,
            random: Random::from_key(key),
            stops,
        })
    }

    /// Chooses a move, with its clock as left by these times of its earlier moves. A single legal move is not
    /// searched.
    pub(crate) fn search(
        &mut self,
        line: Line<'_, G>,
        took_us: impl IntoIterator<Item = u64>,
        host: &dyn Host,
    ) -> Result<Answer<G::Move>, Fault> {
        let position = line.position;
        let mut limits = self.limits;
        if let Some(stops) = self.stops {
            if self.is_timed && line.before.len() >= stops.len() {
                return Err(Fault::OutOfTime("as recorded".to_owned()));
            }
        } else if let Some(clock) = self.clock {
            let left = clock.left(took_us);
            self.allowed = Some(Duration::from_micros(left.time_us) + self.margin);
            limits.move_time_us = Some(time_for_move_us(left, clock.increment_us));
        }
        if position.legal_move_count() == 1 {
            return Ok(Answer { mv: position.nth_legal_move(0), search: SearchReport::ONLY_MOVE });
        }
        // A game of players that do not search never checks a budget.
        if host.aborted() {
            return Err(Fault::Aborted);
        }
        let mut budget = match self.stops {
            None => Budget::new(&limits, host),
            // Invariant 3: the clock is not read again.
            Some(stops) => {
                let stop = stops.get(line.before.len()).copied().flatten();
                Budget::replay(&limits, host, stop)
            }
        };
        let found = match self.search.search(line, &mut budget, &mut self.random) {
            Ok(found) => found,
            Err(NoMove::Aborted) => return Err(Fault::Aborted),
            Err(NoMove::Memory(refused)) => return Err(Fault::Memory(refused)),
        };
        let search = SearchReport {
            depth: found.depth,
            nodes: budget.nodes(),
            evaluations: budget.evaluations(),
            full_tree_leaves: 0,
            score: found.score,
            ended_by: found.ended_by,
            told_us: None,
        };
        Ok(Answer { mv: found.mv, search })
    }
}

impl<G: Game> Seat<G> for SearchSeat<'_, G> {
    fn choose(&mut self, turn: &Turn<'_, G>, host: &dyn Host) -> Result<Answer<G::Move>, Fault> {
        let own = turn.moves.iter().filter(|record| record.mover == turn.mover);
        self.search(turn.line, own.map(|record| record.wall_us), host)
    }

    fn forfeits_after(&self) -> Option<Duration> {
        self.allowed
    }
}

/// A built-in player's seat in a typed game; `None` if it was made for another game.
#[must_use]
pub fn seat_of<G: Game>(player: &Player, key: [u8; 32]) -> Option<Box<dyn Seat<G>>> {
    Some(Box::new(SearchSeat::new(player, key, None)?))
}

/// A player outside the engine, independent of game types: another program, or a person. The
/// arbiter trusts nothing that it reports.
pub trait ExternalPlayer {
    /// Chooses a move in a position that is not over.
    ///
    /// An implementation that waits must also check [`Host::aborted`] and its own time: the arbiter
    /// cannot interrupt it.
    ///
    /// # Errors
    /// If it has no move: see [`Fault`].
    fn choose(&mut self, turn: &TextTurn<'_>, host: &dyn Host) -> Result<Answer<String>, Fault>;

    /// As [`Seat::forfeits_after`].
    fn forfeits_after(&self) -> Option<Duration> {
        None
    }

    /// As [`Seat::measured_time`].
    fn measured_time(&self) -> Option<Duration> {
        None
    }

    /// As [`Seat::measured_cpu_time`].
    fn measured_cpu_time(&self) -> Option<Duration> {
        None
    }

    /// As [`Seat::remarks`].
    fn remarks(&mut self) -> Option<Box<Remarks>> {
        None
    }
}

/// The input of an [`ExternalPlayer`], in the game's notation.
#[derive(Clone, Copy, Debug)]
pub struct TextTurn<'a> {
    /// The game and its rules.
    pub rules: &'a Rules,
    /// The opening position.
    pub opening: &'a str,
    /// The moves played since, with their records.
    pub moves: &'a [MoveRecord],
    /// Whose turn it is.
    pub to_move: Side,
}

/// An external player's seat in a typed game.
pub(crate) struct ExternalSeat<'a>(pub(crate) &'a mut dyn ExternalPlayer);

impl<G: Game> Seat<G> for ExternalSeat<'_> {
    fn choose(&mut self, turn: &Turn<'_, G>, host: &dyn Host) -> Result<Answer<G::Move>, Fault> {
        let &Turn { rules, opening, line, moves, mover: _ } = turn;
        let to_move = line.position.to_move();
        let Answer { mv, search } =
            self.0.choose(&TextTurn { rules, opening, moves, to_move }, host)?;
        let mv = parse_legal_move(line.position, &mv)
            .map_err(|error| Fault::IllegalMove(error.to_string()))?;
        Ok(Answer { mv, search })
    }

    fn forfeits_after(&self) -> Option<Duration> {
        self.0.forfeits_after()
    }

    fn thinks_here(&self) -> bool {
        false
    }

    fn measured_time(&self) -> Option<Duration> {
        self.0.measured_time()
    }

    fn measured_cpu_time(&self) -> Option<Duration> {
        self.0.measured_cpu_time()
    }

    fn remarks(&mut self) -> Option<Box<Remarks>> {
        self.0.remarks()
    }
}
