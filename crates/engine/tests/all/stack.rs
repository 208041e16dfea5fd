//! Every search and solver, to its greatest depth in a longer game, on a thread with exactly
//! [`STACK_BYTES`] of stack. A stack overflow ends the process.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use spelrum_engine::Knowledge;
use spelrum_engine::search::alpha_beta::{AlphaBeta, Options};
use spelrum_engine::search::genetic::{GeneticMinimax, GeneticParameters};
use spelrum_engine::search::mcts::{Mcts, MctsParameters};
use spelrum_engine::search::minimax::{self, Minimax};
use spelrum_engine::search::{
    Budget, Evaluate, Found, Limits, PLIES_MAX, POSITION_BYTES_MAX, STACK_BYTES, Search, Stop,
};
use spelrum_engine::{
    EndedBy, Ending, Line, PlainSolver, Position, Problem, Random, Side, SideName, Solver,
    Termination, Timeless,
};

/// A corridor with a trapdoor in each of its rooms: a move goes on, or loses at once. The side that
/// would have to leave the last room has lost, too.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Corridor {
    room: u32,
    rooms: u32,
    is_over: bool,
    /// To make it as large as a position may be.
    walls: [u64; 30],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Way {
    On,
    Down,
}

impl Corridor {
    fn new(rooms: u32) -> Self {
        let corridor = Self { room: 0, rooms, is_over: false, walls: [7; 30] };
        assert_eq!(size_of_val(&corridor), POSITION_BYTES_MAX);
        corridor
    }
}

impl Position for Corridor {
    type Move = Way;

    const SIDES: [SideName; 2] =
        [SideName { word: "first", letter: 'f' }, SideName { word: "second", letter: 's' }];

    const HISTORY_MATTERS: bool = false;

    fn to_move(&self) -> Side {
        if self.room.is_multiple_of(2) { Side::First } else { Side::Second }
    }

    fn ending(&self) -> Option<Ending> {
        let termination = Termination::FULL_BOARD;
        if self.is_over {
            // Who fell has moved, and the turn is the other's.
            Some(Ending { winner: Some(self.to_move()), termination })
        } else {
            let winner = Some(self.to_move().other());
            (self.room == self.rooms).then_some(Ending { winner, termination })
        }
    }

    fn legal_moves(&self, moves: &mut Vec<Way>) {
        if !self.is_over() {
            moves.extend([Way::On, Way::Down]);
        }
    }

    fn legal_move_count(&self) -> u32 {
        if self.is_over() { 0 } else { 2 }
    }

    fn nth_legal_move(&self, index: u32) -> Way {
        [Way::On, Way::Down][index as usize]
    }

    fn is_legal(&self, _mv: Way) -> bool {
        !self.is_over()
    }

    fn play_unchecked(&mut self, mv: Way) {
        self.room += 1;
        self.is_over = mv == Way::Down;
    }

    fn canonical_key(&self) -> u64 {
        u64::from(self.room) << 1 | u64::from(self.is_over)
    }

    fn board(&self) -> String {
        self.to_string()
    }

    fn parse_move(&self, text: &str) -> Result<Way, Problem> {
        unreachable!("nobody types {text}")
    }
}

impl Knowledge for Corridor {
    const MOVE_CODES: usize = 2;
    type Orientation = ();

    fn table_key(&self) -> u64 {
        self.canonical_key()
    }

    fn move_code(mv: Way) -> u16 {
        mv as u16
    }

    fn plies_left(&self) -> u32 {
        self.rooms - self.room.min(self.rooms)
    }
}

impl fmt::Display for Corridor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "room {} of {}", self.room, self.rooms)
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// Remembers the last room that it has seen.
#[derive(Clone, Debug, Default)]
struct Lighting(Arc<AtomicU32>);

impl Evaluate<Corridor> for Lighting {
    fn is_symmetric(&self) -> bool {
        true
    }

    fn evaluate(&self, position: &Corridor) -> i32 {
        self.0.fetch_max(position.room, Ordering::Relaxed);
        position.room as i32 % 5 - 2
    }
}

const ROOMS: u32 = PLIES_MAX + 500;

/// Does it on a thread with as much stack as searches may rely on.
fn with_just_enough_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
    thread.unwrap().join().unwrap()
}

/// What it finds, and the last room that it has evaluated.
fn search<S: Search<Corridor> + 'static>(
    make: impl FnOnce(Lighting) -> S,
    limits: Limits,
) -> (Found<Way>, u32) {
    let lighting = Lighting::default();
    let mut search = make(lighting.clone());
    let found = with_just_enough_stack(move || {
        let mut budget = Budget::new(&limits, &Timeless);
        search
            .search(
                Line::from_start(&Corridor::new(ROOMS)),
                &mut budget,
                &mut Random::from_key([5; 32]),
            )
            .unwrap()
    });
    (found, lighting.0.load(Ordering::Relaxed))
}

#[test]
fn minimax_looks_as_deep_as_it_may() {
    let options = minimax::Options { depth: None, shuffle: false };
    let (found, last) = search(|lighting| Minimax::new(options, lighting), Limits::default());
    assert_eq!((found.mv, found.depth, last), (Way::On, PLIES_MAX, PLIES_MAX));
}

#[test]
fn alpha_beta_looks_as_deep_as_it_may() {
    let plain = Options::default();
    let full = Options {
        pvs: true,
        table_mib: Some(1),
        table_symmetry: true,
        killers: true,
        history: true,
        combined: true,
        distinct: true,
        threats: true,
        distance: true,
        last_ply: true,
        extension: true,
        ..plain
    };
    let every = [
        plain,
        Options { order: true, ..plain },
        Options { iterative: true, ..plain },
        full,
        Options { iterative: true, aspiration: 10, ..full },
        Options { table_mib: None, ..full },
    ];
    for options in every {
        let make = |lighting| AlphaBeta::new(options, lighting);
        let (found, last) = search(make, Limits::default());
        assert_eq!((found.mv, found.depth, last), (Way::On, PLIES_MAX, PLIES_MAX), "{options:?}");
    }
}

#[test]
fn genetic_minimax_looks_as_deep_as_it_may() {
    let tree = |parameters| GeneticParameters { max_tree_nodes: 1 << 16, ..parameters };
    let lines = tree(GeneticParameters::tuned(PLIES_MAX));
    let lines = GeneticParameters { generations: Some(20), ..lines };
    let leaves = GeneticParameters { line_plies: 1, ..lines };
    let strong = tree(GeneticParameters::strong(PLIES_MAX));
    let limits = Limits { nodes: Some(4_000_000), ..Limits::default() };
    // Lines that are drawn by lot fall long before the end, where nothing is evaluated.
    for (parameters, seen) in [(lines, 0), (leaves, PLIES_MAX), (strong, PLIES_MAX)] {
        let make = |lighting| GeneticMinimax::new(parameters, lighting);
        let (found, last) = search(make, limits);
        assert!(found.mv == Way::On && last >= seen, "{found:?} {last} {parameters:?}");
    }
}

#[test]
fn monte_carlo_tree_search_plays_as_far_as_it_may() {
    let parameters = MctsParameters { simulations: Some(5_000), ..MctsParameters::DEFAULT };
    let (found, _) = search(|lighting| Mcts::new(parameters, lighting), Limits::default());
    assert_eq!(found.mv, Way::On);
}

#[test]
fn the_plain_solver_ends_at_its_greatest_depth() {
    let value = |rooms| {
        with_just_enough_stack(move || {
            let mut budget = Budget::new(&Limits::default(), &Timeless);
            PlainSolver::default().value(&Corridor::new(rooms), &mut budget)
        })
    };
    assert_eq!(value(PLIES_MAX), Ok(-1));
    assert_eq!(value(PLIES_MAX - 1), Ok(1));
    assert_eq!(value(ROOMS), Err(Stop::Limit(EndedBy::Depth)));
}
