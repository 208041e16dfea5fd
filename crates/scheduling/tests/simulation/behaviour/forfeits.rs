//! Engines that forfeit: at one machine, at all, and now and then.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use spelrum_model::demands::{Demands, Offer};
use spelrum_model::withheld::{Barred, Withheld};
use spelrum_model::{
    CellId, ExperimentId, ExperimentState, GameId, LeaseId, SchedulingSettings, WorkerId,
};
use spelrum_scheduling::scheduler::{
    CellState, Effect, Event, ExperimentSnapshot, FORFEITS_EVIDENCE, Policy, Report, Scheduler,
    Snapshot, Time, Verdict,
};
use spelrum_scheduling::stopping::Points;

use crate::dice::Dice;
use crate::engines::{need, offer};

const CELL: CellId = CellId(10);
const EXPERIMENT: ExperimentId = ExperimentId(1);

/// How an engine does on a machine.
#[derive(Clone, Copy)]
struct Machine {
    /// Of 1,000 games so many die.
    dies_permille: u64,
    /// What a game takes that comes to its end. One that dies ends at once.
    game_ms: u64,
    slots: u32,
}

const HEALTHY: Machine = Machine { dies_permille: 0, game_ms: 1_000, slots: 1 };
const DEAD: Machine = Machine { dies_permille: 1_000, ..HEALTHY };

/// A game that is played, and whether it dies.
type UnderWay = (LeaseId, GameId, bool);

struct Slotted {
    machine: Machine,
    /// Games that it holds and has not begun.
    held: VecDeque<(LeaseId, GameId)>,
    /// Until when each slot plays, and what; or waits.
    slots: Vec<(u64, Option<UnderWay>)>,
    beats_at: u64,
}

/// What came of it.
#[derive(Default)]
struct Story {
    barred: Vec<(WorkerId, Barred)>,
    /// Forfeits that each worker reported, and games, whether they count or not.
    reported: BTreeMap<WorkerId, [u64; 2]>,
    /// Who has played each game that counts, and whether it was forfeited.
    results: BTreeMap<GameId, (WorkerId, bool)>,
    took_ms: u64,
}

fn offered() -> Offer {
    Offer { engines: [offer("dev", "1", 64)].into(), ..Offer::default() }
}

fn scheduler(games: u64, barred: Vec<(WorkerId, Barred)>) -> Scheduler {
    let demands = Demands { engines: vec![need("dev", None)], ..Demands::default() };
    let demands = Some(Arc::new(demands));
    let experiment = ExperimentSnapshot {
        experiment: EXPERIMENT,
        settings: SchedulingSettings::default(),
        state: ExperimentState::Running,
        open: false,
        cells: vec![CellState { demands, ..CellState::new(CELL, games) }],
    };
    let snapshot = Snapshot { experiments: vec![experiment], barred, ..Snapshot::default() };
    Scheduler::restore(snapshot, Policy::default(), Time(0))
}

/// Lets machines play a cell to its end, as a coordinator does that takes out what a barred worker has played.
fn play(machines: &[Machine], games: u64, seed: u64) -> Story {
    let mut dice = Dice::new(seed);
    let mut scheduler = scheduler(games, Vec::new());
    let mut story = Story::default();
    let mut workers: BTreeMap<WorkerId, Slotted> = (1..)
        .zip(machines)
        .map(|(id, &machine)| {
            let slots = vec![(0, None); machine.slots as usize];
            let held = VecDeque::new();
            (WorkerId(id), Slotted { machine, held, slots, beats_at: 0 })
        })
        .collect();
    let ids: Vec<WorkerId> = workers.keys().copied().collect();
    for now in (0..).step_by(50) {
        assert!(now < 100_000_000, "it never ends");
        for &id in &ids {
            let worker = workers.get_mut(&id).unwrap();
            if now >= worker.beats_at {
                worker.beats_at = now + 1_000;
                let playing =
                    worker.slots.iter().filter_map(|(_, slot)| slot.map(|(_, game, _)| game));
                let playing: Vec<GameId> = playing.collect();
                let leases: BTreeSet<LeaseId> = worker
                    .held
                    .iter()
                    .map(|(lease, _)| *lease)
                    .chain(
                        worker.slots.iter().filter_map(|(_, slot)| slot.map(|(lease, ..)| lease)),
                    )
                    .collect();
                let leases = leases.into_iter().collect();
                let beat = Event::Heartbeat { worker: id, leases, playing };
                for effect in scheduler.handle(beat, Time(now)) {
                    if let Effect::Drop { leases, .. } = effect {
                        worker.held.retain(|(lease, _)| !leases.contains(lease));
                        for slot in &mut worker.slots {
                            if slot.1.is_some_and(|(lease, ..)| leases.contains(&lease)) {
                                *slot = (now, None);
                            }
                        }
                    }
                }
            }
            for slot in 0..worker.slots.len() {
                let worker = workers.get_mut(&id).unwrap();
                let (until, playing) = worker.slots[slot];
                if now < until {
                    continue;
                }
                if let Some((lease, game, dies)) = playing {
                    worker.slots[slot] = (now, None);
                    report(&mut scheduler, &mut story, (id, lease, game), dies, now);
                }
                let worker = workers.get_mut(&id).unwrap();
                if worker.held.is_empty() {
                    let wants = Event::LeaseWanted {
                        worker: id,
                        slots: worker.machine.slots,
                        quiet_slots: 0,
                        memory_bytes: None,
                        offer: offered(),
                        trains: false,
                        verifies: false,
                    };
                    for effect in scheduler.handle(wants, Time(now)) {
                        match effect {
                            Effect::Grant { lease, ranges, .. } => {
                                for range in ranges {
                                    let numbers = range.first..range.end();
                                    worker.held.extend(
                                        numbers
                                            .map(|number| (lease, GameId { cell: CELL, number })),
                                    );
                                }
                            }
                            Effect::Idle { retry_after_ms, .. } => {
                                worker.slots[slot].0 = now + retry_after_ms;
                            }
                            _ => {}
                        }
                    }
                }
                if let Some((lease, game)) = worker.held.pop_front() {
                    let dies = dice.chance(worker.machine.dies_permille);
                    let takes_ms = if dies { 10 } else { worker.machine.game_ms };
                    worker.slots[slot] = (now + takes_ms, Some((lease, game, dies)));
                }
            }
        }
        scheduler.take_changes();
        if story.results.len() as u64 == games {
            story.took_ms = now;
            return story;
        }
    }
    story
}

fn report(
    scheduler: &mut Scheduler,
    story: &mut Story,
    (worker, lease, game): (WorkerId, LeaseId, GameId),
    dies: bool,
    now: u64,
) {
    let counts = story.reported.entry(worker).or_default();
    counts[0] += u64::from(dies);
    counts[1] += 1;
    let forfeit = dies.then(|| ("dev".to_owned(), 0));
    let report =
        Report::Played { wall_us: 1_000, points: Points::Half, moves_hash: game.number, forfeit };
    let settled = story.results.contains_key(&game);
    let reported = Event::Reported { worker, lease, game, report, settled, leased: true };
    for effect in scheduler.handle(reported, Time(now)) {
        match effect {
            Effect::Verdict { verdict: Verdict::Counts, .. } => {
                story.results.insert(game, (worker, dies));
            }
            Effect::Barred { worker, barred } => {
                story.barred.push((worker, barred));
                let is_by_worker = |(_, (by, _)): &(&GameId, &(WorkerId, bool))| *by == worker;
                let games: Vec<GameId> =
                    story.results.iter().filter(is_by_worker).map(|(game, _)| *game).collect();
                story.results.retain(|_, (by, _)| *by != worker);
                let (readings, played) = (Vec::new(), Vec::new());
                let reopened = Event::Reopened { experiment: EXPERIMENT, games, readings, played };
                scheduler.handle(reopened, Time(now));
            }
            _ => {}
        }
    }
}

/// It is found after few games, however fast it loses them; all of its results are played by the others.
#[test]
fn a_machine_on_which_an_engine_is_dead_is_found_within_few_games() {
    for seed in 0..20 {
        for slots in [1, 4, 16] {
            for healthy in 1..4 {
                let mut machines = vec![HEALTHY; healthy];
                machines.push(Machine { slots, ..DEAD });
                let story = play(&machines, 200, seed);
                let dead = WorkerId(healthy as i64 + 1);
                let barred: Vec<WorkerId> =
                    story.barred.iter().map(|(worker, _)| *worker).collect();
                assert_eq!(barred, [dead]);
                let [lost, _] = story.reported[&dead];
                assert!(lost <= 12 + u64::from(slots), "{lost} games were lost at {slots} slots");
                assert!(story.results.values().all(|(_, forfeited)| !forfeited));
            }
        }
    }
}

/// Two that are dead among several: each alone, the first while the second is still there.
#[test]
fn several_machines_on_which_an_engine_is_dead_are_found() {
    for seed in 0..20 {
        let story = play(&[HEALTHY, DEAD, HEALTHY, DEAD, HEALTHY], 400, seed);
        let mut barred: Vec<i64> = story.barred.iter().map(|(worker, _)| worker.0).collect();
        barred.sort_unstable();
        assert_eq!(barred, [2, 4]);
        assert!(story.results.values().all(|(_, forfeited)| !forfeited));
    }
}

/// The program is at fault, and loses; nobody waits for long.
#[test]
fn an_engine_that_is_dead_everywhere_bars_nobody() {
    for seed in 0..10 {
        for workers in 1..4 {
            let story = play(&vec![DEAD; workers], 400, seed);
            assert_eq!(story.barred, []);
            assert!(story.results.values().all(|(_, forfeited)| *forfeited));
            assert!(story.took_ms < 60_000, "{} ms", story.took_ms);
        }
    }
}

/// At whatever rate it dies of itself: of so many honest workers fewer than one in [`FORFEITS_EVIDENCE`] is barred.
#[test]
fn an_engine_that_dies_now_and_then_bars_hardly_anybody() {
    let (mut workers, mut barred) = (0, 0);
    for seed in 0..60 {
        for dies_permille in [10, 50, 200, 500] {
            let machine = Machine { dies_permille, ..HEALTHY };
            let fast = Machine { game_ms: 200, slots: 4, ..machine };
            let story = play(&[machine, fast, machine, machine], 300, seed);
            workers += 4;
            barred += story.barred.len();
        }
    }
    let bound = f64::from(workers) / FORFEITS_EVIDENCE;
    assert!(barred as f64 <= bound, "{barred} of {workers} honest workers are barred");
}

fn wants(worker: i64) -> Event {
    Event::LeaseWanted {
        worker: WorkerId(worker),
        slots: 1,
        quiet_slots: 0,
        memory_bytes: None,
        offer: offered(),
        trains: false,
        verifies: false,
    }
}

/// Who is barred gets no game of the engine, also after a restart, until somebody lets it in.
#[test]
fn a_bar_holds_until_somebody_lifts_it() {
    let barred = Barred { engine: "dev".to_owned(), forfeits: 6, games: 6, of_others: [0, 10] };
    let mut scheduler = scheduler(40, vec![(WorkerId(2), barred.clone())]);
    assert_eq!(scheduler.withheld(), [(WorkerId(2), Withheld::Barred(barred.clone()))]);
    let effect = scheduler.handle(wants(2), Time(0)).pop();
    let Some(Effect::Idle { withheld: Some(withheld), .. }) = effect else { panic!("{effect:?}") };
    assert_eq!(withheld, Withheld::Barred(barred));
    assert!(matches!(scheduler.handle(wants(1), Time(0)).pop(), Some(Effect::Grant { .. })));
    let base = Event::Readmitted { worker: WorkerId(2), engine: Some("base".to_owned()) };
    scheduler.handle(base, Time(0));
    assert!(matches!(scheduler.handle(wants(2), Time(0)).pop(), Some(Effect::Idle { .. })));
    let dev = Event::Readmitted { worker: WorkerId(2), engine: Some("dev".to_owned()) };
    scheduler.handle(dev, Time(0));
    assert!(matches!(scheduler.handle(wants(2), Time(0)).pop(), Some(Effect::Grant { .. })));
    assert_eq!(scheduler.withheld(), []);
}

/// The pause grows from a second to ten minutes, while somebody else may do better.
#[test]
fn a_worker_waits_ever_longer_after_games_that_die_at_once() {
    let mut scheduler = scheduler(400, Vec::new());
    // Somebody else is there, and has not shown how it does.
    scheduler.handle(wants(1), Time(0));
    let mut now = 0;
    let mut waited = Vec::new();
    for _ in 0..3 {
        let Some(Effect::Grant { lease, ranges, .. }) = scheduler.handle(wants(2), Time(now)).pop()
        else {
            panic!("it waits already");
        };
        assert_eq!(ranges.iter().map(|range| range.count).sum::<u64>(), 2);
        for number in ranges[0].first..ranges[0].end() {
            let game = GameId { cell: CELL, number };
            let forfeit = Some(("dev".to_owned(), 0));
            let report =
                Report::Played { wall_us: 1, points: Points::Half, moves_hash: number, forfeit };
            let (worker, settled, leased) = (WorkerId(2), false, true);
            let reported = Event::Reported { worker, lease, game, report, settled, leased };
            scheduler.handle(reported, Time(now));
        }
        let begun = now;
        while matches!(scheduler.handle(wants(2), Time(now + 1)).pop(), Some(Effect::Idle { .. })) {
            now += 500;
            let (leases, playing) = (Vec::new(), Vec::new());
            let beat = Event::Heartbeat { worker: WorkerId(1), leases, playing };
            scheduler.handle(beat, Time(now));
        }
        // What was granted by asking is given back.
        let held: Vec<LeaseId> = (1..=64).map(LeaseId).collect();
        for lease in held {
            scheduler.handle(Event::GivenBack { worker: WorkerId(2), lease }, Time(now));
        }
        waited.push((now - begun) / 1_000);
    }
    assert_eq!(waited, [2, 8, 32]);
}
