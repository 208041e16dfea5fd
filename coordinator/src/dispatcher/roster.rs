//! The workers that `Status` shows, and the memory and engines that each offers. Kept in memory only.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use spelrum_answers::{WorkerConduct, WorkerSummary};
use spelrum_model::demands::Offer;
use spelrum_model::engines::BuiltEngines;
use spelrum_model::labels::Label;
use spelrum_model::speed::Speed;
use spelrum_model::{GameRange, LeaseId, WorkerId};
use spelrum_scheduling::scheduler::{LeaseEnd, LeaseState, Time};

use super::identity::{Caller, Impostor, Lock, SecretHash};
use crate::log_throttle::LogThrottle;
use spelrum_store::{LeaseHolder, WorkerIntroduction};

/// Most workers at once (invariant 9).
pub(super) const WORKERS_MAX: usize = 10_000;

/// A worker that was silent for this long and holds no lease gives its place up to a newcomer. No live worker is silent
/// for this long; a returning one says Hello again.
const SILENT_MS: u64 = 60 * 1_000;

/// The workers that have said Hello to this run of the coordinator.
#[derive(Debug)]
pub(super) struct Roster {
    workers_max: usize,
    /// Whether only one worker is expected.
    is_alone: bool,
    workers: BTreeMap<WorkerId, Entry>,
    /// Workers that hold leases of an earlier run and have not said Hello to this one.
    absent: BTreeMap<WorkerId, Absent>,
    /// Live leases: the holder of each, and its number of games without a result.
    leases: BTreeMap<LeaseId, (WorkerId, u64)>,
    /// Calls that named a worker but failed its identity check.
    pub(super) impostors: LogThrottle,
}

#[derive(Debug)]
struct Entry {
    introduction: Box<WorkerIntroduction>,
    /// What the worker's calls must present.
    lock: Lock,
    /// The labels of its introduction.
    labels: Arc<[Label]>,
    /// Its latest reported speeds, and when they were reported.
    speeds: (Time, Vec<Speed>),
    /// Its first Hello to this run.
    known: Time,
    heard: Time,
    playing: u64,
    reported: u64,
    /// Of the reported games.
    failed: u64,
    forfeited: u64,
    refused: u64,
    /// Games of its leases that expired since its last call.
    lost: u64,
}

#[derive(Debug)]
struct Absent {
    holder: LeaseHolder,
    /// Start of this run.
    since: Time,
    /// Games of its leases that have expired.
    lost: u64,
}

/// The ending of a reported game, as workers are compared by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GameEnding {
    Played,
    Forfeited,
    Failed,
}

/// An event in a worker's life. Recorded while a transaction is open, applied to the roster after its commit.
#[derive(Debug)]
pub(super) enum News {
    /// The worker said Hello.
    Hello(WorkerId, Box<WorkerIntroduction>, Lock, Time),
    /// The worker presented its secret, which is now stored.
    Proved(WorkerId),
    /// The worker is playing this many games.
    Playing(WorkerId, u64),
    /// The worker was granted a lease of this many games.
    Granted(WorkerId, LeaseId, u64),
    /// One result of a lease was accepted.
    Taken(WorkerId, LeaseId, GameEnding),
    /// One more of the worker's results was refused.
    Refused(WorkerId),
    /// A lease ended.
    Ended(LeaseId, LeaseEnd),
    /// The worker is no longer reported as silent.
    Dismissed(WorkerId),
}

impl Default for Roster {
    fn default() -> Self {
        Self::with_places(WORKERS_MAX)
    }
}

impl Roster {
    /// Creates an empty roster with this many places.
    pub(super) fn with_places(workers_max: usize) -> Self {
        Self {
            workers_max,
            is_alone: false,
            workers: BTreeMap::new(),
            absent: BTreeMap::new(),
            leases: BTreeMap::new(),
            impostors: LogThrottle::default(),
        }
    }

    /// Sets whether only one worker is expected.
    pub(super) const fn expect_one_worker(&mut self, is_alone: bool) {
        self.is_alone = is_alone;
    }

    /// Takes the live leases and their holders from the store: at the start, and after a failed transaction.
    pub(super) fn restart(&mut self, leases: &[LeaseState], holders: Vec<LeaseHolder>, now: Time) {
        for holder in
            holders.into_iter().filter(|holder| !self.workers.contains_key(&holder.worker))
        {
            let absent = || Absent { holder: holder.clone(), since: now, lost: 0 };
            self.absent.entry(holder.worker).or_insert_with(absent);
        }
        let games = |ranges: &[GameRange]| ranges.iter().map(|range| range.count).sum();
        self.leases = leases
            .iter()
            .map(|lease| (lease.lease, (lease.worker, games(&lease.outstanding))))
            .collect();
    }

    /// Whether the worker has said Hello.
    pub(super) fn contains(&self, worker: WorkerId) -> bool {
        self.workers.contains_key(&worker)
    }

    /// The worker with this UUID, if it has said Hello.
    pub(super) fn worker_with_uuid(&self, uuid: &str) -> Option<WorkerId> {
        let mut workers = self.workers.iter();
        workers.find(|(_, entry)| entry.introduction.uuid == uuid).map(|(&worker, _)| worker)
    }

    /// Checks that a call comes from the worker it names, which has said Hello. Returns its secret if that has to be
    /// stored.
    pub(super) fn check(&self, caller: &Caller) -> Result<Option<SecretHash>, Impostor> {
        let Some(entry) = self.workers.get(&caller.worker) else { return Ok(None) };
        entry.lock.check(entry.introduction.credential.as_deref(), caller)?;
        Ok((!entry.lock.is_stored).then_some(entry.lock.secret))
    }

    /// All workers that have said Hello and have not given up their places.
    pub(super) fn workers(&self) -> BTreeSet<WorkerId> {
        self.workers.keys().copied().collect()
    }

    /// The number of workers heard from within this many milliseconds.
    pub(super) fn heard_within(&self, ms: u64, now: Time) -> u64 {
        let is_heard = |entry: &&Entry| now.0.saturating_sub(entry.heard.0) <= ms;
        self.workers.values().filter(is_heard).count() as u64
    }

    /// The memory that a worker offers to all its slots together, if reported.
    pub(super) fn memory(&self, worker: WorkerId) -> Option<u64> {
        self.workers.get(&worker)?.introduction.memory_bytes
    }

    /// A worker's exclusive slots for timed games; 0 if all its slots play them.
    pub(super) fn quiet_slots(&self, worker: WorkerId) -> u32 {
        let entry = self.workers.get(&worker);
        entry.and_then(|entry| entry.introduction.machine.quiet_slots).unwrap_or(0)
    }

    /// Records the full list of speeds that a worker reported.
    pub(super) fn record_speeds(&mut self, worker: WorkerId, speeds: Vec<Speed>, now: Time) {
        if let Some(entry) = self.workers.get_mut(&worker) {
            entry.speeds = (now, speeds);
        }
    }

    /// What each worker offers beside memory.
    pub(super) fn offers(&self, now: Time) -> BTreeMap<WorkerId, Offer> {
        self.workers.keys().map(|&worker| (worker, self.offer(worker, now))).collect()
    }

    /// What a worker offers beside memory.
    pub(super) fn offer(&self, worker: WorkerId, now: Time) -> Offer {
        let Some(entry) = self.workers.get(&worker) else { return Offer::default() };
        let (reported_at, speeds) = &entry.speeds;
        let since_ms = now.0.saturating_sub(reported_at.0);
        let aged = |speed: &Speed| Speed {
            age_ms: speed.age_ms.saturating_add(since_ms),
            ..speed.clone()
        };
        Offer {
            engines: Arc::clone(&entry.introduction.engines),
            labels: Arc::clone(&entry.labels),
            speeds: speeds.iter().map(aged).collect(),
            quota_period_us: entry.introduction.machine.held_up_us(entry.introduction.slots),
            is_alone: self.is_alone,
        }
    }

    /// The engines that a worker builds from commits.
    pub(super) fn built(&self, worker: WorkerId) -> Arc<BuiltEngines> {
        self.workers
            .get(&worker)
            .map_or_else(Arc::default, |entry| Arc::clone(&entry.introduction.built))
    }

    /// Whether a worker trains networks.
    pub(super) fn trains(&self, worker: WorkerId) -> bool {
        self.workers.get(&worker).is_some_and(|entry| entry.introduction.trains)
    }

    /// Whether a worker verifies games of other workers.
    pub(super) fn verifies(&self, worker: WorkerId) -> bool {
        self.workers.get(&worker).is_some_and(|entry| entry.introduction.verifies)
    }

    /// Workers that verify games of other workers.
    pub(super) fn verifying(&self) -> BTreeSet<WorkerId> {
        let verifies = |(_, entry): &(&WorkerId, &Entry)| entry.introduction.verifies;
        self.workers.iter().filter(verifies).map(|(&worker, _)| worker).collect()
    }

    /// The number of a worker's refused results.
    pub(super) fn refused(&self, worker: WorkerId) -> u64 {
        self.workers.get(&worker).map_or(0, |entry| entry.refused)
    }

    /// Games of a worker's leases that expired since its last call.
    pub(super) fn lost_games(&self, worker: WorkerId) -> u64 {
        let lost = self.workers.get(&worker).map(|entry| entry.lost);
        lost.or_else(|| Some(self.absent.get(&worker)?.lost)).unwrap_or(0)
    }

    /// Records a sign of life from a worker, whether or not its call succeeds.
    pub(super) fn record_contact(&mut self, worker: WorkerId, at: Time) {
        if let Some(entry) = self.workers.get_mut(&worker) {
            entry.heard = entry.heard.max(at);
            entry.lost = 0;
        }
    }

    /// Whether the worker with this UUID has said Hello.
    pub(super) fn contains_uuid(&self, uuid: &str) -> bool {
        self.workers.values().any(|entry| entry.introduction.uuid == uuid)
    }

    /// Whether there is a place for this many newcomers. If necessary, evicts the workers without a lease that were
    /// silent for longest, so a program that keeps restarting and ends right after Hello takes only its own places.
    pub(super) fn has_places(&mut self, newcomers: usize, now: Time) -> bool {
        let excess = (self.workers.len() + newcomers).saturating_sub(self.workers_max);
        if excess == 0 {
            return true;
        }
        let holders: BTreeSet<WorkerId> = self.leases.values().map(|&(holder, _)| holder).collect();
        let is_gone = |&(worker, entry): &(&WorkerId, &Entry)| {
            now.0.saturating_sub(entry.heard.0) >= SILENT_MS && !holders.contains(worker)
        };
        let gone = self.workers.iter().filter(is_gone);
        let mut gone: Vec<_> = gone.map(|(&worker, entry)| (entry.heard, worker)).collect();
        gone.sort_unstable();
        for (_, worker) in gone.iter().take(excess) {
            self.workers.remove(worker);
        }
        gone.len() >= excess
    }

    /// Applies an event.
    pub(super) fn apply(&mut self, news: News) {
        match news {
            News::Hello(worker, introduction, lock, heard) => {
                let earlier = self.workers.get(&worker);
                let known = earlier.map_or(heard, |entry| entry.known);
                let [reported, failed, forfeited, refused] = earlier.map_or([0; 4], |entry| {
                    [entry.reported, entry.failed, entry.forfeited, entry.refused]
                });
                // The next start of a worker that was killed.
                for entry in self.workers.values_mut() {
                    let earlier = &entry.introduction;
                    if earlier.name == introduction.name && earlier.host == introduction.host {
                        entry.lost = 0;
                    }
                }
                self.absent.retain(|&absent, Absent { holder, .. }| {
                    let is_same = absent == worker
                        || holder.name == introduction.name && holder.host == introduction.host;
                    !is_same
                });
                let labels = introduction.machine.labels.as_slice().into();
                let speeds = (heard, Vec::new());
                let entry = Entry {
                    introduction,
                    lock,
                    labels,
                    speeds,
                    known,
                    heard,
                    playing: 0,
                    reported,
                    failed,
                    forfeited,
                    refused,
                    lost: 0,
                };
                self.workers.insert(worker, entry);
            }
            News::Proved(worker) => {
                if let Some(entry) = self.workers.get_mut(&worker) {
                    entry.lock.is_stored = true;
                }
            }
            News::Playing(worker, games) => {
                if let Some(entry) = self.workers.get_mut(&worker) {
                    entry.playing = games;
                }
            }
            News::Granted(worker, lease, games) => {
                self.leases.insert(lease, (worker, games));
            }
            News::Taken(worker, lease, ending) => {
                if let Some(entry) = self.workers.get_mut(&worker) {
                    entry.reported += 1;
                    entry.failed += u64::from(ending == GameEnding::Failed);
                    entry.forfeited += u64::from(ending == GameEnding::Forfeited);
                }
                if let Some((_, games)) = self.leases.get_mut(&lease) {
                    *games = games.saturating_sub(1);
                }
            }
            News::Refused(worker) => {
                if let Some(entry) = self.workers.get_mut(&worker) {
                    entry.refused += 1;
                }
            }
            News::Ended(lease, why) => {
                let ended = self.leases.remove(&lease);
                if why == LeaseEnd::Expired
                    && let Some((worker, games)) = ended
                {
                    if let Some(entry) = self.workers.get_mut(&worker) {
                        entry.lost += games;
                    } else if let Some(absent) = self.absent.get_mut(&worker) {
                        absent.lost += games;
                    }
                }
            }
            News::Dismissed(worker) => {
                self.absent.remove(&worker);
                if let Some(entry) = self.workers.get_mut(&worker) {
                    entry.lost = 0;
                }
            }
        }
    }

    /// Summaries of all workers, for display.
    pub(super) fn summaries(&self, now: Time) -> Vec<WorkerSummary> {
        let mut leased = BTreeMap::<WorkerId, u64>::new();
        for &(worker, games) in self.leases.values() {
            *leased.entry(worker).or_default() += games;
        }
        let summary = |(&worker, entry): (&WorkerId, &Entry)| {
            let leased_games = leased.get(&worker).copied().unwrap_or(0);
            WorkerSummary {
                worker,
                name: entry.introduction.name.clone(),
                host: entry.introduction.host.clone(),
                slots: entry.introduction.slots,
                quiet_slots: entry.introduction.machine.quiet_slots.unwrap_or(0),
                engine_revision: entry.introduction.engine_revision,
                silent_ms: now.0.saturating_sub(entry.heard.0),
                leased_games,
                // As last reported: games whose results came since are no longer being played.
                playing_games: entry.playing.min(leased_games),
                reported_games: entry.reported,
                lost_games: entry.lost,
                memory_bytes: entry.introduction.memory_bytes,
                engines: Arc::clone(&entry.introduction.engines),
                engines_total: entry.introduction.engines.len() as u64,
                built: Arc::clone(&entry.introduction.built),
                labels: Arc::clone(&entry.labels),
                credential: entry.introduction.credential.clone(),
                conduct: WorkerConduct {
                    version: entry.introduction.version.clone(),
                    known_ms: now.0.saturating_sub(entry.known.0),
                    failed_games: entry.failed,
                    forfeited_games: entry.forfeited,
                    withheld: Vec::new(),
                },
            }
        };
        let absent = |(&worker, absent): (&WorkerId, &Absent)| {
            let leased_games = leased.get(&worker).copied().unwrap_or(0);
            (leased_games + absent.lost > 0).then(|| WorkerSummary {
                worker,
                name: absent.holder.name.clone(),
                host: absent.holder.host.clone(),
                slots: absent.holder.slots,
                quiet_slots: 0,
                engine_revision: absent.holder.engine_revision,
                silent_ms: now.0.saturating_sub(absent.since.0),
                leased_games,
                playing_games: 0,
                reported_games: 0,
                lost_games: absent.lost,
                memory_bytes: None,
                engines: Arc::default(),
                engines_total: 0,
                built: Arc::default(),
                labels: Arc::default(),
                credential: None,
                conduct: WorkerConduct::default(),
            })
        };
        self.workers.iter().map(summary).chain(self.absent.iter().filter_map(absent)).collect()
    }
}

#[cfg(test)]
mod tests {
    use spelrum_answers::{CpuQuota, Machine};
    use spelrum_model::CellId;

    use super::*;

    fn lock() -> Lock {
        Lock { secret: SecretHash([0; 32]), is_stored: false }
    }

    fn introduction(name: &str) -> Box<WorkerIntroduction> {
        Box::new(WorkerIntroduction {
            uuid: format!("of {name}"),
            name: name.to_owned(),
            host: "host".to_owned(),
            slots: 2,
            engine_revision: 1,
            version: "0".to_owned(),
            memory_bytes: None,
            engines: Arc::default(),
            built: Arc::default(),
            trains: false,
            verifies: false,
            machine: Machine::default(),
            credential: None,
        })
    }

    #[test]
    fn a_worker_is_summed_up() {
        let mut roster = Roster::default();
        let worker = WorkerId(7);
        roster.apply(News::Hello(worker, introduction("a"), lock(), Time(100)));
        roster.apply(News::Granted(worker, LeaseId(1), 10));
        roster.apply(News::Granted(worker, LeaseId(2), 4));
        roster.apply(News::Taken(worker, LeaseId(1), GameEnding::Forfeited));
        roster.apply(News::Ended(LeaseId(2), LeaseEnd::GivenBack));
        roster.apply(News::Playing(worker, 2));
        roster.record_contact(worker, Time(150));
        assert_eq!([24, 25].map(|ms| roster.heard_within(ms, Time(175))), [0, 1]);
        let [summary] = &roster.summaries(Time(175))[..] else { panic!("one worker") };
        assert_eq!(summary.leased_games, 9);
        assert_eq!(summary.playing_games, 2);
        assert_eq!(summary.reported_games, 1);
        assert_eq!(summary.silent_ms, 25);
        let WorkerConduct { version, known_ms, failed_games, forfeited_games, .. } =
            &summary.conduct;
        assert_eq!((&**version, known_ms, failed_games, forfeited_games), ("0", &75, &0, &1));
        roster.apply(News::Hello(worker, introduction("a"), lock(), Time(200)));
        let [summary] = &roster.summaries(Time(200))[..] else { panic!("one worker") };
        assert_eq!(summary.reported_games, 1, "a second Hello keeps it");
        assert_eq!((summary.conduct.known_ms, summary.conduct.forfeited_games), (100, 1));
    }

    #[test]
    fn games_stay_lost_until_the_worker_is_heard_of_starts_again_or_is_dismissed() {
        let mut roster = Roster::default();
        let worker = WorkerId(7);
        roster.apply(News::Hello(worker, introduction("a"), lock(), Time(0)));
        let lose = |roster: &mut Roster, id| {
            roster.apply(News::Granted(worker, LeaseId(id), 3));
            roster.apply(News::Taken(worker, LeaseId(id), GameEnding::Played));
            roster.apply(News::Ended(LeaseId(id), LeaseEnd::Expired));
            assert_eq!(roster.lost_games(worker), 2);
            assert_eq!(roster.summaries(Time(1))[0].lost_games, 2);
        };
        lose(&mut roster, 1);
        roster.record_contact(worker, Time(2));
        assert_eq!(roster.lost_games(worker), 0);
        lose(&mut roster, 2);
        roster.apply(News::Dismissed(worker));
        assert_eq!(roster.lost_games(worker), 0);
        lose(&mut roster, 3);
        let other = Box::new(WorkerIntroduction { host: "other".to_owned(), ..*introduction("a") });
        roster.apply(News::Hello(WorkerId(8), other, lock(), Time(3)));
        assert_eq!(roster.lost_games(worker), 2, "another machine's worker");
        roster.apply(News::Hello(WorkerId(9), introduction("a"), lock(), Time(3)));
        assert_eq!(roster.lost_games(worker), 0);
        roster.apply(News::Granted(worker, LeaseId(4), 3));
        roster.apply(News::Ended(LeaseId(4), LeaseEnd::GivenBack));
        assert_eq!(roster.lost_games(worker), 0);
    }

    fn lease_of(worker: WorkerId) -> LeaseState {
        LeaseState {
            lease: LeaseId(1),
            worker,
            granted: vec![GameRange { cell: CellId(1), first: 0, count: 4 }],
            outstanding: vec![GameRange { cell: CellId(1), first: 2, count: 2 }],
        }
    }

    #[test]
    fn a_worker_that_was_lost_while_the_coordinator_was_down_is_known_by_its_lease() {
        let holder = LeaseHolder {
            worker: WorkerId(3),
            name: "a".to_owned(),
            host: introduction("a").host,
            slots: 2,
            engine_revision: 2,
        };
        let restarted = || {
            let mut roster = Roster::default();
            roster.restart(&[lease_of(WorkerId(3))], vec![holder.clone()], Time(5));
            roster
        };
        let mut roster = restarted();
        let [summary] = &roster.summaries(Time(9))[..] else { panic!("one worker") };
        assert_eq!((&*summary.name, summary.leased_games, summary.silent_ms), ("a", 2, 4));
        assert!(!roster.contains(WorkerId(3)), "it has to say Hello");
        roster.apply(News::Ended(LeaseId(1), LeaseEnd::Expired));
        assert_eq!(roster.summaries(Time(9))[0].lost_games, 2);
        assert_eq!(roster.lost_games(WorkerId(3)), 2);
        roster.apply(News::Dismissed(WorkerId(3)));
        assert_eq!(roster.summaries(Time(9)), []);

        // The worker comes back, or its next start does.
        for worker in [WorkerId(3), WorkerId(4)] {
            let mut roster = restarted();
            roster.apply(News::Hello(worker, introduction("a"), lock(), Time(6)));
            roster.apply(News::Ended(LeaseId(1), LeaseEnd::GivenBack));
            let known: Vec<_> =
                roster.summaries(Time(9)).iter().map(|worker| worker.worker).collect();
            assert_eq!(known, [worker]);
        }
    }

    fn of_three_that_said_hello_at_once() -> Roster {
        let mut roster = Roster::with_places(3);
        for id in 1..=3 {
            assert!(roster.has_places(1, Time(0)));
            roster.apply(News::Hello(
                WorkerId(id),
                introduction(&format!("w{id}")),
                lock(),
                Time(0),
            ));
        }
        roster
    }

    #[test]
    fn the_longest_silent_without_a_lease_gives_its_place_up() {
        let mut roster = of_three_that_said_hello_at_once();
        roster.record_contact(WorkerId(1), Time(2));
        roster.record_contact(WorkerId(2), Time(1));
        roster.restart(&[lease_of(WorkerId(3))], Vec::new(), Time(2));
        let now = Time(SILENT_MS + 2);
        assert!(roster.has_places(1, now));
        assert!(
            !roster.contains(WorkerId(2)) && !roster.contains_uuid("of w2"),
            "it was silent longer"
        );
        assert!(roster.contains(WorkerId(1)));
        assert!(roster.contains(WorkerId(3)) && roster.contains_uuid("of w3"), "it holds a lease");
        assert_eq!(roster.summaries(Time(0))[1].leased_games, 2);
        assert!(roster.has_places(1, now), "it is free still");
        assert!(roster.has_places(2, now));
        assert!(!roster.has_places(3, now), "the lease's holder stays");
        assert!(roster.contains(WorkerId(3)));
    }

    #[test]
    fn whoever_was_heard_lately_keeps_its_place() {
        let mut roster = of_three_that_said_hello_at_once();
        for id in 1..=3 {
            roster.record_contact(WorkerId(id), Time(1));
        }
        assert!(!roster.has_places(1, Time(SILENT_MS)));
        assert!((1..=3).all(|id| roster.contains(WorkerId(id))));
    }

    #[test]
    fn a_worker_offers_what_it_has_told_and_what_it_told_grows_old() {
        let mut roster = Roster::default();
        let worker = WorkerId(7);
        let mut introduced = introduction("a");
        introduced.machine.cpu_quota = CpuQuota::new(150_000, 100_000);
        roster.apply(News::Hello(worker, introduced, lock(), Time(100)));
        let speed = Speed {
            game: "nim".to_owned(),
            nodes_per_second: 9,
            noise_permille: 1,
            slots: 2,
            age_ms: 40,
        };
        roster.record_speeds(worker, vec![speed.clone()], Time(200));
        let offer = roster.offer(worker, Time(1_200));
        assert_eq!(offer.speeds, [Speed { age_ms: 1_040, ..speed }]);
        assert!(!offer.is_alone);
        assert_eq!(offer.quota_period_us, Some(100_000), "two slots have more than that");
        roster.expect_one_worker(true);
        assert!(roster.offers(Time(1_200))[&worker].is_alone);
        assert_eq!(roster.offer(WorkerId(8), Time(0)), Offer::default());
    }
}
