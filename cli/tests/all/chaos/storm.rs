//! All at once: chance says what befalls whom next. `SPELRUM_CHAOS_SEED` is what it goes by, so that the same befalls
//! the same ones once more, as far as machines do; `SPELRUM_KILLS` says how long it lasts.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rustix::process::{Signal, kill_process};

use super::cluster::{Cluster, DB, Terms};
use super::disk::Lock;
use super::kills;
use super::points::POINTS;
use super::proxy::{Direction, Moment, Proxy, Weather};
use super::reports::MOMENTS;
use crate::disk::{SmallDisk, healthz};
use crate::sandbox::{Process, Sandbox, playing_process, wait_until};

const WORKERS: [&str; 3] = ["ada", "bob", "eve"];

/// Longer than leases live.
const STANDSTILL: Duration = Duration::from_secs(2);

/// What may happen.
#[derive(Clone, Copy, Debug)]
enum Event {
    KillCoordinator,
    KillWorker,
    KillPlayingProcess,
    KillAll,
    KillAtPoint,
    KillInReport,
    StopCoordinator,
    StopWorker,
    Cut,
    CutAll,
    Slow,
    HalfClose,
    Deafen,
    FillDisk,
    Lock,
}

/// Kills come more often than the others.
const EVENTS: [Event; 19] = [
    Event::KillCoordinator,
    Event::KillCoordinator,
    Event::KillWorker,
    Event::KillWorker,
    Event::KillPlayingProcess,
    Event::KillAll,
    Event::KillAtPoint,
    Event::KillAtPoint,
    Event::KillInReport,
    Event::KillInReport,
    Event::StopCoordinator,
    Event::StopWorker,
    Event::Cut,
    Event::CutAll,
    Event::Slow,
    Event::HalfClose,
    Event::Deafen,
    Event::FillDisk,
    Event::Lock,
];

struct Storm<'s> {
    cluster: Cluster<'s>,
    /// What chance there is.
    rng: StdRng,
    /// Each worker with what stands between it and the coordinator.
    workers: Vec<(&'static str, Proxy, Process)>,
    database: PathBuf,
    /// `None` where none can be mounted, and none is filled.
    disk: Option<SmallDisk>,
    /// Processes that were killed.
    killed: u64,
}

impl Storm<'_> {
    fn chosen(&mut self) -> usize {
        self.rng.random_range(0..self.workers.len())
    }

    fn kill_worker(&mut self, which: usize) {
        let (name, proxy, worker) = &mut self.workers[which];
        worker.kill();
        *worker = self.cluster.worker(name, &proxy.url, "1");
        self.killed += 1;
    }

    fn kill_coordinator(&mut self) {
        self.cluster.kill_coordinator();
        self.killed += 1;
    }

    fn set_all(&self, weather: Weather) {
        self.workers.iter().for_each(|(_, proxy, _)| proxy.set_weather(weather));
    }

    /// Lets something befall somebody, and lets it be over.
    fn befall(&mut self, event: Event) {
        let which = self.chosen();
        let direction =
            *[Direction::ToCoordinator, Direction::ToWorker].choose(&mut self.rng).unwrap();
        match event {
            Event::KillCoordinator => self.kill_coordinator(),
            Event::KillWorker => self.kill_worker(which),
            Event::KillPlayingProcess => {
                if let Some(playing) = playing_process(&self.workers[which].2) {
                    // It may have ended by itself, as after its worker's death.
                    self.killed += u64::from(kill_process(playing, Signal::KILL).is_ok());
                }
            }
            Event::KillAll => {
                (0..self.workers.len()).for_each(|which| self.kill_worker(which));
                self.kill_coordinator();
            }
            Event::KillAtPoint => {
                let point = POINTS.choose(&mut self.rng).unwrap();
                let passes = self.rng.random_range(0..20);
                self.cluster.die_at(point, passes);
                self.killed += 2;
            }
            Event::KillInReport => self.kill_in_report(which),
            Event::StopCoordinator => {
                self.cluster.coordinator.process.signal(Signal::STOP);
                stand_still();
                self.cluster.coordinator.process.signal(Signal::CONT);
            }
            Event::StopWorker => {
                let (name, _, worker) = &self.workers[which];
                self.cluster.lose(&[name], || worker.signal(Signal::STOP));
                worker.signal(Signal::CONT);
            }
            Event::Cut => {
                let weather = *[Weather::Cut, Weather::Stalled].choose(&mut self.rng).unwrap();
                let (name, proxy, _) = &self.workers[which];
                self.cluster.lose(&[name], || proxy.set_weather(weather));
                proxy.set_weather(Weather::Clear);
            }
            Event::CutAll => {
                self.set_all(Weather::Cut);
                if self.rng.random() {
                    self.kill_coordinator();
                }
                stand_still();
                self.set_all(Weather::Clear);
            }
            Event::Slow => {
                self.set_all(Weather::Slow);
                self.cluster.plays_on();
                self.kill_worker(which);
                self.cluster.plays_on();
                self.set_all(Weather::Clear);
            }
            Event::HalfClose => self.workers[which].1.half_close(direction),
            Event::Deafen => {
                let (name, proxy, _) = &self.workers[which];
                self.cluster.lose(&[name], || proxy.deafen(direction));
                // Otherwise it would be noticed only some time later.
                proxy.set_weather(Weather::Cut);
                proxy.set_weather(Weather::Clear);
            }
            Event::FillDisk => self.fill_disk(which),
            Event::Lock => {
                let lock = Lock::on(&self.database);
                self.kill_worker(which);
                if self.rng.random() {
                    self.wait_until_unwell();
                }
                drop(lock);
            }
        }
    }

    fn kill_in_report(&mut self, which: usize) {
        let moment: Moment = *MOMENTS.choose(&mut self.rng).unwrap();
        self.workers[which].1.stop_report(moment, || self.cluster.keep_busy());
        let (coordinator, worker) =
            *[(true, true), (true, false), (false, true)].choose(&mut self.rng).unwrap();
        if worker {
            self.workers[which].2.kill();
        }
        if coordinator {
            self.cluster.coordinator.process.kill();
        }
        self.workers[which].1.release();
        if coordinator {
            self.cluster.restart();
        }
        if worker {
            let (name, proxy, worker) = &mut self.workers[which];
            *worker = self.cluster.worker(name, &proxy.url, "1");
        }
        self.killed += u64::from(worker) + u64::from(coordinator);
    }

    fn fill_disk(&mut self, which: usize) {
        let Some(disk) = &self.disk else { return };
        let ballast = disk.fill(0);
        self.kill_worker(which);
        self.wait_until_unwell();
        fs::remove_file(ballast).unwrap();
    }

    fn wait_until_unwell(&self) {
        let unwell = || healthz(&self.cluster.coordinator).starts_with("HTTP/1.1 503");
        wait_until("the coordinator cannot write", unwell);
    }
}

/// Nothing is to be seen of whoever stands still.
fn stand_still() {
    let (_silent, nothing) = channel::<()>();
    nothing.recv_timeout(STANDSTILL).unwrap_err();
}

#[test]
fn whatever_befalls_whom_the_games_are_the_same() {
    let seed = std::env::var("SPELRUM_CHAOS_SEED")
        .map_or_else(|_| u64::from(rand::random::<u32>()), |seed| seed.parse().unwrap());
    eprintln!("SPELRUM_CHAOS_SEED={seed}");
    let sandbox = Sandbox::new();
    let disk = SmallDisk::mount_of(sandbox.path("disk"), 64 + 4 * kills())
        .inspect_err(|why| eprintln!("no disk will be full: {why}"))
        .ok();
    let db = if disk.is_some() { "disk/c.db" } else { DB };
    let cluster = Cluster::start_as(&sandbox, Terms { db, ..Terms::default() });
    let address = cluster.address();
    let workers = WORKERS.map(|name| {
        let proxy = Proxy::to(&address);
        let worker = cluster.worker(name, &proxy.url, "1");
        (name, proxy, worker)
    });
    let mut storm = Storm {
        cluster,
        rng: StdRng::seed_from_u64(seed),
        workers: workers.into(),
        database: sandbox.path(db),
        disk,
        killed: 0,
    };
    let mut events = 0;
    while storm.killed < 2 * kills() {
        storm.cluster.plays_on();
        let event = *EVENTS.choose(&mut storm.rng).unwrap();
        events += 1;
        eprintln!("{events}: {event:?}, {} games so far", sandbox.settled(db));
        storm.befall(event);
    }
    storm.cluster.plays_on();
    let (killed, repeats) = (storm.killed, storm.cluster.repeats());
    eprintln!("{killed} processes were killed in {events} events; {repeats} results came twice");
    let Storm { cluster, workers, disk: _disk, .. } = storm;
    cluster.assert_ends_well();
    drop(workers);
}
