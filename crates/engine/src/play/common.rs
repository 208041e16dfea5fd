//! One position type for many games, so that searches are compiled once for all of them.
//!
//! A search compiled for a game's own type saves a branch at each call, and costs the program's size and the time of
//! its build, for each of the game's evaluations anew. A game whose line in [`with_game!`] says `shared` takes part in
//! [`CommonPosition`] instead: its position, moves and evaluations are those of its own type behind one `match`, so
//! that games come out move for move and node for node as they would otherwise. Playouts, which run inside the game,
//! lose nothing. Such a game has no history rules and no tactics.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::core::budget::Budget;
use crate::core::knowledge::{Knowledge, Sifted};
use crate::core::limits::{NoMove, Stop};
use crate::core::parameters::{AlgorithmInfo, Settings};
use crate::core::position::{Ending, Line, Position, Side, SideName};
use crate::core::problem::Problem;
use crate::core::rng::{PlayoutRandom, Random};
use crate::core::solver::{Optimal, Solvable, Solver};
use crate::evaluation::{Evaluate, GameEvaluation, LastPly};
use crate::games::{self, game::Game};
use crate::search::algorithm::Maker;
use crate::search::reference::Reference;
use crate::search::{Found, Search, registry};
use crate::with_game;

/// The way to a registered game's searches.
pub(super) trait Searched: Game {
    /// The factory of an algorithm's searches with an evaluation of the game.
    fn maker<E: GameEvaluation<Self>>(
        info: &AlgorithmInfo,
        settings: &Settings,
        evaluation: E,
    ) -> Maker<Self> {
        registry::maker(info, settings, evaluation)
    }
}

/// A game that takes part in [`CommonPosition`].
trait Shared: Game {
    fn pack(self) -> CommonPosition;

    fn unpack(position: &CommonPosition) -> &Self;

    fn pack_move(mv: Self::Move) -> CommonMove;

    fn unpack_move(mv: CommonMove) -> Self::Move;

    fn pack_orientation(orientation: Self::Orientation) -> CommonOrientation;

    fn solver(common: &mut CommonSolver) -> &mut Self::Solver;

    /// Works with an empty list of moves, whose memory this thread keeps for the next call.
    fn with_moves<R>(work: impl FnOnce(&mut Vec<Self::Move>) -> R) -> R;
}

const MIXED: &str = "positions and moves of one search are of one game";

/// Writes the types and the ways between them and the games, which it first sorts by the word before each.
macro_rules! define_common {
    (() [$($own:ident)*] [$($shared:ident)*] own $game:ident, $($rest:tt)*) => {
        define_common! { () [$($own)* $game] [$($shared)*] $($rest)* }
    };
    (() [$($own:ident)*] [$($shared:ident)*] shared $game:ident, $($rest:tt)*) => {
        define_common! { () [$($own)*] [$($shared)* $game] $($rest)* }
    };
    (() [$($own:ident)*] [$($game:ident)*]) => {
        $(impl Searched for games::$own {})*

        /// A position of any game that shares its searches.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        enum CommonPosition {
            $($game(games::$game),)*
        }

        /// A move in any of them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        enum CommonMove {
            $($game(<games::$game as Position>::Move),)*
        }

        /// A symmetry of any of them, by default the identity.
        #[derive(Clone, Copy, Default)]
        enum CommonOrientation {
            #[default]
            Identity,
            $($game(<games::$game as Knowledge>::Orientation),)*
        }

        /// The solver of the game that was solved last.
        #[derive(Debug, Default)]
        enum CommonSolver {
            #[default]
            Unused,
            $($game(<games::$game as Solvable>::Solver),)*
        }

        $(
            const _: () = assert!(
                !games::$game::HISTORY_MATTERS && !games::$game::HAS_TACTICS,
                "a game with history rules or tactics has searches of its own"
            );

            impl Searched for games::$game {
                fn maker<E: GameEvaluation<Self>>(
                    info: &AlgorithmInfo,
                    settings: &Settings,
                    evaluation: E,
                ) -> Maker<Self> {
                    common_maker(info, settings, evaluation)
                }
            }

            impl Shared for games::$game {
                fn pack(self) -> CommonPosition {
                    CommonPosition::$game(self)
                }

                #[inline]
                fn unpack(position: &CommonPosition) -> &Self {
                    let CommonPosition::$game(position) = position else { panic!("{MIXED}") };
                    position
                }

                #[inline]
                fn pack_move(mv: Self::Move) -> CommonMove {
                    CommonMove::$game(mv)
                }

                #[inline]
                fn unpack_move(mv: CommonMove) -> Self::Move {
                    let CommonMove::$game(mv) = mv else { panic!("{MIXED}") };
                    mv
                }

                fn pack_orientation(orientation: Self::Orientation) -> CommonOrientation {
                    CommonOrientation::$game(orientation)
                }

                fn solver(common: &mut CommonSolver) -> &mut Self::Solver {
                    if !matches!(common, CommonSolver::$game(_)) {
                        *common = CommonSolver::$game(Self::Solver::default());
                    }
                    let CommonSolver::$game(solver) = common else { unreachable!("it was made") };
                    solver
                }

                fn with_moves<R>(work: impl FnOnce(&mut Vec<Self::Move>) -> R) -> R {
                    thread_local! {
                        static MOVES: Cell<Vec<<games::$game as Position>::Move>> =
                            const { Cell::new(Vec::new()) };
                    }
                    let mut moves = MOVES.take();
                    moves.clear();
                    let result = work(&mut moves);
                    MOVES.set(moves);
                    result
                }
            }
        )*

        impl CommonOrientation {
            fn oriented(self, code: u16) -> u16 {
                match self {
                    Self::Identity => code,
                    $(Self::$game(orientation) => games::$game::oriented(code, orientation),)*
                }
            }

            fn restored(self, code: u16) -> u16 {
                match self {
                    Self::Identity => code,
                    $(Self::$game(orientation) => games::$game::restored(code, orientation),)*
                }
            }
        }

        impl CommonMove {
            /// An upper bound (exclusive) of codes in any of the games.
            const CODES: usize = {
                let mut greatest = 0;
                $(if games::$game::MOVE_CODES > greatest {
                    greatest = games::$game::MOVE_CODES;
                })*
                greatest
            };

            #[inline]
            fn code(self) -> u16 {
                match self {
                    $(Self::$game(mv) => games::$game::move_code(mv),)*
                }
            }
        }

        impl fmt::Display for CommonMove {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$game(mv) => fmt::Display::fmt(mv, f),)*
                }
            }
        }
    };
}

with_game!(searches => define_common! {});

const _: () =
    assert!(size_of::<CommonMove>() <= 4, "a move of a shared game has at most three bytes");

/// Evaluates an expression for the position of the game's own type.
macro_rules! for_game {
    ($common:expr, $position:ident => $body:expr) => {
        with_game!(searches => match_shared! { $common, $position, $body })
    };
}

/// Writes [`for_game!`]'s match, after it has sorted the games like [`define_common!`].
macro_rules! match_shared {
    (($($arguments:tt)*) [] [$($shared:ident)*] own $game:ident, $($rest:tt)*) => {
        match_shared! { ($($arguments)*) [] [$($shared)*] $($rest)* }
    };
    (($($arguments:tt)*) [] [$($shared:ident)*] shared $game:ident, $($rest:tt)*) => {
        match_shared! { ($($arguments)*) [] [$($shared)* $game] $($rest)* }
    };
    (($common:expr, $position:ident, $body:expr) [] [$($game:ident)*]) => {
        match $common {
            $(CommonPosition::$game($position) => $body,)*
        }
    };
}

impl fmt::Display for CommonPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for_game!(self, position => fmt::Display::fmt(position, f))
    }
}

impl Position for CommonPosition {
    type Move = CommonMove;

    /// No search needs them.
    const SIDES: [SideName; 2] =
        [SideName { word: "first", letter: '1' }, SideName { word: "second", letter: '2' }];

    const HISTORY_MATTERS: bool = false;

    fn to_move(&self) -> Side {
        for_game!(self, position => position.to_move())
    }

    fn ending(&self) -> Option<Ending> {
        for_game!(self, position => position.ending())
    }

    fn is_over(&self) -> bool {
        for_game!(self, position => position.is_over())
    }

    fn legal_moves(&self, moves: &mut Vec<CommonMove>) {
        for_game!(self, position => append(position, moves, |typed| position.legal_moves(typed)));
    }

    fn legal_move_count(&self) -> u32 {
        for_game!(self, position => position.legal_move_count())
    }

    fn nth_legal_move(&self, index: u32) -> CommonMove {
        for_game!(self, position => pack_move(position, position.nth_legal_move(index)))
    }

    fn pick_move(&self, pick: impl FnOnce(u32) -> u32) -> (u32, CommonMove) {
        for_game!(self, position => {
            let (legal_moves, mv) = position.pick_move(pick);
            (legal_moves, pack_move(position, mv))
        })
    }

    fn winning_move(&self) -> Option<CommonMove> {
        for_game!(self, position => position.winning_move().map(|mv| pack_move(position, mv)))
    }

    fn play_randomly(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        for_game!(self, position => position.play_randomly(random, plies_max))
    }

    fn play_decisively(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        for_game!(self, position => position.play_decisively(random, plies_max))
    }

    fn is_legal(&self, mv: CommonMove) -> bool {
        for_game!(self, position => position.is_legal(unpack_move(position, mv)))
    }

    fn play_unchecked(&mut self, mv: CommonMove) {
        for_game!(self, position => position.play_unchecked(unpack_move(position, mv)));
    }

    fn canonical_key(&self) -> u64 {
        for_game!(self, position => position.canonical_key())
    }

    fn is_after_irreversible_move(&self) -> bool {
        for_game!(self, position => position.is_after_irreversible_move())
    }

    fn margin(&self) -> Option<i32> {
        for_game!(self, position => position.margin())
    }

    fn full_tree_leaves(&self, depth: u32) -> Option<u64> {
        for_game!(self, position => position.full_tree_leaves(depth))
    }

    fn status(&self) -> String {
        for_game!(self, position => position.status())
    }

    fn board(&self) -> String {
        for_game!(self, position => position.board())
    }

    fn parse_move(&self, text: &str) -> Result<CommonMove, Problem> {
        for_game!(self, position => position.parse_move(text).map(|mv| pack_move(position, mv)))
    }
}

impl Knowledge for CommonPosition {
    const MOVE_CODES: usize = CommonMove::CODES;

    type Orientation = CommonOrientation;

    fn move_code(mv: CommonMove) -> u16 {
        mv.code()
    }

    fn table_key(&self) -> u64 {
        for_game!(self, position => position.table_key())
    }

    fn symmetric_table_key(&self) -> u64 {
        for_game!(self, position => position.symmetric_table_key())
    }

    fn reduced_key(&self) -> (u64, CommonOrientation) {
        for_game!(self, position => reduced_key(position))
    }

    fn oriented(code: u16, orientation: CommonOrientation) -> u16 {
        orientation.oriented(code)
    }

    fn restored(code: u16, orientation: CommonOrientation) -> u16 {
        orientation.restored(code)
    }

    fn distinct_moves(&self, moves: &mut Vec<CommonMove>) {
        for_game!(self, position => append(position, moves, |typed| position.distinct_moves(typed)));
    }

    fn can_win_at_once(&self) -> bool {
        for_game!(self, position => position.can_win_at_once())
    }

    fn remove_losing(&self, moves: &mut Vec<CommonMove>, first: usize) -> Sifted {
        for_game!(self, position => remove_losing(position, moves, first))
    }

    fn plies_to_win(&self) -> [u32; 2] {
        for_game!(self, position => position.plies_to_win())
    }

    fn move_kind(&self, mv: CommonMove) -> u8 {
        for_game!(self, position => position.move_kind(unpack_move(position, mv)))
    }

    fn plies_left(&self) -> u32 {
        for_game!(self, position => position.plies_left())
    }
}

/// Appends the moves that `list` appends to a list of the game's own moves.
fn append<G: Shared>(_: &G, moves: &mut Vec<CommonMove>, list: impl FnOnce(&mut Vec<G::Move>)) {
    G::with_moves(|typed| {
        list(typed);
        moves.extend(typed.iter().map(|&mv| G::pack_move(mv)));
    });
}

fn pack_move<G: Shared>(_: &G, mv: G::Move) -> CommonMove {
    G::pack_move(mv)
}

fn unpack_move<G: Shared>(_: &G, mv: CommonMove) -> G::Move {
    G::unpack_move(mv)
}

fn reduced_key<G: Shared>(position: &G) -> (u64, CommonOrientation) {
    let (key, orientation) = position.reduced_key();
    (key, G::pack_orientation(orientation))
}

fn remove_losing<G: Shared>(position: &G, moves: &mut Vec<CommonMove>, first: usize) -> Sifted {
    G::with_moves(|typed| {
        typed.extend(moves[first..].iter().map(|&mv| G::unpack_move(mv)));
        let sifted = position.remove_losing(typed, 0);
        moves.truncate(first);
        moves.extend(typed.iter().map(|&mv| G::pack_move(mv)));
        sifted
    })
}

impl Solvable for CommonPosition {
    type Solver = CommonSolver;
}

impl Solver<CommonPosition> for CommonSolver {
    fn value(&mut self, position: &CommonPosition, budget: &mut Budget<'_>) -> Result<i32, Stop> {
        for_game!(position, position => solver_of(position, self).value(position, budget))
    }

    fn optimal_moves(
        &mut self,
        position: &CommonPosition,
        budget: &mut Budget<'_>,
        moves: &mut Vec<CommonMove>,
    ) -> Result<i32, Stop> {
        for_game!(position, position => {
            let mut typed = Vec::new();
            let value = solver_of(position, self).optimal_moves(position, budget, &mut typed)?;
            replace(position, moves, typed);
            Ok(value)
        })
    }

    fn some_optimal_moves(
        &mut self,
        position: &CommonPosition,
        budget: &mut Budget<'_>,
        moves: &mut Vec<CommonMove>,
    ) -> Result<Optimal, Stop> {
        for_game!(position, position => {
            let mut typed = Vec::new();
            let found = solver_of(position, self).some_optimal_moves(position, budget, &mut typed)?;
            replace(position, moves, typed);
            Ok(found)
        })
    }

    fn move_values(
        &mut self,
        position: &CommonPosition,
        budget: &mut Budget<'_>,
        values: &mut Vec<(CommonMove, i32)>,
    ) -> Result<(), Stop> {
        for_game!(position, position => {
            let mut typed = Vec::new();
            solver_of(position, self).move_values(position, budget, &mut typed)?;
            values.clear();
            values.extend(typed.into_iter().map(|(mv, value)| (pack_move(position, mv), value)));
            Ok(())
        })
    }

    fn lists_all_moves_soon(&self, position: &CommonPosition) -> bool {
        for_game!(position, position => lists_all_moves_soon(position))
    }
}

fn solver_of<'a, G: Shared>(_: &G, common: &'a mut CommonSolver) -> &'a mut G::Solver {
    G::solver(common)
}

fn replace<G: Shared>(_: &G, moves: &mut Vec<CommonMove>, typed: Vec<G::Move>) {
    moves.clear();
    moves.extend(typed.into_iter().map(G::pack_move));
}

/// As a new solver of the game says, since it depends on the position alone.
fn lists_all_moves_soon<G: Shared>(position: &G) -> bool {
    G::Solver::default().lists_all_moves_soon(position)
}

/// An evaluation of any of the games, for which the searches are compiled.
#[derive(Clone)]
struct CommonEvaluation(Arc<dyn Evaluate<CommonPosition> + Sync>);

/// An evaluation of one game.
struct Unpacked<G, E> {
    evaluation: E,
    game: PhantomData<fn(&G)>,
}

impl<G: Shared, E: Evaluate<G>> Evaluate<CommonPosition> for Unpacked<G, E> {
    fn evaluate(&self, position: &CommonPosition) -> i32 {
        self.evaluation.evaluate(G::unpack(position))
    }

    fn is_symmetric(&self) -> bool {
        self.evaluation.is_symmetric()
    }

    fn is_antisymmetric(&self) -> bool {
        self.evaluation.is_antisymmetric()
    }

    fn last_ply(
        &self,
        position: &CommonPosition,
        last_ply: LastPly,
        budget: &mut Budget<'_>,
    ) -> Option<Result<i32, Stop>> {
        self.evaluation.last_ply(G::unpack(position), last_ply, budget)
    }
}

impl Evaluate<CommonPosition> for CommonEvaluation {
    fn evaluate(&self, position: &CommonPosition) -> i32 {
        self.0.evaluate(position)
    }

    fn is_symmetric(&self) -> bool {
        self.0.is_symmetric()
    }

    fn is_antisymmetric(&self) -> bool {
        self.0.is_antisymmetric()
    }

    fn last_ply(
        &self,
        position: &CommonPosition,
        last_ply: LastPly,
        budget: &mut Budget<'_>,
    ) -> Option<Result<i32, Stop>> {
        self.0.last_ply(position, last_ply, budget)
    }
}

/// The factory of a game's searches, which are those of [`CommonPosition`].
fn common_maker<G: Shared, E: GameEvaluation<G>>(
    info: &AlgorithmInfo,
    settings: &Settings,
    evaluation: E,
) -> Maker<G> {
    let evaluation = CommonEvaluation(Arc::new(Unpacked { evaluation, game: PhantomData }));
    let common = Arc::new(maker_of_all(info, settings, evaluation));
    let for_reference = common.clone();
    let maker = Maker::new(move || Box::new(Packed(common.make())));
    if for_reference.has_reference() {
        maker.with_reference(move || {
            let reference = for_reference.make_reference().expect("one that has a reference");
            Box::new(Packed(reference))
        })
    } else {
        maker
    }
}

/// The only place where searches are compiled for all these games.
fn maker_of_all(
    info: &AlgorithmInfo,
    settings: &Settings,
    evaluation: CommonEvaluation,
) -> Maker<CommonPosition> {
    registry::maker(info, settings, evaluation)
}

/// A search or a reference of [`CommonPosition`], as one of a game.
struct Packed<S: ?Sized>(Box<S>);

impl<G: Shared> Search<G> for Packed<dyn Search<CommonPosition>> {
    fn search(
        &mut self,
        line: Line<'_, G>,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Found<G::Move>, NoMove> {
        let position = line.position.clone().pack();
        // The moves before are for rules that these games do not have.
        let found = self.0.search(Line::from_start(&position), budget, random)?;
        let Found { mv, depth, score, ended_by } = found;
        Ok(Found { mv: G::unpack_move(mv), depth, score, ended_by })
    }
}

impl<G: Shared> Reference<G> for Packed<dyn Reference<CommonPosition>> {
    fn move_values(
        &mut self,
        position: &G,
        budget: &mut Budget<'_>,
        values: &mut Vec<(G::Move, i32)>,
    ) -> Result<(), Stop> {
        let mut packed = Vec::new();
        self.0.move_values(&position.clone().pack(), budget, &mut packed)?;
        values.clear();
        values.extend(packed.into_iter().map(|(mv, value)| (G::unpack_move(mv), value)));
        Ok(())
    }
}
