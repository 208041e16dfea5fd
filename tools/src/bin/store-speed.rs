//! How fast the store is, and how many bytes a game and a move take: figures for
//! `docs/architecture.md`.
//!
//! `cargo run --release -p spelrum-tools --bin store-speed -- [GAMES] [DIRECTORY]`
//!
//! The games are random tic-tac-toe as workers report them, all moves recorded, in transactions of
//! 256; then submits of 100,000 cells with few players and with many, and the same with more cells.
//!
//! `… --bin store-speed -- rebuild [LEASES] [DIRECTORY]` measures instead what a start of the scheduler
//! reads where so many leases have ended; `… -- experiments [COUNT] [DIRECTORY]` what a submit, `status` and
//! the like take beside so many experiments of two cells that are finished. `… -- shared URL [GAMES] [DIRECTORY]` measures
//! the first in a database that coordinators share, on an empty PostgreSQL database.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a measurement for people")]

use spelrum_engine::games::TicTacToe;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use spelrum_answers::Machine;
use spelrum_engine::{
    EndedBy, GameRecord, MoveRecord, Outcome, SearchReport, Side, Value, termination_named,
};
use spelrum_journal::{Address, Member, Owner};
use spelrum_model::ExperimentState;
use spelrum_model::{
    AxisValue, CellId, Conditions, DefinitionJson, GameId, GameRange, LeaseId, OpeningsRule, Plan,
    PlannedAxis, PlannedCell, PlannedPlayer, PlayedGame, WorkerId,
};
use spelrum_scheduling::scheduler::{
    Attempts, CellState, Changes, LeaseEnd, LeaseState, Policy, Scheduler, Time,
};
use spelrum_store::contract::{Store as _, WriteTransaction as _};
use spelrum_store::{Sweep, WAL_CHECKPOINT_BYTES, WorkerIntroduction, Writer};

const GAMES_IN_TRANSACTION: u64 = 256;
const CELLS: u64 = 8;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let rebuilds = arguments.next_if(|first| first == "rebuild").is_some();
    let has_experiments = arguments.next_if(|first| first == "experiments").is_some();
    let shared = arguments.next_if(|first| first == "shared").map(|_| arguments.next().unwrap());
    let usual = match (rebuilds, has_experiments) {
        (true, _) => 2_000_000,
        (_, true) => 5_000,
        _ => 200_000,
    };
    let count: u64 = arguments.next().map_or(usual, |count| count.parse().unwrap());
    let directory = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = directory.join(format!("store-speed-{}", std::process::id()));
    std::fs::create_dir(&directory).unwrap();
    let path = directory.join("results.db");
    let mut writer = match &shared {
        None => Writer::open(&path).await.unwrap(),
        Some(url) => {
            let me = Owner { name: "store-speed".to_owned(), address: String::new() };
            let address = Address::parse(url).unwrap();
            Member::join(&address, &path, me).await.unwrap().follow().await.unwrap()
        }
    };
    if rebuilds {
        rebuild(&mut writer, count).await;
        writer.close().await.unwrap();
        std::fs::remove_dir_all(&directory).unwrap();
        return;
    }
    if has_experiments {
        many_experiments(writer, count).await;
        std::fs::remove_dir_all(&directory).unwrap();
        return;
    }
    let games = count;
    let mut checkpointer = writer.checkpointer().await.unwrap();

    let mut transaction = writer.begin().await.unwrap();
    let submitted = transaction.submit(sweep("small", &plan("small", CELLS, games))).await.unwrap();
    let worker = transaction.introduce(&introduction()).await.unwrap();
    transaction.commit().await.unwrap();
    let empty_bytes = std::fs::metadata(&path).unwrap().len() + writer.wal_bytes();

    let (mut moves, mut number, mut checkpoints) = (0, 0, 0);
    // Processor time, not wall time: what one core does, whatever else the machine is doing.
    let mut generating = Duration::ZERO;
    let (start, start_wall) = (processor_time(), Instant::now());
    while number < games {
        let generation = processor_time();
        let batch: Vec<PlayedGame> = (number..games.min(number + GAMES_IN_TRANSACTION))
            .map(|number| {
                let cell = submitted.cells[usize::try_from(number % CELLS).unwrap()].cell;
                game(cell, number / CELLS)
            })
            .collect();
        generating += processor_time() - generation;
        moves += batch.iter().map(|game| game.record.moves.len() as u64).sum::<u64>();
        number += batch.len() as u64;
        store(&mut writer, worker, &batch).await;
        if writer.wal_bytes() > WAL_CHECKPOINT_BYTES {
            checkpointer.run().await.unwrap();
            checkpoints += 1;
        }
    }
    let seconds = (processor_time() - start - generating).as_secs_f64();
    let wall_seconds = start_wall.elapsed().as_secs_f64();
    writer.checkpoint().await.unwrap();
    let bytes = std::fs::metadata(&path).unwrap().len() - empty_bytes.min(1 << 20);
    println!(
        "{games} games, {moves} moves, {checkpoints} checkpoints; on one core {:.0} games/s, \
         {:.0} moves/s; by the wall clock {:.0} games/s",
        games as f64 / seconds,
        moves as f64 / seconds,
        games as f64 / wall_seconds,
    );
    println!("{:.1} bytes a game with its moves", bytes as f64 / games as f64);
    let readers = writer.readers();
    let sizes = readers
        .query("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 6", 10)
        .await
        .unwrap();
    for row in sizes.rows {
        println!("    {row:?}");
    }
    for view in ["results", "time_per_move", "head_to_head", "worker_productivity", "slowest_games"]
    {
        let start = processor_time();
        readers.query(&format!("SELECT * FROM {view}"), 1000).await.unwrap();
        println!("{view}: {:?}", processor_time() - start);
    }
    let start = processor_time();
    assert!(readers.recount().await.unwrap().is_empty());
    println!("recount: {:?}", processor_time() - start);

    for (cells, games_each) in [(4, 25_000_000), (100_000, 100)] {
        let name = format!("{cells} cells");
        let plan = plan(&name, cells, games_each * cells);
        let start = processor_time();
        let mut transaction = writer.begin().await.unwrap();
        let submitted = transaction.submit(sweep(&name, &plan)).await.unwrap();
        transaction.commit().await.unwrap();
        println!("submit {name}, {} games: {:?}", submitted.games, processor_time() - start);
        let start = processor_time();
        writer.snapshot().await.unwrap();
        println!("snapshot: {:?}", processor_time() - start);
    }
    println!("memory so far: {}", peak_memory());
    for distinct in [false, true] {
        grow(&mut writer, distinct).await;
        println!("memory so far: {}", peak_memory());
    }
    writer.close().await.unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
}

/// What a snapshot would take longer for without what finds it.
const WITHOUT_INDEX: [(&str, &str); 2] = [
    (
        "leases",
        "SELECT l.lease_id, l.worker_id, r.cell_id, r.first_number, r.games, g.number
        FROM leases AS l NOT INDEXED
        CROSS JOIN lease_ranges AS r ON r.lease_id = l.lease_id
        LEFT JOIN games AS g ON g.cell_id = r.cell_id
            AND g.number >= r.first_number AND g.number < r.first_number + r.games
        WHERE l.ended_by IS NULL ORDER BY l.lease_id, r.cell_id, r.first_number, g.number",
    ),
    (
        "attempts",
        "SELECT a.cell_id, a.number FROM attempts AS a
        CROSS JOIN cells AS c ON c.cell_id = a.cell_id
        CROSS JOIN experiments AS e ON e.experiment_id = c.experiment_id
        WHERE e.state IN ('running', 'paused')",
    ),
];

/// What the scheduler is built again from: a thousand live leases and ten thousand cells, in a file where
/// many leases have ended and a hundred thousand games were lost once.
async fn rebuild(writer: &mut Writer, ended: u64) {
    const LIVE: u64 = 1_000;
    const LOST: u64 = 100_000;
    const AT_ONCE: u64 = 10_000;
    let mut transaction = writer.begin().await.unwrap();
    let [old, new] =
        [("old", 4), ("new", 10_000)].map(|(name, cells)| (name, plan(name, cells, 100 * cells)));
    let finished = transaction.submit(sweep(old.0, &old.1)).await.unwrap();
    transaction.set_state(finished.experiment, ExperimentState::Finished).await.unwrap();
    let running = transaction.submit(sweep(new.0, &new.1)).await.unwrap();
    let worker = transaction.introduce(&introduction()).await.unwrap();
    transaction.commit().await.unwrap();
    let range = |cells: &[CellState], lease: u64| {
        let cell = cells[usize::try_from(lease).unwrap() % cells.len()].cell;
        GameRange { cell, first: 4 * (lease % 25), count: 4 }
    };
    let lease = |cells: &[CellState], id: u64| LeaseState {
        lease: LeaseId(id.cast_signed()),
        worker,
        granted: vec![range(cells, id)],
        outstanding: Vec::new(),
    };
    let mut first = 1;
    while first <= ended {
        let ids = first..=ended.min(first + AT_ONCE - 1);
        let end = |id: u64| (LeaseId(id.cast_signed()), LeaseEnd::Finished);
        let changes = Changes {
            granted: ids.clone().map(|id| lease(&finished.cells, id)).collect(),
            ended: ids.map(end).collect(),
            ..Changes::default()
        };
        let mut transaction = writer.begin().await.unwrap();
        transaction.apply(&changes).await.unwrap();
        transaction.commit().await.unwrap();
        first += AT_ONCE;
    }
    let lost = |number: u64| {
        let cell = finished.cells[usize::try_from(number % 4).unwrap()].cell;
        let game = GameId { cell, number };
        Attempts { game, lost: 1, lost_alone: 0, failed: 0 }
    };
    let changes = Changes {
        granted: (1..=LIVE).map(|id| lease(&running.cells, ended + id)).collect(),
        attempts: (0..LOST).map(lost).collect(),
        ..Changes::default()
    };
    let mut transaction = writer.begin().await.unwrap();
    transaction.apply(&changes).await.unwrap();
    transaction.commit().await.unwrap();
    writer.checkpoint().await.unwrap();
    println!("{ended} leases that ended, {LIVE} that live, {LOST} games that were lost");

    for (what, sql) in WITHOUT_INDEX {
        let start = processor_time();
        writer.readers().query(sql, 10_000).await.unwrap();
        println!("{what}, if all were looked through: {:?}", processor_time() - start);
    }
    for _ in 0..5 {
        let start = processor_time();
        let snapshot = writer.snapshot().await.unwrap();
        let read = processor_time() - start;
        assert_eq!(snapshot.leases.len() as u64, LIVE);
        let scheduler = Scheduler::restore(snapshot, Policy::default(), Time(0));
        println!("snapshot: {read:?}; with the scheduler: {:?}", processor_time() - start);
        drop(scheduler);
    }
}

/// Submits many experiments of two cells, finishes each, and says now and then what things take.
async fn many_experiments(mut writer: Writer, count: u64) {
    const LOOKED_AT: u64 = 10;
    let mut milestones: Vec<u64> = [10, 100, 300, 1_000, 2_000, 5_000, 10_000, 20_000]
        .into_iter()
        .filter(|milestone| *milestone < count)
        .collect();
    milestones.push(count);
    let (mut there, mut at_first) = (0, None);
    let mut checkpointer = writer.checkpointer().await.unwrap();
    for milestone in milestones {
        while there < milestone {
            submit_and_finish(&mut writer, &mut there).await;
            if writer.wal_bytes() > WAL_CHECKPOINT_BYTES {
                checkpointer.run().await.unwrap();
            }
        }
        writer.checkpoint().await.unwrap();
        let readers = writer.readers();
        let mut times = BTreeMap::<&str, Vec<Duration>>::new();
        for _ in 0..LOOKED_AT {
            let mut timed = |what, start: Duration| {
                times.entry(what).or_default().push(processor_time().saturating_sub(start));
            };
            let start = processor_time();
            submit_and_finish(&mut writer, &mut there).await;
            timed("1 submit, finish", start);
            let start = processor_time();
            readers.workers(10).await.unwrap();
            timed("2 first read afterwards", start);
            let start = processor_time();
            readers.workers(10).await.unwrap();
            timed("3 second read", start);
            let start = processor_time();
            let (all, _) = readers.current_experiments().await.unwrap();
            timed("4 status: experiments", start);
            let start = processor_time();
            readers.attention(&all).await.unwrap();
            timed("5 status: attention", start);
            let start = processor_time();
            readers.experiments(None, 100).await.unwrap();
            timed("6 first page of experiments", start);
            let start = processor_time();
            readers.query("SELECT max(experiment_id) FROM experiments", 1).await.unwrap();
            timed("7 a query", start);
        }
        let median = |times: &mut Vec<Duration>| {
            times.sort();
            times[times.len() / 2]
        };
        let medians: Vec<_> =
            times.iter_mut().map(|(what, times)| (*what, median(times))).collect();
        let submit = medians[0].1;
        let slower = submit.as_secs_f64() / at_first.get_or_insert(submit).as_secs_f64();
        println!(
            "{there} experiments; a submit takes {slower:.2} of the first; {}",
            memory("VmRSS:")
        );
        for (what, time) in medians {
            println!("    {what}: {:.2} ms", time.as_secs_f64() * 1e3);
        }
    }
    let path = writer.path().to_owned();
    drop(checkpointer);
    writer.close().await.unwrap();
    let start = processor_time();
    let mut writer = Writer::open(&path).await.unwrap();
    writer.snapshot().await.unwrap();
    println!("open, snapshot: {:?}", processor_time() - start);
    writer.close().await.unwrap();
}

async fn submit_and_finish(writer: &mut Writer, there: &mut u64) {
    *there += 1;
    let name = format!("tiny-{there}");
    let mut plan = plan(&name, 2, 4);
    plan.seed = *there;
    let mut transaction = writer.begin().await.unwrap();
    let submitted = transaction.submit(sweep(&name, &plan)).await.unwrap();
    transaction.set_state(submitted.experiment, ExperimentState::Finished).await.unwrap();
    transaction.commit().await.unwrap();
}

/// Submits a grid of 90,000 cells, and then of 100,000, of which every other cell has another number
/// than before, as an inner axis with one value more gives.
async fn grow(writer: &mut Writer, distinct: bool) {
    let name = if distinct { "many players" } else { "few players" };
    for (version, width) in [(1, 9), (2, 10)] {
        let plan = grid(name, width, distinct);
        let start = processor_time();
        let wall = Instant::now();
        let mut transaction = writer.begin().await.unwrap();
        let uuid = format!("{name} {version}");
        let sweep = Sweep {
            uuid: &uuid,
            toml: &uuid,
            files: &NO_FILES,
            plan: &plan,
            new_experiment: false,
            fills: None,
        };
        let submitted = transaction.submit(sweep).await.unwrap();
        transaction.commit().await.unwrap();
        println!(
            "submit {} cells, {name}: {:?} of the processor, {:?} by the wall clock; told {}",
            plan.cells.len(),
            processor_time() - start,
            wall.elapsed(),
            submitted.cells.len()
        );
    }
    let start = processor_time();
    let again = Sweep {
        files: &NO_FILES,
        uuid: "again",
        toml: "again",
        plan: &grid(name, 10, distinct),
        new_experiment: false,
        fills: None,
    };
    writer.readers().preview(again).await.unwrap();
    println!("preview of 100,000 cells, {name}: {:?}", processor_time() - start);
}

/// No sweep here names any.
static NO_FILES: BTreeMap<String, String> = BTreeMap::new();

/// Ten thousand rows of so many columns: two axes; every cell has players of its own, or all share
/// a few.
fn grid(name: &str, width: usize, distinct: bool) -> Plan {
    const ROWS: usize = 10_000;
    let cells = (ROWS * 10) as u64;
    let mut grid = plan(name, 1, 1);
    grid.cells.clear();
    let text = |number: usize| AxisValue { number: Some(number as f64), text: number.to_string() };
    grid.axes = [("row", ROWS), ("column", width)]
        .map(|(name, values)| PlannedAxis {
            name: name.to_owned(),
            values: (0..values).map(text).collect(),
        })
        .into();
    let definition = DefinitionJson::new(&grid.conditions[0]);
    grid.players = (0..if distinct { cells } else { 700 }).map(player).map(Arc::new).collect();
    let names: [Arc<str>; 2] = [Arc::from("a"), Arc::from("b")];
    for row in 0..ROWS {
        for column in 0..width {
            let number = row * 10 + column;
            let players = if distinct {
                [number, (number + 1) % grid.players.len()]
            } else {
                [number / 350, 300 + number % 350]
            };
            let players = players.map(|player| Arc::clone(&grid.players[player]));
            let [first, second] = players.each_ref().map(|player| &player.parameters_json);
            let (definition_hash, seed) = definition.hash_and_seed(first, second);
            grid.cells.push(PlannedCell {
                definition_hash,
                seed,
                conditions: 0,
                players,
                player_names: names.clone(),
                axes: vec![(0, row), (1, column)],
                games: 100,
                timed: false,
                repeats: false,
            });
        }
    }
    grid
}

/// A player with as many parameters as a real one of the study has.
fn player(number: u64) -> PlannedPlayer {
    let mut parameters: BTreeMap<String, Value> =
        (0..20).map(|index| (format!("parameter_{index}"), Value::Integer(index))).collect();
    parameters.insert("algorithm".to_owned(), Value::Text("random".to_owned()));
    parameters.insert("number".to_owned(), Value::Integer(number.cast_signed()));
    PlannedPlayer::new(&parameters)
}

/// The most memory that this process ever had.
fn peak_memory() -> String {
    memory("VmHWM:")
}

fn memory(which: &str) -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(which));
    line.map_or("unknown".to_owned(), |line| line.trim().to_owned())
}

fn sweep<'s>(name: &'s str, plan: &'s Plan) -> Sweep<'s> {
    Sweep { uuid: name, toml: name, files: &NO_FILES, plan, new_experiment: false, fills: None }
}

/// The time that this process has had of all cores together.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap())
}

async fn store(writer: &mut Writer, worker: WorkerId, games: &[PlayedGame]) {
    let games: Vec<_> = games.iter().map(|game| (worker, game.clone())).collect();
    let mut transaction = writer.begin().await.unwrap();
    transaction.store_games(&games).await.unwrap();
    transaction.commit().await.unwrap();
}

fn introduction() -> WorkerIntroduction {
    WorkerIntroduction {
        uuid: "worker".to_owned(),
        name: "worker".to_owned(),
        host: "host".to_owned(),
        slots: 2,
        engine_revision: 1,
        version: "0".to_owned(),
        memory_bytes: None,
        engines: std::sync::Arc::default(),
        built: Arc::default(),
        trains: false,
        verifies: false,
        machine: Machine::default(),
        credential: None,
    }
}

fn plan(name: &str, cells: u64, games: u64) -> Plan {
    // Two axes, each of one player: a grid as square as it gets.
    let side = cells.isqrt().max(1);
    let firsts: Vec<_> = (0..=cells / side).map(player).map(Arc::new).collect();
    let seconds: Vec<_> = (0..side).map(|number| Arc::new(player(1_000_000 + number))).collect();
    let players = firsts.iter().chain(&seconds).cloned().collect();
    let mut plan = Plan {
        name: name.to_owned(),
        game: "tic-tac-toe".to_owned(),
        seed: 7,
        axes: vec![PlannedAxis {
            name: "number".to_owned(),
            values: (0..cells)
                .map(|number| AxisValue { number: Some(number as f64), text: number.to_string() })
                .collect(),
        }],
        conditions: vec![Conditions {
            seed: 7,
            rules: TicTacToe::rules(),
            openings: OpeningsRule::Start {},
            max_plies: None,
            adjudication: None,
            swap_sides: true,
            task: spelrum_model::Task::Game,
            openings_count: None,
        }],
        players,
        ..Plan::default()
    };
    let json = DefinitionJson::new(&plan.conditions[0]);
    let names: [Arc<str>; 2] = [Arc::from("a"), Arc::from("b")];
    for number in 0..usize::try_from(cells).unwrap() {
        let side = seconds.len();
        let pair = [number / side, firsts.len() + number % side];
        let pair = pair.map(|player| Arc::clone(&plan.players[player]));
        let [first, second] = pair.each_ref().map(|player| &player.parameters_json);
        let (definition_hash, seed) = json.hash_and_seed(first, second);
        plan.cells.push(PlannedCell {
            definition_hash,
            seed,
            conditions: 0,
            players: pair,
            player_names: names.clone(),
            axes: vec![(0, number)],
            games: games / cells,
            timed: false,
            repeats: false,
        });
    }
    plan
}

/// Random tic-tac-toe, by a small generator of its own: eight plies or so.
fn game(cell: CellId, number: u64) -> PlayedGame {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ cell.0.unsigned_abs();
    let mut random = move |below: u64| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) % below
    };
    let plies = 5 + random(5);
    let mut hash = 0;
    let moves: Vec<MoveRecord> = (0..plies)
        .map(|ply| {
            let square = random(9);
            hash = hash * 9 + square;
            let ended_by = if ply == 8 { EndedBy::OnlyMove } else { EndedBy::Depth };
            MoveRecord {
                mover: u8::from(ply % 2 == 1),
                mv: format!("a{square}"),
                position_key: random(1 << 31) << 22,
                legal_moves: u32::try_from(9 - ply).unwrap(),
                search: SearchReport {
                    depth: 0,
                    nodes: 0,
                    evaluations: 0,
                    full_tree_leaves: 0,
                    score: None,
                    ended_by,
                    told_us: None,
                },
                wall_us: random(3),
                cpu_us: random(3),
                involuntary_switches: Some(0),
                remarks: None,
            }
        })
        .collect();
    let outcomes = [Outcome::Win, Outcome::Draw, Outcome::Loss];
    let record = GameRecord {
        first_side: Side::First,
        outcome: outcomes[usize::try_from(random(3)).unwrap()],
        margin: None,
        termination: termination_named("three_in_a_row").unwrap(),
        moves,
        wall_us: 20 + random(30),
    };
    PlayedGame {
        game: GameId { cell, number },
        engine_revision: 1,
        opening: ".........".to_owned(),
        record,
        moves_hash: hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11,
        values: Vec::new(),
        engines: [None, None],
        forfeit: None,
        scaled: None,
        started_unix_us: 1_700_000_000_000_000 + number.cast_signed(),
    }
}
