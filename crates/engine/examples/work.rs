//! One named piece of the engine's work, repeated: for counting instructions, and for processor
//! time without anything else.
//!
//! ```sh
//! cargo build --release -p spelrum-engine --example work
//! target/release/examples/work                  # what there is
//! target/release/examples/work playouts 1000000 # processor time, and work done in a second
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null \
//!     target/release/examples/work perft 10 count # instructions
//! ```
//!
//! The difference between two runs with different counts is without what starting the program costs.
//! With `count` the clock is not read: under valgrind that ends the program.

#![expect(clippy::print_stdout, reason = "its figures are what it is for")]

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use spelrum_engine::evaluation::NoContents;
use spelrum_engine::games::pentago::evaluation::{PentagoLines, PentagoRuns};
use spelrum_engine::games::{Chess, Othello, Pentago, TicTacToe};
use spelrum_engine::search::Evaluate;
use spelrum_engine::{
    Board, Game, GameSetup, Player, PlayoutRandom, Position, Random, Rules, Timeless, analyze,
    perft, play_game, referee,
};

/// Fourteen marbles, nothing decided: perft and playing.
const MIDDLE: &str = ".w..wb.bb.w.wwb.w....b.......w...bb.";
/// Eight marbles, nothing decided: searches.
const EARLY: &str = ".w..b....w.....b..b.....w....b..w...";
const EMPTY: &str = "....................................";
/// Of chess: the start, and a middle game with much to be taken.
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

/// A piece of work, done once: how many units of it that was.
type Piece = fn() -> u64;

/// Each with its name, its unit and what is done once.
const WORK: &[(&str, &str, Piece)] = &[
    ("perft", "children", || children(MIDDLE)),
    ("perft-empty", "children", || children(EMPTY)),
    ("perft-chess", "leaves", || chess_leaves(START, 5)),
    ("perft-kiwipete", "leaves", || chess_leaves(KIWIPETE, 4)),
    ("perft-othello", "leaves", || perft(black_box(&Othello::initial()), 11).leaves),
    ("play", "moves", play_and_undo),
    ("evaluate-runs", "evaluations", || evaluate(&PentagoRuns::default())),
    ("evaluate-lines", "evaluations", || evaluate(&PentagoLines::default())),
    ("win-test", "positions", win_test),
    ("playouts", "plies", playouts),
    ("playouts-decisive", "plies", decisive_playouts),
    ("playouts-slow", "plies", slow_playouts),
    ("alpha-beta", "nodes", || search(EARLY, r#"{"algorithm": "alpha-beta", "depth": 3}"#)),
    // Under a time limit: the budget looks at a clock, which stands still.
    ("alpha-beta-timed", "nodes", || {
        search(EARLY, r#"{"algorithm": "alpha-beta", "depth": 3, "move_time": "3600s"}"#)
    }),
    ("alpha-beta-ordered", "nodes", || {
        let player = r#"{"algorithm": "alpha-beta", "depth": 3, "order": true, "iterative": true}"#;
        search(EARLY, player)
    }),
    ("alpha-beta-full", "nodes", || {
        search(EARLY, r#"{"algorithm": "alpha-beta", "preset": "full", "depth": 5}"#)
    }),
    ("alpha-beta-lines", "nodes", || {
        let player =
            r#"{"algorithm": "alpha-beta", "preset": "full", "evaluation": "lines", "depth": 5}"#;
        search(EARLY, player)
    }),
    ("alpha-beta-empty", "nodes", || {
        search(EMPTY, r#"{"algorithm": "alpha-beta", "preset": "full", "depth": 6}"#)
    }),
    // Searches compiled for the game alone, and those that it shares with others.
    ("own-alpha-beta", "nodes", || own(ALPHA_BETA)),
    ("shared-alpha-beta", "nodes", || shared(ALPHA_BETA)),
    ("own-mcts", "nodes", || own(MCTS)),
    ("shared-mcts", "nodes", || shared(MCTS)),
    ("genetic", "nodes", || {
        search(EARLY, r#"{"algorithm": "genetic-minimax", "depth": 4, "nodes": 200000}"#)
    }),
    ("mcts", "simulations", || mcts(r#""playout": "uniform""#)),
    ("mcts-timed", "simulations", || mcts(r#""playout": "uniform", "move_time": "3600s""#)),
    ("mcts-decisive", "simulations", || mcts(r#""playout": "decisive""#)),
    ("mcts-classic", "simulations", || {
        mcts(
            r#""playout": "uniform", "first_play_urgency": 1000, "exploration": 1.4142135623730951, "solver": false"#,
        )
    }),
    ("referee", "games", referee_a_game),
    ("chess-material", "nodes", || {
        chess(KIWIPETE, r#""preset": "chess", "evaluation": "material", "depth": 9"#)
    }),
    ("chess-positional", "nodes", || {
        chess(KIWIPETE, r#""preset": "chess", "evaluation": "positional", "depth": 9"#)
    }),
    ("chess-start", "nodes", || {
        chess(START, r#""preset": "chess", "evaluation": "positional", "depth": 10"#)
    }),
    ("chess-plain", "nodes", || chess(KIWIPETE, r#""evaluation": "material", "depth": 5"#)),
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let times = arguments.next().and_then(|times| times.parse().ok()).unwrap_or(1_u64);
    let Some((_, unit, piece)) = WORK.iter().find(|work| work.0 == name) else {
        let names: Vec<&str> = WORK.iter().map(|work| work.0).collect();
        println!("usage: work NAME [TIMES [count]], NAME being one of {}", names.join(", "));
        return;
    };
    let clock = arguments.next().is_none_or(|word| word != "count").then_some(processor_time);
    let start = clock.map(|now| now());
    let done: u64 = (0..times).map(|_| piece()).sum();
    print!("{done} {unit}");
    if let Some((start, now)) = start.zip(clock) {
        let seconds = (now() - start).as_secs_f64();
        print!(" in {seconds:.3} s: {:.3} million/s", done as f64 / seconds / 1e6);
    }
    println!();
}

fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

fn rules() -> Rules {
    Pentago::rules(true)
}

fn position(text: &str) -> Pentago {
    Pentago::parse(&rules(), text).expect("a position in the notation")
}

/// Positions two plies away, made and looked at for their end.
fn children(text: &str) -> u64 {
    let position = position(text);
    perft(black_box(&position), 2).leaves + position.legal_move_count() as u64
}

fn chess_leaves(text: &str, depth: u32) -> u64 {
    let position = Chess::parse(&Chess::rules(), text).expect("a position in the notation");
    perft(black_box(&position), depth).leaves
}

/// Every move of a position, made on a copy.
fn play_and_undo() -> u64 {
    let position = position(MIDDLE);
    let mut moves = Vec::new();
    position.legal_moves(&mut moves);
    for _ in 0..1_000 {
        for &mv in &moves {
            let mut child = black_box(position);
            child.play_unchecked(mv);
            black_box(child);
        }
    }
    1_000 * moves.len() as u64
}

/// Positions of random games, none of them over.
fn positions() -> Vec<Pentago> {
    let mut random = Random::from_key([3; 32]);
    let mut positions = Vec::new();
    while positions.len() < 1_000 {
        let mut position = Pentago::empty(true);
        while !position.is_over() {
            positions.push(position);
            position.play_unchecked(position.random_move(&mut random));
        }
    }
    positions
}

fn evaluate(evaluation: &impl Evaluate<Pentago>) -> u64 {
    let positions = positions();
    for _ in 0..1_000 {
        for position in &positions {
            black_box(evaluation.evaluate(black_box(position)));
        }
    }
    1_000 * positions.len() as u64
}

/// Whether the side to move can win at once.
fn win_test() -> u64 {
    let positions = positions();
    for _ in 0..1_000 {
        for position in &positions {
            black_box(black_box(position).winning_move());
        }
    }
    1_000 * positions.len() as u64
}

/// A thousand random games from the empty board, in plies.
fn playouts() -> u64 {
    let mut random = PlayoutRandom::from_seed(6);
    let game = |_| u64::from(black_box(Pentago::empty(true)).play_randomly(&mut random, u32::MAX));
    (0..1_000).map(game).sum()
}

/// The same, but that a side that can win at once does.
fn decisive_playouts() -> u64 {
    let mut random = PlayoutRandom::from_seed(6);
    let game =
        |_| u64::from(black_box(Pentago::empty(true)).play_decisively(&mut random, u32::MAX));
    (0..1_000).map(game).sum()
}

/// The same by the moves that players make at random.
fn slow_playouts() -> u64 {
    let mut random = Random::from_key([6; 32]);
    let mut plies = 0;
    for _ in 0..1_000 {
        let mut position = black_box(Pentago::empty(true));
        while !position.is_over() {
            position.play_unchecked(position.random_move(&mut random));
            plies += 1;
        }
    }
    plies
}

/// From the empty board, one playout each.
fn mcts(settings: &str) -> u64 {
    search(EMPTY, &format!(r#"{{"algorithm": "mcts", "simulations": 200000, {settings}}}"#));
    200_000
}

/// A random game, judged many times: playing it costs a small part of that.
fn referee_a_game() -> u64 {
    const TIMES: u64 = 1_000;
    let rules = rules();
    let given = serde_json::from_str(r#"{"algorithm": "random"}"#).expect("a player in JSON");
    let random = Player::from_parameters(&rules, &given).expect("a player");
    let setup = GameSetup {
        rules: &rules,
        opening: EMPTY,
        players: [&random, &random],
        keys: [[1; 32], [2; 32]],
        max_plies: None,
        adjudication: None,
        stops: None,
    };
    let record = play_game(&setup, &Timeless).expect("a game");
    let board = Board { rules: &rules, opening: EMPTY, max_plies: None, adjudication: None };
    for _ in 0..TIMES {
        referee(&board, black_box(&record)).expect("it was played");
    }
    TIMES
}

fn search(text: &str, player: &str) -> u64 {
    searched(&rules(), text, player)
}

/// Of tic-tac-toe, whose work is small beside what sharing costs.
const ALPHA_BETA: &str = r#"{"algorithm": "alpha-beta", "depth": 9}"#;
const MCTS: &str = r#"{"algorithm": "mcts", "simulations": 2000}"#;

fn own(player: &str) -> u64 {
    let given = serde_json::from_str(player).expect("a player in JSON");
    analyzed(Player::new::<TicTacToe>(&given, &NoContents).expect("a player"))
}

fn shared(player: &str) -> u64 {
    let given = serde_json::from_str(player).expect("a player in JSON");
    analyzed(Player::from_parameters(&TicTacToe::rules(), &given).expect("a player"))
}

fn analyzed(player: Player) -> u64 {
    let rules = TicTacToe::rules();
    analyze(&rules, ".........", &player, [1; 32], &Timeless).expect("it is searched").search.nodes
}

fn chess(text: &str, settings: &str) -> u64 {
    let player = format!(r#"{{"algorithm": "alpha-beta", {settings}}}"#);
    searched(&Chess::rules(), text, &player)
}

fn searched(rules: &Rules, text: &str, player: &str) -> u64 {
    let given = serde_json::from_str(player).expect("a player in JSON");
    let player = Player::from_parameters(rules, &given).expect("a player");
    let analysis = analyze(rules, text, &player, [1; 32], &Timeless).expect("it is searched");
    analysis.search.nodes
}
