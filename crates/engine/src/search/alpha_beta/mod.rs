//! Alpha-beta: minimax's value without the moves that cannot change it (Knuth & Moore 1975,
//! "An analysis of alpha-beta pruning"), fail-soft (Fishburn 1983), with the field's refinements,
//! each of which is a switch.
//!
//! To one fixed depth, or by iterative deepening: one ply deeper each time until a limit ends it,
//! the best move of an iteration tried first in the next.
//!
//! # What a search plays that a limit cuts off
//!
//! To a fixed depth: the best root move it has finished; the reported depth is 0, since none is complete. By
//! iterative deepening: the last completed iteration's move, unless the unfinished iteration has finished
//! that move (it is searched first) and then a better one. The reported depth is that of the completed
//! iteration, with the newest value of the move. If a table shows that the move loses to the next reply
//! (`threats`), another is played that does not, without a value.
//!
//! # Which of several best moves
//!
//! The first that was tried: a later one must be better. To a fixed depth and with `shuffle` alone each of
//! them is equally likely, since the order of the moves does not depend on their values. Where it does
//! (`iterative`, `order`, `combined`), use `ties = "random"`: moves then need only be as good, and each
//! completed iteration draws one of the best, which is tried first in the next. Of moves that `distinct`
//! joins, only one takes part. An unfinished iteration draws nothing.
//!
//! # Switches
//!
//! The table of parameters declares each as value-preserving (every combination of those returns
//! minimax's value at the same depth, and a move of that value), as depth-extending, or as
//! heuristic. `docs/engine.md` has their sources and their worth.
//!
//! # What is proven
//!
//! With any switches, a search reports a win or loss only if it is one (except by a table where history
//! matters). Iterative deepening ends with a win or loss no farther away than the depth: without heuristic
//! switches none is sooner. A win or loss beyond the horizon is played for, but searched further.

mod node;
mod ordering;
mod parameters;
mod place;
mod pruning;
mod quiescence;
mod ranking;
mod root_search;
mod selective;
mod transposition;

pub use parameters::Options;

use super::algorithm::{Algorithm, Maker, has_depth};
use super::handover::Handover;
use super::path::Path;
use super::{Budget, Evaluate, Found, NoMove, Search, Stop, root};
use crate::core::knowledge::Knowledge;
use crate::core::parameters::{AlgorithmInfo, Parameters, Settings, Value};
use crate::core::position::Line;
use crate::core::rng::Random;
use crate::core::score;
use crate::core::solver::Solvable;
use crate::evaluation::Evaluation;
use ordering::{Countermoves, History, Key, Killers};
use transposition::TranspositionTable;

/// Alpha-beta as an algorithm.
pub(crate) struct AlphaBetaPlay;

impl Algorithm for AlphaBetaPlay {
    const INFO: AlgorithmInfo = parameters::INFO;

    fn draws_random_numbers(settings: &Settings) -> bool {
        settings.switch("shuffle") || parameters::draws_ties(settings)
    }

    fn memory_bytes(parameters: &Parameters) -> u64 {
        parameters::memory_bytes(parameters)
    }

    fn has_full_tree(parameters: &Parameters) -> bool {
        let is_iterative = parameters.get("iterative") == Some(&Value::Bool(true));
        has_depth(parameters) && !is_iterative
    }

    fn maker<P: Solvable, E: Evaluation<P>>(settings: &Settings, evaluation: E) -> Maker<P> {
        let options = Options::from_settings(settings);
        match options.exact_plies {
            0 => Maker::new(move || Box::new(AlphaBeta::new(options, evaluation.clone()))),
            plies => Maker::new(move || {
                let search = AlphaBeta::new(options, evaluation.clone());
                Box::new(Handover::new(search, evaluation.clone(), plies, options.shuffle))
            }),
        }
    }
}

/// Alpha-beta with an evaluation.
#[derive(Debug)]
pub struct AlphaBeta<P: Knowledge, E> {
    options: Options,
    evaluation: E,
    /// Whether the evaluation is equal for positions equal up to symmetry.
    is_symmetric: bool,
    root_moves: Vec<P::Move>,
    /// The values of the root moves that an iteration has searched, in the order of the search.
    root_values: Vec<i32>,
    /// The best root moves of an iteration: all of them if ties are drawn.
    tied: Vec<P::Move>,
    /// Whether the remaining root moves are known not to lose to a reply.
    is_root_safe: bool,
    /// A stack of the moves of all positions from the root to here.
    moves: Vec<P::Move>,
    /// A stack of the orders in which moves are still to be searched.
    keys: Vec<Key>,
    /// Data kept from one move of a game to the next; made with the first search.
    table: Option<TranspositionTable>,
    killers: Killers,
    countermoves: Countermoves,
    history: History,
    /// The line from the start of the game to here.
    path: Path<P>,
    /// With `repetition`, the table keys of the positions from the root to here.
    line_keys: Vec<u64>,
    /// Current search depth in plies from the root.
    root_depth: u32,
    sight: root::Sight,
}

/// The scores that matter: from `beta` up the opponent avoids the position, and up to `alpha` the
/// side to move has an alternative.
#[derive(Clone, Copy, Debug)]
struct Window {
    alpha: i32,
    beta: i32,
}

impl Window {
    /// Every score. A root's value never exceeds a win with the next move.
    const WHOLE: Self = Self { alpha: score::WORST, beta: score::BEST };

    const fn for_opponent(self) -> Self {
        Self { alpha: -self.beta, beta: -self.alpha }
    }

    /// The narrowest window at its lower end: it tests whether a value exceeds `alpha`.
    const fn null(self) -> Self {
        Self { alpha: self.alpha, beta: self.alpha + 1 }
    }

    const fn is_null(self) -> bool {
        self.beta <= self.alpha + 1
    }
}

impl<P: Knowledge, E: Evaluate<P>> AlphaBeta<P, E> {
    /// A search with these options.
    #[must_use]
    pub fn new(options: Options, evaluation: E) -> Self {
        Self {
            is_symmetric: evaluation.is_symmetric(),
            options,
            evaluation,
            root_moves: Vec::new(),
            root_values: Vec::new(),
            tied: Vec::new(),
            is_root_safe: false,
            moves: Vec::new(),
            keys: Vec::new(),
            table: None,
            killers: Killers::default(),
            countermoves: Countermoves::default(),
            history: History::new::<P>(options.history_malus),
            path: Path::new(),
            line_keys: Vec::new(),
            root_depth: 0,
            sight: root::Sight::default(),
        }
    }

    /// The value of a position that is not over, for its side to move, to the depth in the options, without
    /// their table.
    ///
    /// # Errors
    /// If a limit or the host stops it; the value is then unknown.
    pub(super) fn value_of(&mut self, position: &P, budget: &mut Budget<'_>) -> Result<i32, Stop> {
        self.root_moves.clear();
        position.legal_moves(&mut self.root_moves);
        self.begin(Line::from_start(position));
        self.value_of_root(position, budget)
    }

    fn begin(&mut self, line: Line<'_, P>) {
        self.moves.clear();
        self.keys.clear();
        self.path.begin(line);
        self.line_keys.clear();
        self.killers.clear();
        if self.options.countermoves {
            self.countermoves.clear(P::MOVE_CODES);
        }
        self.history.fade();
    }
}

impl<P: Knowledge, E: Evaluate<P>> Search<P> for AlphaBeta<P, E> {
    fn search(
        &mut self,
        line: Line<'_, P>,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Found<P::Move>, NoMove> {
        let root = line.position;
        root::list_moves(root, self.options.shuffle, random, &mut self.root_moves);
        self.begin(line);
        if let Some(mebibytes) = self.options.table_mib {
            let table = match self.table.take() {
                Some(table) => table,
                None => TranspositionTable::new(mebibytes)?,
            };
            self.table.insert(table).begin_search();
        }
        self.search_root(root, random, budget)
    }
}
