//! Bounds that a clock, a lease and a definition impose on a worker's reported numbers.
//!
//! No other source shows how long a search took or how many nodes it visited, so these numbers are accepted within
//! bounds that no honest worker reaches. Each bound is lenient enough for a suspended machine or a slewed clock.

use std::time::Duration;

use spelrum_engine::{GameRecord, Irregularity, MoveRecord, Player};

use crate::speed::{ScaledTime, Scaling};

/// Nodes, and static evaluations, of one thread in a second: a hundred times what the fastest search visits.
pub const NODES_PER_SECOND_MAX: u64 = 10_000_000_000;

/// Extra time granted to every search for its nodes: a clock is coarse.
const NODES_TOLERANCE_US: u64 = 10_000;

/// The deepest search, in plies: lines of searches with a limit on their depth have at most a fifth of it.
pub const DEPTH_MAX: u32 = 10_000;

/// CPU time of a thread beyond a tenth more than its wall time: one tick of the coarsest clock of CPU time, twice.
const CPU_TOLERANCE_US: u64 = 20_000;

/// Threads of an external engine that use CPU time at once, in its own processes: many times those of the largest
/// machine.
const EXTERNAL_THREADS_MAX: u64 = 1 << 16;

/// Excess of moves' total wall time over their game's: each is measured separately.
const MOVES_TOLERANCE_US: u64 = 1_000_000;

/// Involuntary context switches beyond one in each microsecond of wall time.
const SWITCHES_TOLERANCE: u64 = 1_000;

/// Time that work may take beyond a tenth more than the time since its lease was granted: the coordinator's clock may
/// have stood still with its machine, and been set after that.
pub const LEASE_TOLERANCE: Duration = Duration::from_secs(60);

/// The longest time since a measurement: no worker runs for ten years.
pub const SPEED_AGE_MAX_MS: u64 = 10 * 365 * 24 * 3_600 * 1_000;

/// The most noise of a speed: a thousand times the speed.
pub const NOISE_MAX_PERMILLE: u32 = 1_000_000;

/// A number of microseconds plus a tenth.
const fn a_tenth_more(us: u64) -> u64 {
    us.saturating_add(us / 10)
}

/// The most nodes of one thread in this wall time.
const fn nodes_within(wall_us: u64) -> u64 {
    wall_us.saturating_add(NODES_TOLERANCE_US).saturating_mul(NODES_PER_SECOND_MAX / 1_000_000)
}

/// Whether a thread can have used this CPU time within this wall time.
const fn is_within_wall(cpu_us: u64, wall_us: u64) -> bool {
    cpu_us <= a_tenth_more(wall_us).saturating_add(CPU_TOLERANCE_US)
}

/// Checks that work can have taken this long, if its lease was granted `elapsed` ago by the coordinator's clock. A
/// game, a training or a verification is done by one slot, between the grant and the report.
///
/// # Errors
/// The problem.
pub fn check_lease(wall_us: u64, elapsed: Duration) -> Result<(), Irregularity> {
    let elapsed_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
    let tolerance_us = LEASE_TOLERANCE.as_micros() as u64;
    if wall_us <= a_tenth_more(elapsed_us).saturating_add(tolerance_us) {
        return Ok(());
    }
    Err(Irregularity::new(format!(
        "it took {wall_us} µs, and its lease was granted {elapsed_us} µs before it was reported"
    )))
}

/// Wall time and CPU time of several moves, in microseconds.
#[derive(Clone, Copy, Default)]
struct Times {
    wall_us: u64,
    cpu_us: u64,
}

impl Times {
    const fn add(&mut self, record: &MoveRecord) {
        self.wall_us = self.wall_us.saturating_add(record.wall_us);
        self.cpu_us = self.cpu_us.saturating_add(record.cpu_us);
    }
}

/// Checks that times and searches can be those of one game: one thread of this machine made the moves of our players
/// one after the other, for these players: the first mover, then the other. External engines have threads of their
/// own, which also compute while the other player thinks.
///
/// # Errors
/// The first problem.
pub fn check_record(record: &GameRecord, players: [&Player; 2]) -> Result<(), Irregularity> {
    let (mut ours, mut externals) = (Times::default(), Times::default());
    for (ply, mv) in record.moves.iter().enumerate() {
        let player = players[usize::from(mv.mover.min(1))];
        check_move(mv, player)
            .map_err(|problem| Irregularity::new(format!("move {ply}: {problem}")))?;
        if player.external().is_some() { &mut externals } else { &mut ours }.add(mv);
    }
    let game_us = record.wall_us;
    let moves_us = ours.wall_us.saturating_add(externals.wall_us);
    let moves_us_max = a_tenth_more(game_us).saturating_add(MOVES_TOLERANCE_US);
    if moves_us > moves_us_max {
        return Err(Irregularity::new(format!(
            "its moves took {moves_us} µs together, and the game {game_us} µs"
        )));
    }
    let Times { wall_us, cpu_us } = ours;
    if !is_within_wall(cpu_us, wall_us) {
        return Err(Irregularity::new(format!(
            "its moves took {cpu_us} µs of CPU time in {wall_us} µs of wall time"
        )));
    }
    let Times { cpu_us, .. } = externals;
    if cpu_us > moves_us_max.saturating_mul(EXTERNAL_THREADS_MAX) {
        return Err(Irregularity::new(format!(
            "the moves of external engines took {cpu_us} µs of CPU time, and the game {game_us} µs"
        )));
    }
    Ok(())
}

fn check_move(record: &MoveRecord, player: &Player) -> Result<(), String> {
    let MoveRecord { wall_us, cpu_us, involuntary_switches, search, remarks, .. } = record;
    let switches = involuntary_switches.unwrap_or(0);
    if switches > wall_us.saturating_add(SWITCHES_TOLERANCE) {
        return Err(format!("it was interrupted {switches} times in {wall_us} µs"));
    }
    if player.external().is_some() {
        // A worker cannot verify an external engine's own figures.
        return Ok(());
    }
    if !is_within_wall(*cpu_us, *wall_us) {
        return Err(format!("it took {cpu_us} µs of CPU time in {wall_us} µs of wall time"));
    }
    if let Some(told_us) = search.told_us {
        return Err(format!(
            "its player says that it took {told_us} µs, and only external engines say so"
        ));
    }
    if remarks.is_some() {
        return Err("its player says something of it, and only external engines do".to_owned());
    }
    let most = nodes_within(*wall_us);
    let limits = player.limits();
    for (noun, count, limit) in [
        ("nodes", search.nodes, limits.nodes),
        ("evaluations", search.evaluations, limits.evaluations),
    ] {
        // A search increments its count before each step, and stops at its limit.
        if let Some(limit) = limit.filter(|&limit| count > limit) {
            return Err(format!("it has {count} {noun}, and its player's limit is {limit}"));
        }
        if count > most {
            return Err(format!("it has {count} {noun} in {wall_us} µs, and no thread is so fast"));
        }
    }
    if search.depth > DEPTH_MAX {
        return Err(format!("it was searched {} plies deep", search.depth));
    }
    Ok(())
}

impl ScaledTime {
    /// Checks that a machine can be this fast.
    ///
    /// # Errors
    /// The problem.
    pub fn check_speed(self) -> Result<(), Irregularity> {
        let speed = self.nodes_per_second;
        if speed <= Scaling::REFERENCE_MAX {
            return Ok(());
        }
        let problem =
            format!("its worker searches {speed} nodes a second, and no machine is so fast");
        Err(Irregularity::new(problem))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use spelrum_engine::games::{Othello, TicTacToe};
    use spelrum_engine::{
        EndedBy, Outcome, Parameters, Remarks, SearchReport, Side, Termination, Value,
    };

    use super::*;

    fn player(more: &[(&str, Value)]) -> Player {
        let given =
            [("algorithm", Value::Text("alpha-beta".to_owned())), ("depth", Value::Integer(4))];
        let all = given.iter().chain(more).cloned();
        let parameters: Parameters = all.map(|(key, value)| (key.to_owned(), value)).collect();
        Player::from_parameters(&TicTacToe::rules(), &parameters).unwrap()
    }

    fn searched(nodes: u64, wall_us: u64, cpu_us: u64) -> MoveRecord {
        MoveRecord {
            mover: 0,
            mv: "a1".to_owned(),
            position_key: 0,
            legal_moves: 9,
            search: SearchReport {
                depth: 4,
                nodes,
                evaluations: nodes / 2,
                full_tree_leaves: 0,
                score: None,
                ended_by: EndedBy::Depth,
                told_us: None,
            },
            wall_us,
            cpu_us,
            involuntary_switches: None,
            remarks: None,
        }
    }

    fn game(moves: Vec<MoveRecord>, wall_us: u64) -> GameRecord {
        GameRecord {
            first_side: Side::First,
            outcome: Outcome::Draw,
            margin: None,
            termination: Termination::MAX_PLIES,
            moves,
            wall_us,
        }
    }

    fn problem(record: &GameRecord) -> String {
        let player = player(&[("nodes", Value::Integer(1_000))]);
        match check_record(record, [&player, &player]) {
            Ok(()) => String::new(),
            Err(irregularity) => irregularity.to_string(),
        }
    }

    #[test]
    fn what_no_clock_allows_is_told() {
        let fine = searched(1_000, 500, 480);
        assert_eq!(problem(&game(vec![fine.clone(); 9], 4_600)), "");
        assert_eq!(problem(&game(vec![searched(0, 0, 0); 9], 0)), "", "without a clock");
        let of_one = |mv: MoveRecord| {
            let wall_us = mv.wall_us;
            problem(&game(vec![mv], wall_us))
        };
        let year = 365 * 24 * 3_600 * 1_000_000;
        assert!(problem(&game(vec![searched(1, 285 * year, 1)], 1_000)).contains("together"));
        assert!(of_one(searched(1, 500, 30_000)).contains("CPU time"));
        assert!(of_one(searched(1_001, 500, 0)).contains("limit is 1000"));
        let mut switched = fine.clone();
        switched.involuntary_switches = Some(2_000);
        assert!(of_one(switched).contains("interrupted"));
        let mut deep = fine.clone();
        deep.search.depth = u32::MAX;
        assert!(of_one(deep).contains("plies deep"));
        let mut talking = fine.clone();
        talking.search.told_us = Some(1);
        assert!(of_one(talking).contains("external engines"));
        let note = Remarks { note: "good".to_owned(), ..Remarks::default() };
        let noting = MoveRecord { remarks: Some(Box::new(note)), ..fine.clone() };
        assert!(of_one(noting).contains("only external engines"));
        // Small excesses of CPU time in many moves add up to too much.
        let greedy = game(vec![searched(1, 10, 20_000); 9], 90);
        assert!(problem(&greedy).contains("its moves took 180000 µs of CPU time"));
    }

    /// An external engine has threads of its own, which also compute while its opponent thinks.
    #[test]
    fn external_engines_have_more_cpu_time_than_wall_time() {
        let parameters = r#"{"algorithm":"gtp","engine":"many","nodes":1000}"#;
        let external: Parameters = serde_json::from_str(parameters).unwrap();
        let external = Player::from_parameters(&Othello::rules(), &external).unwrap();
        let ours = player(&[]);
        let check = |moves: [MoveRecord; 2]| {
            let [first, second] = moves;
            let wall_us = first.wall_us + second.wall_us;
            let record = game(vec![first, MoveRecord { mover: 1, ..second }], wall_us);
            check_record(&record, [&external, &ours]).map_err(|wrong| wrong.to_string())
        };
        let fine = searched(1_000, 500, 480);
        assert_eq!(check([searched(1, 1_000_000, 7_900_000), fine.clone()]), Ok(()));
        assert_eq!(check([searched(1, 10, 30_000_000), fine.clone()]), Ok(()));
        let second = 1_000_000;
        let threads = EXTERNAL_THREADS_MAX * 3 * second;
        let wrong = check([searched(1, second, threads), fine]).unwrap_err();
        assert!(wrong.contains("external engines took"), "{wrong}");
        // Its wall time grants our player nothing.
        let wrong = check([searched(1, 10 * second, 0), searched(1, 10, 30_000)]).unwrap_err();
        assert!(wrong.contains("it took 30000 µs of CPU time in 10 µs"), "{wrong}");
        let greedy = [0, 1, 1, 1].map(|mover| MoveRecord { mover, ..searched(1, 10, 20_000) });
        let greedy = game(vec![searched(1, second, 0)].into_iter().chain(greedy).collect(), second);
        let wrong = check_record(&greedy, [&external, &ours]).unwrap_err().to_string();
        assert!(wrong.contains("its moves took 60000 µs of CPU time in 30 µs"), "{wrong}");
    }

    #[test]
    fn no_thread_is_faster_than_the_fastest() {
        let unlimited = player(&[]);
        let check = |mv| check_record(&game(vec![mv], 1_000_000), [&unlimited, &unlimited]);
        assert!(check(searched(NODES_PER_SECOND_MAX, 1_000_000, 0)).is_ok());
        let wrong = check(searched((1 << 53) - 1, 1_000_000, 0)).unwrap_err();
        assert!(wrong.to_string().contains("no thread is so fast"), "{wrong}");
    }

    #[test]
    fn no_machine_is_faster_than_any_reference() {
        let scaled = |nodes_per_second| ScaledTime { factor_permille: 1_000, nodes_per_second };
        assert_eq!(scaled(Scaling::REFERENCE_MAX).check_speed(), Ok(()));
        assert!(scaled(Scaling::REFERENCE_MAX + 1).check_speed().is_err());
    }

    proptest! {
        /// Any work done between the grant and the report is accepted, with clocks that differ by a tenth.
        #[test]
        fn what_was_played_under_a_lease_is_taken(
            elapsed_us in 0_u64..1 << 50,
            share in 0.0..=1.1_f64,
        ) {
            let wall_us = (elapsed_us as f64 * share) as u64;
            prop_assert!(check_lease(wall_us, Duration::from_micros(elapsed_us)).is_ok());
        }

        /// Work that takes longer than twice the time and two minutes is rejected.
        #[test]
        fn what_was_not_played_under_a_lease_is_refused(
            elapsed_us in 0_u64..1 << 50,
            more_us in 0_u64..1 << 50,
        ) {
            let wall_us = 2 * elapsed_us + 120_000_000 + more_us;
            prop_assert!(check_lease(wall_us, Duration::from_micros(elapsed_us)).is_err());
        }

        /// Records whose moves follow each other in one thread are accepted, for any durations.
        #[test]
        fn what_one_thread_can_do_is_taken(
            moves in proptest::collection::vec((0_u64..1 << 40, 0.0..=1.0_f64, 0.0..=1.0_f64), 0..20),
        ) {
            let moves: Vec<MoveRecord> = moves
                .into_iter()
                .map(|(wall_us, busy, speed)| {
                    let cpu_us = (wall_us as f64 * busy) as u64;
                    searched((wall_us as f64 * 1_000.0 * speed) as u64, wall_us, cpu_us)
                })
                .collect();
            let wall_us = moves.iter().map(|mv| mv.wall_us).sum();
            let player = player(&[]);
            prop_assert!(check_record(&game(moves, wall_us), [&player, &player]).is_ok());
        }
    }
}
