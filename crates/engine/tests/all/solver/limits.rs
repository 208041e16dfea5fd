//! Limits and the host stop a solver, in every game.

use spelrum_engine::games::{Nim, Pentago, TicTacToe};
use std::cell::Cell;
use std::time::Duration;

use spelrum_engine::games::pentago::PentagoSolver;
use spelrum_engine::search::{Budget, Limits, Stop};
use spelrum_engine::{EndedBy, Game, Host, Rules, SolveError, Solver, Timeless, solve};

/// A clock that moves on by a millisecond at every look; aborts at the look with this number.
struct Ticking {
    looks: Cell<u64>,
    aborted_at: u64,
}

impl Host for Ticking {
    fn wall(&self) -> Duration {
        self.looks.set(self.looks.get() + 1);
        Duration::from_millis(self.looks.get())
    }

    fn cpu(&self) -> Duration {
        Duration::ZERO
    }

    fn aborted(&self) -> bool {
        self.looks.set(self.looks.get() + 1);
        self.looks.get() >= self.aborted_at
    }
}

const NEVER: u64 = u64::MAX;

/// Positions that take more than a thousand nodes.
fn hard() -> Vec<(Rules, &'static str)> {
    vec![
        (Pentago::rules(true), "...................................."),
        (Pentago::rules(false), ".w..b....w.....b..b.....w....b..w..."),
        // A drawn one, that only working back decides.
        (Pentago::rules(true), DRAWN),
        (TicTacToe::rules(), "........."),
        (Nim::rules(&[9, 9, 9, 9], false).unwrap(), "9,9,9,9/w"),
    ]
}

/// One of 24 marbles that a thousand nodes do not decide.
const HARD_NEAR_THE_END: &str = "w....b.wb..ww.bbw.b.wbwbbwb.bwwbb.ww";

/// The nodes of the search that deepens, with 12 empty cells: a 128th of the 143,364 boards below.
const DEEPENED: u64 = 1120;

/// D-02 of the reference positions.
const DRAWN: &str = "w.b...bwbwb..w...w.b.bb.wb.ww...bbww";

#[test]
fn a_node_limit_is_kept_exactly() {
    for (rules, position) in hard() {
        for nodes in [1, 2, 63, 64, 65, 199, 200, 201, 1000] {
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let error = solve(&rules, position, &limits, &Timeless).unwrap_err();
            assert_eq!(error, SolveError::Limit { limit: EndedBy::Nodes, nodes }, "{position}");
        }
    }
}

#[test]
fn time_and_the_host_stop_it_soon() {
    for (rules, position) in hard() {
        let limits = Limits { move_time_us: Some(1_000), ..Limits::default() };
        let host = Ticking { looks: Cell::new(0), aborted_at: NEVER };
        let error = solve(&rules, position, &limits, &host).unwrap_err();
        let SolveError::Limit { limit: EndedBy::Time, nodes } = error else {
            panic!("{position}: {error}")
        };
        assert!(nodes <= 1000, "{position}: {nodes} nodes");

        let host = Ticking { looks: Cell::new(0), aborted_at: 2 };
        let error = solve(&rules, position, &Limits::default(), &host).unwrap_err();
        assert_eq!(error, SolveError::Aborted, "{position}");
    }
}

#[test]
fn what_cannot_be_solved_is_refused() {
    let rules = TicTacToe::rules();
    for (position, expected) in [("xxxoo....", "the game is over"), ("xx", "length is 2")] {
        let error = solve(&rules, position, &Limits::default(), &Timeless).unwrap_err();
        assert!(matches!(error, SolveError::Position(_)));
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn small_games_have_their_known_values() {
    let value = |rules: &Rules, position: &str| {
        solve(rules, position, &Limits::default(), &Timeless).unwrap().value
    };
    assert_eq!(value(&TicTacToe::rules(), "........."), 0);
    for (heaps, misere) in [(vec![3, 4, 5], false), (vec![1, 1, 1], true), (vec![2, 2], false)] {
        let nim_sum = heaps.iter().fold(0, |sum, heap| sum ^ heap);
        let text = heaps.iter().map(u32::to_string).collect::<Vec<_>>().join(",") + "/w";
        let only_ones = heaps.iter().all(|&heap| heap <= 1);
        // Bouton 1901: misère play differs once all heaps have one object at most.
        let wins = if misere && only_ones { nim_sum == 0 } else { nim_sum != 0 };
        assert_eq!(value(&Nim::rules(&heaps, misere).unwrap(), &text), if wins { 1 } else { -1 });
    }
}

/// With 12 empty cells, the search that needs no tables makes its nodes; then tables are made, of 4,096 sets of cells for either side, with a look at the clock every 1,024.
#[test]
fn the_clock_is_looked_at_while_tables_are_made() {
    let rules = Pentago::rules(true);
    let looks = |nodes: u64| {
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        let host = Ticking { looks: Cell::new(0), aborted_at: NEVER };
        let error = solve(&rules, HARD_NEAR_THE_END, &limits, &host).unwrap_err();
        assert_eq!(error, SolveError::Limit { limit: EndedBy::Nodes, nodes });
        host.looks.get()
    };
    let [before, after] = [DEEPENED, DEEPENED + 1].map(looks);
    assert!(after >= before + 2 * 4096 / 1024 - 1, "{before} {after}");
}

/// Time that runs out while tables are made stops the solver there, and a replay stops it too.
#[test]
fn a_stop_while_tables_are_made_is_replayed() {
    let rules = Pentago::rules(true);
    let position = Pentago::parse(&rules, HARD_NEAR_THE_END).unwrap();
    let mut at_tables = 0;
    for ms in 1..100_000 {
        let limits = Limits { move_time_us: Some(1000 * ms), ..Limits::default() };
        let host = Ticking { looks: Cell::new(0), aborted_at: NEVER };
        let stopped = |mut budget: Budget<'_>| {
            let mut solver = PentagoSolver::default();
            (solver.value(&position, &mut budget), budget.nodes())
        };
        let (result, nodes) = stopped(Budget::new(&limits, &host));
        assert_eq!(result, Err(Stop::Limit(EndedBy::Time)));
        if nodes > DEEPENED {
            break;
        }
        at_tables += u32::from(nodes == DEEPENED);
        let replayed = stopped(Budget::replay(&limits, &Timeless, Some(nodes)));
        assert_eq!(replayed, (result, nodes));
    }
    assert!(at_tables >= 8, "{at_tables}");
}
