//! How busy workers are while formulas are bred: generations wait for their last games, and other runs fill the
//! waits. The courses are the real ones; who plays is simulated, a pair of games at a time, in the order in which the
//! scheduler hands out new games.
//!
//! ```console
//! cargo run --release -p spelrum-scheduling --example evolution_waits
//! ```

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "an example prints and may fail")]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use spelrum_engine::Random;
use spelrum_scheduling::course::{CellOutcome, Course, Decision, NewCell, course_from_plan};
use spelrum_sweep::{SweepText, plan_sweep};

/// Microseconds from the end of a pair of games until it is settled and its slot has the next.
const ROUND_TRIP_US: u64 = 2_000;

fn main() {
    println!("{:>6} {:>6} {:>10} {:>10}  busy", "slots", "runs", "games", "seconds");
    for slots in [2, 16, 64] {
        for runs in [1, 3, 6, 12] {
            let (games, end_us, busy_us) = simulated(slots, runs);
            let share = busy_us as f64 / (end_us * slots as u64) as f64;
            let seconds = end_us as f64 / 1e6;
            println!("{slots:>6} {runs:>6} {games:>10} {seconds:>10.1}  {:.1}%", share * 100.0);
        }
    }
}

fn sweep(runs: u64) -> String {
    format!(
        "name = \"waits\"\ngame = \"connect-four\"\nseed = 1\ngames = 20\n\
         pairing = {{ gauntlet = \"bred\" }}\n\
         [players.bred]\nalgorithm = \"alpha-beta\"\ndepth = 1\nties = \"random\"\n\
         evaluation = \"expression\"\n[players.random]\nalgorithm = \"random\"\n\
         [evolve]\nplayer = \"bred\"\nruns = {runs}\npopulation = 25\ngenerations = 50\nelite = 5\n"
    )
}

/// A cell under way.
struct Cell {
    pairs_left: u64,
    outcome: CellOutcome,
}

/// Games, microseconds until all are played, and those in which slots played.
fn simulated(slots: usize, runs: u64) -> (u64, u64, u64) {
    let plan = plan_sweep(&SweepText::new("waits.toml", sweep(runs))).unwrap();
    let mut course = course_from_plan(&plan).unwrap();
    let mut random = Random::from_key([slots as u8 ^ runs as u8; 32]);
    let mut cells = BTreeMap::<u64, Cell>::new();
    let mut waiting = VecDeque::<u64>::new();
    let (mut added, mut reported) = (0, 0);
    let mut ask = |course: &mut dyn Course,
                   cells: &mut BTreeMap<u64, Cell>,
                   waiting: &mut VecDeque<u64>| match course.decide() {
        Decision::Add(new) => {
            for NewCell { games, .. } in new {
                waiting.extend((0..games / 2).map(|_| added));
                let outcome = CellOutcome { number: added, ..CellOutcome::default() };
                cells.insert(added, Cell { pairs_left: games / 2, outcome });
                added += 1;
            }
            true
        }
        Decision::Wait => true,
        Decision::End | Decision::Fail(_) => false,
    };
    ask(&mut *course, &mut cells, &mut waiting);
    let mut idle = slots;
    // The ends of pairs that are played, the earliest first.
    let mut playing = BinaryHeap::<Reverse<(u64, u64)>>::new();
    let (mut now, mut games, mut busy) = (0, 0, 0);
    loop {
        while idle > 0
            && let Some(cell) = waiting.pop_front()
        {
            // Games of 10 ms, give or take half.
            let takes: u64 = (0..2).map(|_| 5_000 + u64::from(random.below(10_000))).sum();
            busy += takes;
            idle -= 1;
            playing.push(Reverse((now + takes + ROUND_TRIP_US, cell)));
        }
        let Some(Reverse((end, number))) = playing.pop() else { break };
        now = end;
        idle += 1;
        games += 2;
        let cell = cells.get_mut(&number).unwrap();
        cell.pairs_left -= 1;
        cell.outcome.games += 2;
        cell.outcome.wins += u64::from(random.below(3));
        while let Some(first) = cells.get(&reported)
            && first.pairs_left == 0
        {
            course.tell(&first.outcome);
            cells.remove(&reported);
            reported += 1;
            if !ask(&mut *course, &mut cells, &mut waiting) {
                break;
            }
        }
    }
    (games, now, busy)
}
