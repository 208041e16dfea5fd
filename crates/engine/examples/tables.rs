//! Tables of endgames: time, memory, and full verification.
//!
//! ```sh
//! cargo build --release -p spelrum-engine --example tables
//! target/release/examples/tables KBNK           # time, peak memory, look-ups in a second
//! target/release/examples/tables KBNK check     # and every value against those of its successors
//! ```

#![expect(clippy::print_stdout, reason = "its figures are what it is for")]

// Part of the tests has what checks a table.
#[path = "../tests/all/tables/successors.rs"]
mod successors;

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use spelrum_engine::games::Chess;
use spelrum_engine::tables::{EndgameTable, PIECES_MAX, TableValue};
use spelrum_engine::{Game as _, Random, Side};

/// Positions that are looked up in turn.
const POSITIONS: usize = 1 << 16;

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let is_checked = names.iter().any(|name| name == "check");
    for name in names.iter().filter(|name| *name != "check") {
        let endgame = name.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
        let begun = cpu();
        let table = EndgameTable::make(&endgame, |_| {});
        let making = cpu() - begun;
        let counts = table.counts();
        let counting = cpu() - begun - making;
        println!("{name}: {} places made in {making:?}, counted in {counting:?}", table.len());
        for side in &counts.sides {
            println!(
                "  legal {} wins {} draws {} losses {} mates {} stalemates {} longest {:?} {:?}",
                side.legal,
                side.wins,
                side.draws,
                side.losses,
                side.mates,
                side.stalemates,
                side.longest_win_plies(),
                side.longest_loss_plies()
            );
        }
        look_up(&table);
        if is_checked {
            let tables = successors::Tables::make(name);
            let begun = cpu();
            let (checked, all) = (tables.check(1, 1), tables.main().positions().count());
            println!("  {checked} of {all} values follow in {:?}", cpu() - begun);
        }
    }
    println!("peak memory {}", peak_memory());
}

/// Random positions, as squares and as positions of chess.
fn look_up(table: &EndgameTable) {
    let all: Vec<usize> = (0..table.len()).filter(|at| table.position(*at).is_some()).collect();
    let mut random = Random::from_key([1; 32]);
    let drawn: Vec<_> = (0..POSITIONS)
        .map(|_| {
            let index = all[random.below(all.len() as u32) as usize];
            table.position(index).expect("a legal position")
        })
        .collect();
    let rounds = 200;
    let squares: Vec<(Side, [u8; PIECES_MAX])> = drawn
        .iter()
        .map(|position| {
            let mut squares = [0; PIECES_MAX];
            squares.iter_mut().zip(position.squares()).for_each(|(place, at)| *place = at);
            (position.to_move(), squares)
        })
        .collect();
    let men = table.endgame().letters().count();
    let each =
        |value: Option<TableValue>| u64::from(value.and_then(TableValue::plies).unwrap_or(0));
    let begun = cpu();
    let mut sum = 0;
    for _ in 0..rounds {
        sum +=
            squares.iter().map(|(side, at)| each(table.value_at(*side, &at[..men]))).sum::<u64>();
    }
    print_rate("squares", rounds, cpu() - begun, sum);
    // Chess refuses checks that no move can give.
    let chess: Vec<Chess> = drawn
        .iter()
        .filter_map(|position| Chess::parse(&Chess::rules(), &table.fen(position)).ok())
        .collect();
    let begun = cpu();
    let mut sum = 0;
    for _ in 0..rounds {
        sum += chess.iter().map(|position| each(table.value(position))).sum::<u64>();
    }
    print_rate("positions of chess", rounds, cpu() - begun, sum);
}

fn print_rate(unit: &str, rounds: usize, took: Duration, sum: u64) {
    black_box(sum);
    let millions = (rounds * POSITIONS) as f64 / took.as_secs_f64() / 1e6;
    println!("  {millions:.1} million look-ups a second by {unit}");
}

fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What the kernel says, where it says so.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".to_owned(), |value| value.trim().to_owned())
}
