//! The games: what moves, ends, evaluations and whole random games cost, and how many times that
//! their slow twins of the tests take in the same run.
//!
//! `cargo bench -p spelrum-engine --bench games`. Throughput is in positions made, positions
//! looked at or plies, as the group says.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use spelrum_engine::games::pentago::evaluation::{PentagoLines, PentagoRuns};
use spelrum_engine::games::{
    Amazons, Breakthrough, Clobber, Hex, Mnk, Nim, Othello, Pentago, TicTacToe, UltimateTicTacToe,
};
use spelrum_engine::search::Evaluate;
use spelrum_engine::{Game, PlayoutRandom, Position, Random, Rules, perft};

#[expect(dead_code, reason = "the tests look at more of it")]
#[path = "../tests/all/games/slow_pentago.rs"]
mod slow_pentago;

use slow_pentago::SlowBoard;

/// Positions of random games from the empty board, none of them over.
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

fn twins(positions: &[Pentago]) -> Vec<SlowBoard> {
    positions.iter().map(|position| SlowBoard::from_text(&position.to_string())).collect()
}

/// Positions made and looked at for their end: two plies from a position of 14 marbles, and from
/// the empty board.
fn children(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pentago children");
    let rules = Rules::from_name("pentago").expect("the game exists");
    let text = ".w..wb.bb.w.wwb.w....b.......w...bb.";
    let middle = Pentago::parse(&rules, text).expect("a position of the reference data");
    for (name, position) in [("empty board", Pentago::empty(true)), ("14 marbles", middle)] {
        let made = perft(&position, 2).leaves + perft(&position, 1).leaves;
        group.throughput(Throughput::Elements(made));
        group.bench_function(name, |bencher| bencher.iter(|| perft(black_box(&position), 2)));
    }
    let slow = SlowBoard::from_text(text);
    group.throughput(Throughput::Elements(perft(&middle, 1).leaves));
    group.bench_function("14 marbles, slow twin", |bencher| {
        bencher.iter(|| {
            let moves = black_box(&slow).legal_moves(true);
            moves.into_iter().filter(|&mv| slow.clone().play(mv).is_some()).count()
        });
    });
    group.finish();
}

/// Listing, counting and drawing moves, a position each.
fn moves(criterion: &mut Criterion) {
    let positions = positions();
    let mut group = criterion.benchmark_group("pentago moves");
    group.throughput(Throughput::Elements(positions.len() as u64));
    group.bench_function("list", |bencher| {
        let mut moves = Vec::new();
        bencher.iter(|| {
            for position in &positions {
                moves.clear();
                black_box(position).legal_moves(&mut moves);
            }
        });
    });
    group.bench_function("count", |bencher| {
        bencher.iter(|| positions.iter().map(Position::legal_move_count).sum::<u32>());
    });
    group.bench_function("draw", |bencher| {
        let mut random = Random::from_key([5; 32]);
        bencher.iter(|| {
            for position in &positions {
                black_box(position.random_move(&mut random));
            }
        });
    });
    group.bench_function("canonical key", |bencher| {
        bencher.iter(|| positions.iter().fold(0, |keys, p| keys ^ p.canonical_key()));
    });
    group.finish();
}

/// Evaluations, a position each.
fn evaluations(criterion: &mut Criterion) {
    let positions = positions();
    let slow = twins(&positions);
    let (runs, lines) = (PentagoRuns::default(), PentagoLines::default());
    let mut group = criterion.benchmark_group("pentago evaluations");
    group.throughput(Throughput::Elements(positions.len() as u64));
    group.bench_function("runs", |bencher| {
        bencher.iter(|| positions.iter().map(|position| runs.evaluate(position)).sum::<i32>());
    });
    group.bench_function("runs, slow twin", |bencher| {
        bencher.iter(|| slow.iter().map(|board| board.runs([3, 9, 1])).sum::<i32>());
    });
    group.bench_function("lines", |bencher| {
        bencher.iter(|| positions.iter().map(|position| lines.evaluate(position)).sum::<i32>());
    });
    group.bench_function("lines, slow twin", |bencher| {
        bencher.iter(|| slow.iter().map(|board| board.lines([1, 3, 9, 27])).sum::<i32>());
    });
    group.finish();
}

/// Plays a random game to its end and counts its plies.
fn random_game<P: Position>(start: &P, random: &mut Random) -> u64 {
    let mut position = start.clone();
    let mut plies = 0;
    while !position.is_over() {
        position.play_unchecked(position.random_move(random));
        plies += 1;
    }
    plies
}

/// A hundred random games of each game; throughput is in plies.
fn random_games(criterion: &mut Criterion) {
    fn games<P: Position>(start: &P) -> u64 {
        let mut random = Random::from_key([6; 32]);
        (0..100).map(|_| random_game(start, &mut random)).sum()
    }
    let nim = Nim::rules(&[3, 4, 5], false).expect("these are rules");
    let nim = Nim::start(&nim).expect("these are its rules");
    let (pentago, tic_tac_toe) = (Pentago::empty(true), TicTacToe::empty());
    let mut group = criterion.benchmark_group("100 random games");
    group.throughput(Throughput::Elements(games(&pentago)));
    group.bench_function("pentago", |bencher| bencher.iter(|| games(&pentago)));
    group.throughput(Throughput::Elements(games(&tic_tac_toe)));
    group.bench_function("tic-tac-toe", |bencher| bencher.iter(|| games(&tic_tac_toe)));
    group.throughput(Throughput::Elements(games(&nim)));
    group.bench_function("nim", |bencher| bencher.iter(|| games(&nim)));
    let othello = Othello::initial();
    group.throughput(Throughput::Elements(games(&othello)));
    group.bench_function("othello", |bencher| bencher.iter(|| games(&othello)));
    group.finish();
}

/// Leaves of Othello's tree, the last ply counted and not made; and a hundred games as a search plays
/// them out, whose throughput is in plies.
fn othello(criterion: &mut Criterion) {
    let start = Othello::initial();
    let mut group = criterion.benchmark_group("othello");
    group.throughput(Throughput::Elements(perft(&start, 8).leaves));
    group.bench_function("perft 8", |bencher| bencher.iter(|| perft(black_box(&start), 8)));
    type Playout = fn(&mut Othello, &mut PlayoutRandom, u32) -> u32;
    let ways: [(&str, Playout); 2] =
        [("uniform", Othello::play_randomly), ("decisive", Othello::play_decisively)];
    for (name, play) in ways {
        let games = || {
            let mut random = PlayoutRandom::from_seed(6);
            let plies = |_| u64::from(play(&mut black_box(start), &mut random, u32::MAX));
            (0..100).map(plies).sum::<u64>()
        };
        group.throughput(Throughput::Elements(games()));
        group.bench_function(format!("100 playouts, {name}"), |bencher| bencher.iter(games));
    }
    group.finish();
}

/// A hundred games of Pentago as a search plays them out: the fast way, with a win taken where there
/// is one, and the slow way that draws the same moves; throughput is in plies.
fn playouts(criterion: &mut Criterion) {
    fn games(play: impl Fn(&mut Pentago, &mut PlayoutRandom) -> u32) -> u64 {
        let mut random = PlayoutRandom::from_seed(6);
        (0..100).map(|_| u64::from(play(&mut black_box(Pentago::empty(true)), &mut random))).sum()
    }
    fn uniform(position: &mut Pentago, random: &mut PlayoutRandom) -> u32 {
        position.play_randomly(random, u32::MAX)
    }
    fn decisive(position: &mut Pentago, random: &mut PlayoutRandom) -> u32 {
        position.play_decisively(random, u32::MAX)
    }
    fn slow(position: &mut Pentago, random: &mut PlayoutRandom) -> u32 {
        let mut plies = 0;
        while !position.is_over() {
            let index = random.below(position.legal_move_count());
            position.play_unchecked(position.nth_legal_move(index));
            plies += 1;
        }
        plies
    }
    assert_eq!(games(uniform), games(slow), "the same moves");
    let mut group = criterion.benchmark_group("100 playouts");
    group.throughput(Throughput::Elements(games(uniform)));
    group.bench_function("uniform", |bencher| bencher.iter(|| games(uniform)));
    group.bench_function("uniform, move by move", |bencher| bencher.iter(|| games(slow)));
    group.throughput(Throughput::Elements(games(decisive)));
    group.bench_function("decisive", |bencher| bencher.iter(|| games(decisive)));
    group.finish();
}

/// Leaves of the trees of board games, and a hundred games as a search plays them out, whose throughput is in
/// plies.
fn boards(criterion: &mut Criterion) {
    fn board<G: Game>(criterion: &mut Criterion, rules: &Rules, depth: u32) {
        let start = G::start(rules).expect("these are its rules");
        let name = serde_json::to_string(rules).expect("rules are written");
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(perft(&start, depth).leaves));
        group.bench_function(format!("perft {depth}"), |bencher| {
            bencher.iter(|| perft(black_box(&start), depth));
        });
        type Playout<G> = fn(&mut G, &mut PlayoutRandom, u32) -> u32;
        let ways: [(&str, Playout<G>); 2] =
            [("uniform", G::play_randomly), ("decisive", G::play_decisively)];
        for (name, play) in ways {
            let games = || {
                let mut random = PlayoutRandom::from_seed(6);
                let plies =
                    |_| u64::from(play(&mut black_box(start.clone()), &mut random, u32::MAX));
                (0..100).map(plies).sum::<u64>()
            };
            group.throughput(Throughput::Elements(games()));
            group.bench_function(format!("100 playouts, {name}"), |bencher| bencher.iter(games));
        }
        group.finish();
    }
    for (size, depth) in [(5, 4), (11, 2)] {
        board::<Hex>(criterion, &Hex::rules(size, false).expect("a size"), depth);
    }
    for (columns, rows, in_a_row, depth) in [(3, 3, 3, 9), (4, 3, 3, 6), (15, 15, 5, 2)] {
        let rules = Mnk::rules(columns, rows, in_a_row, true).expect("a size");
        board::<Mnk>(criterion, &rules, depth);
    }
    board::<Breakthrough>(criterion, &Rules::usual::<Breakthrough>(), 3);
    board::<UltimateTicTacToe>(criterion, &Rules::usual::<UltimateTicTacToe>(), 4);
    board::<Clobber>(criterion, &Rules::usual::<Clobber>(), 3);
    board::<Amazons>(criterion, &Rules::usual::<Amazons>(), 2);
}

criterion_group!(benches, children, moves, evaluations, random_games, othello, playouts, boards);
criterion_main!(benches);
