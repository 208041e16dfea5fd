//! What a worker holds: its leases, and the games of them that no slot has begun.
//!
//! Slots are plain threads and the rest is async: this is where they meet, behind one mutex that
//! is held for moments. A slot takes a chunk of games at once, so that games of microseconds do
//! not spend their time here.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use spelrum_tournament::{CellId, GameId, GameRange, LeaseId, PlayableCell};
use tokio::sync::Notify;

/// A new lease is asked for when what is waiting keeps the slots busy for less than this: long
/// enough for a lease to arrive, short enough that no other worker starves at a sweep's end.
const LEAD: Duration = Duration::from_millis(500);

/// How much playing one chunk is: short, so that chunks spread evenly over the slots.
const CHUNK: Duration = Duration::from_millis(10);

/// A game that takes longer than this is named by a heartbeat as it starts.
const LONG_GAME: Duration = Duration::from_secs(1);

/// Most games in a chunk.
const CHUNK_GAMES_MAX: u64 = 256;

/// Where slots and the async side meet.
#[derive(Debug)]
pub(crate) struct Pool {
    slots: NonZeroU32,
    state: Mutex<State>,
    /// Slots wait here for games.
    arrived: Condvar,
    /// The leasing task waits here until more games are wanted.
    low: Notify,
    /// Told when the last lease has ended.
    empty: Notify,
    /// Told when a heartbeat is wanted before its time.
    hasten: Notify,
    /// Whether slots stop after the game in progress.
    closing: AtomicBool,
    /// Whether slots stop at once.
    aborting: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    leases: BTreeMap<LeaseId, Held>,
    waiting: VecDeque<Task>,
    /// Which results database the leases are of; see [`crate::link::Session::generation`].
    generation: u64,
    closed: bool,
}

/// A lease that is held.
#[derive(Debug)]
struct Held {
    lease: Arc<Lease>,
    /// Its games whose results are not acknowledged.
    outstanding: u64,
}

/// A lease, as slots see it.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) id: LeaseId,
    /// Which results database it is of; see [`crate::link::Session::generation`].
    pub(crate) generation: u64,
    /// Whether it is of one game: of one that may have taken a worker with it before.
    alone: bool,
    /// Whether its games are no longer wanted from us.
    dropped: AtomicBool,
}

impl Lease {
    /// Whether its games are no longer wanted from us.
    pub(crate) fn is_dropped(&self) -> bool {
        self.dropped.load(Ordering::Relaxed)
    }
}

/// A cell that is ready to be played, with how long its games take.
#[derive(Debug)]
pub(crate) struct Cell {
    /// As the lease's definition hash named it; `Err` if this engine cannot play it.
    pub(crate) playable: Result<PlayableCell, String>,
    /// Mean time of a game in nanoseconds, of late; 0 while unknown.
    game_ns: AtomicU64,
}

impl Cell {
    pub(crate) fn new(playable: Result<PlayableCell, String>) -> Self {
        Self { playable, game_ns: AtomicU64::new(0) }
    }

    /// Takes note of how long some games took together.
    pub(crate) fn measured(&self, games: u64, took: Duration) {
        let Some(mean) = took.as_nanos().checked_div(games.into()) else { return };
        let mean = u64::try_from(mean).unwrap_or(u64::MAX).max(1);
        let before = self.game_ns.load(Ordering::Relaxed);
        // Half of it is the last chunk: quick to learn, and a single odd chunk is soon forgotten.
        let now = if before == 0 { mean } else { before / 2 + mean / 2 };
        self.game_ns.store(now.max(1), Ordering::Relaxed);
    }

    fn game_time(&self) -> Option<Duration> {
        match self.game_ns.load(Ordering::Relaxed) {
            0 => None,
            ns => Some(Duration::from_nanos(ns)),
        }
    }
}

/// Successive games of one cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Games {
    /// Which games.
    pub(crate) range: GameRange,
    /// How long one may take before it fails.
    pub(crate) game_timeout: Option<Duration>,
}

impl From<GameRange> for Games {
    fn from(range: GameRange) -> Self {
        Self { range, game_timeout: None }
    }
}

/// Games of one range that wait for a slot.
#[derive(Debug)]
struct Task {
    lease: Arc<Lease>,
    cell: Arc<Cell>,
    range: GameRange,
    game_timeout: Option<Duration>,
}

/// Some games for one slot.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) lease: Arc<Lease>,
    pub(crate) cell: Arc<Cell>,
    pub(crate) cell_id: CellId,
    pub(crate) first: u64,
    pub(crate) end: u64,
    /// How long a game may take before it fails.
    pub(crate) game_timeout: Option<Duration>,
}

impl Pool {
    pub(crate) fn new(slots: NonZeroU32) -> Self {
        Self {
            slots,
            state: Mutex::default(),
            arrived: Condvar::new(),
            low: Notify::new(),
            empty: Notify::new(),
            hasten: Notify::new(),
            closing: AtomicBool::new(false),
            aborting: AtomicBool::new(false),
        }
    }

    /// Takes hold of a lease of so many games. Its games come with [`Pool::add`]. One of another
    /// results database than the one we talk to is dropped from the beginning.
    pub(crate) fn hold(&self, id: LeaseId, generation: u64, games: u64) -> Arc<Lease> {
        let mut state = self.state();
        let is_foreign = generation != state.generation;
        let dropped = AtomicBool::new(is_foreign);
        let lease = Arc::new(Lease { id, generation, alone: games == 1, dropped });
        if !is_foreign {
            let held = Held { lease: Arc::clone(&lease), outstanding: games };
            state.leases.insert(id, held);
        }
        lease
    }

    /// Lets slots play some games of a lease.
    pub(crate) fn add(&self, lease: &Arc<Lease>, cell: Arc<Cell>, games: impl Into<Games>) {
        let Games { range, game_timeout } = games.into();
        let mut state = self.state();
        if state.closed || lease.is_dropped() {
            return;
        }
        state.waiting.push_back(Task { lease: Arc::clone(lease), cell, range, game_timeout });
        drop(state);
        self.arrived.notify_all();
    }

    /// The next games for a slot; waits for some. `None` when the pool is closed.
    pub(crate) fn take(&self) -> Option<Chunk> {
        let mut state = self.state();
        loop {
            if state.closed {
                return None;
            }
            if let Some(chunk) = state.take(self.slots) {
                let is_low = state.is_low(self.slots);
                drop(state);
                if is_low {
                    self.low.notify_one();
                }
                return Some(chunk);
            }
            state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until so few games are waiting that more are wanted.
    pub(crate) async fn wants_more(&self) {
        while !self.state().is_low(self.slots) {
            self.low.notified().await;
        }
    }

    /// Takes note that so many results of leases were acknowledged. A lease without outstanding
    /// games has ended.
    pub(crate) fn acknowledge(&self, leases: impl IntoIterator<Item = LeaseId>) {
        let mut state = self.state();
        for lease in leases {
            if let Some(held) = state.leases.get_mut(&lease) {
                held.outstanding = held.outstanding.saturating_sub(1);
                if held.outstanding == 0 {
                    state.leases.remove(&lease);
                }
            }
        }
        self.tell_if_empty(&state);
    }

    /// Drops leases that are no longer ours: games not begun are forgotten, games in progress
    /// aborted.
    pub(crate) fn drop_leases(&self, leases: impl IntoIterator<Item = LeaseId>) {
        let mut state = self.state();
        for lease in leases {
            if let Some(held) = state.leases.remove(&lease) {
                held.lease.dropped.store(true, Ordering::Relaxed);
            }
        }
        state.waiting.retain(|task| !task.lease.is_dropped());
        self.tell_if_empty(&state);
        drop(state);
        self.low.notify_one();
    }

    /// Drops every lease: what comes from now on is of another results database.
    pub(crate) fn restart(&self, generation: u64) {
        self.state().generation = generation;
        self.drop_leases(self.held());
    }

    /// The leases that are held.
    pub(crate) fn held(&self) -> Vec<LeaseId> {
        self.state().leases.keys().copied().collect()
    }

    /// Waits until no lease is held.
    pub(crate) async fn emptied(&self) {
        loop {
            let emptied = self.empty.notified();
            if self.state().leases.is_empty() {
                return;
            }
            emptied.await;
        }
    }

    /// Asks for a heartbeat before its time, since a game has started that might take its worker
    /// with it.
    pub(crate) fn hasten_heartbeat(&self) {
        self.hasten.notify_one();
    }

    /// Waits until somebody has asked for a heartbeat before its time; one who asked before this
    /// was called counts.
    pub(crate) async fn heartbeat_hastened(&self) {
        self.hasten.notified().await;
    }

    /// Hands out no more games: slots end after the game in progress. Leases stay held, so that
    /// they can be given back.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.waiting.clear();
        drop(state);
        self.closing.store(true, Ordering::Relaxed);
        self.arrived.notify_all();
    }

    /// Whether slots stop after the game in progress.
    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Closes, and ends the games in progress.
    pub(crate) fn abort(&self) {
        self.aborting.store(true, Ordering::Relaxed);
        self.close();
    }

    /// Whether slots stop at once.
    pub(crate) fn is_aborting(&self) -> bool {
        self.aborting.load(Ordering::Relaxed)
    }

    fn tell_if_empty(&self, state: &State) {
        if state.leases.is_empty() {
            self.empty.notify_one();
        }
    }

    /// A panic elsewhere leaves nothing half done here.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self, slots: NonZeroU32) -> Option<Chunk> {
        let share = self.games().div_ceil(2 * u64::from(slots.get()));
        let task = self.waiting.front_mut()?;
        let fitting = match task.cell.game_time() {
            // What is not known may be long.
            None => 1,
            Some(time) => u64::try_from(CHUNK.as_nanos() / time.as_nanos()).unwrap_or(1),
        };
        let games = fitting.min(share).min(CHUNK_GAMES_MAX).clamp(1, task.range.count);
        let chunk = Chunk {
            lease: Arc::clone(&task.lease),
            cell: Arc::clone(&task.cell),
            cell_id: task.range.cell,
            first: task.range.first,
            end: task.range.first + games,
            game_timeout: task.game_timeout,
        };
        task.range.first += games;
        task.range.count -= games;
        if task.range.count == 0 {
            self.waiting.pop_front();
        }
        Some(chunk)
    }

    fn games(&self) -> u64 {
        self.waiting.iter().map(|task| task.range.count).sum()
    }

    /// Whether what is waiting keeps the slots busy for less than [`LEAD`]. Games of a cell that
    /// was never played are taken for long ones: one for each slot is enough of them.
    fn is_low(&self, slots: NonZeroU32) -> bool {
        let busy = |task: &Task| match task.cell.game_time() {
            None => LEAD.as_secs_f64() * task.range.count as f64,
            Some(time) => time.as_secs_f64() * task.range.count as f64,
        };
        let waiting: f64 = self.waiting.iter().map(busy).sum();
        waiting < LEAD.as_secs_f64() * f64::from(slots.get())
    }
}

impl Chunk {
    /// Whether a heartbeat must name its games as they start. The coordinator charges a lost lease
    /// only to the games that a heartbeat named: a game that kills its worker between two of them
    /// would be leased, and kill, for ever. A cell that was never played here may be such a one:
    /// after its kill the next worker knows no more.
    pub(crate) fn is_to_be_named(&self) -> bool {
        self.lease.alone || self.cell.game_time().is_none_or(|time| time >= LONG_GAME)
    }

    /// The games of the chunk.
    pub(crate) fn games(&self) -> impl Iterator<Item = GameId> + use<> {
        let cell = self.cell_id;
        (self.first..self.end).map(move |number| GameId { cell, number })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const ONE: NonZeroU32 = NonZeroU32::MIN;

    /// A cell whose games are never played here.
    fn cell(game_time: Option<Duration>) -> Arc<Cell> {
        let cell = Cell::new(Err("not in this test".to_owned()));
        if let Some(time) = game_time {
            cell.measured(1, time);
        }
        Arc::new(cell)
    }

    fn range(cell: i64, first: u64, count: u64) -> GameRange {
        GameRange { cell: CellId(cell), first, count }
    }

    fn slots(slots: u32) -> NonZeroU32 {
        NonZeroU32::new(slots).unwrap()
    }

    /// Everything that can be taken, as chunks.
    fn take_all(pool: &Pool) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        while pool.state().games() > 0 {
            chunks.push(pool.take().unwrap());
        }
        chunks
    }

    #[test]
    fn chunks_hold_every_game_once() {
        for (count, time) in [
            (1, None),
            (1_000, None),
            (1_000, Some(Duration::from_nanos(1))),
            (4_096, Some(Duration::from_micros(50))),
            (64, Some(Duration::from_millis(3))),
            (64, Some(Duration::from_secs(100))),
        ] {
            for number_of_slots in [1, 2, 64] {
                let pool = Pool::new(slots(number_of_slots));
                let lease = pool.hold(LeaseId(1), 0, 2 * count);
                pool.add(&lease, cell(time), range(1, 10, count));
                pool.add(&lease, cell(None), range(2, 0, count));
                let chunks = take_all(&pool);
                assert!(chunks.iter().all(|chunk| chunk.end - chunk.first <= CHUNK_GAMES_MAX));
                let games: Vec<_> = chunks.iter().flat_map(Chunk::games).collect();
                let distinct: BTreeSet<_> = games.iter().copied().collect();
                assert_eq!(games.len() as u64, 2 * count);
                assert_eq!(distinct.len() as u64, 2 * count);
                assert!(distinct.iter().all(|game| match game.cell {
                    CellId(1) => (10..10 + count).contains(&game.number),
                    _ => game.number < count,
                }));
            }
        }
    }

    #[test]
    fn chunks_are_as_long_as_games_are_short() {
        let length = |time| {
            let pool = Pool::new(ONE);
            let lease = pool.hold(LeaseId(1), 0, 100_000);
            pool.add(&lease, cell(time), range(1, 0, 100_000));
            let chunk = pool.take().unwrap();
            chunk.end - chunk.first
        };
        assert_eq!(length(None), 1, "what is not known may be long");
        assert_eq!(length(Some(Duration::from_secs(1))), 1);
        assert_eq!(length(Some(Duration::from_millis(1))), 10);
        assert_eq!(length(Some(Duration::from_micros(1))), CHUNK_GAMES_MAX);
    }

    #[test]
    fn more_is_wanted_before_the_slots_run_dry() {
        let low = |games, time| {
            let pool = Pool::new(slots(2));
            let lease = pool.hold(LeaseId(1), 0, 1);
            if games > 0 {
                pool.add(&lease, cell(time), range(1, 0, games));
            }
            pool.state().is_low(slots(2))
        };
        assert!(low(0, None));
        assert!(low(1, None) && !low(2, None), "one for each slot of what is not known");
        let short = Some(Duration::from_millis(1));
        assert!(low(999, short) && !low(1_001, short), "half a second for two slots");
        assert!(!low(1, Some(Duration::from_secs(2))));
    }

    #[test]
    fn a_lease_ends_with_its_last_acknowledgement() {
        let pool = Pool::new(ONE);
        pool.hold(LeaseId(1), 0, 2);
        pool.hold(LeaseId(2), 0, 1);
        pool.acknowledge([LeaseId(1), LeaseId(9)]);
        assert_eq!(pool.held(), [LeaseId(1), LeaseId(2)]);
        pool.acknowledge([LeaseId(2), LeaseId(1)]);
        assert_eq!(pool.held(), []);
    }

    #[test]
    fn a_dropped_lease_is_neither_played_nor_held() {
        let pool = Pool::new(ONE);
        let (dropped, kept) = (pool.hold(LeaseId(1), 0, 8), pool.hold(LeaseId(2), 0, 8));
        pool.add(&dropped, cell(None), range(1, 0, 4));
        pool.add(&kept, cell(None), range(2, 0, 8));
        pool.drop_leases([LeaseId(1), LeaseId(7)]);
        pool.add(&dropped, cell(None), range(1, 4, 4));
        assert!(dropped.is_dropped() && !kept.is_dropped());
        assert_eq!(pool.held(), [LeaseId(2)]);
        let chunks = take_all(&pool);
        assert!(chunks.iter().all(|chunk| chunk.cell_id == CellId(2)));
        assert_eq!(chunks.iter().flat_map(Chunk::games).count(), 8);
    }

    /// What was granted by a coordinator that is gone means nothing in another's database.
    #[test]
    fn leases_of_another_database_are_not_held() {
        let pool = Pool::new(ONE);
        let before = pool.hold(LeaseId(1), 0, 8);
        pool.restart(1);
        assert!(before.is_dropped());
        assert!(pool.hold(LeaseId(2), 0, 8).is_dropped(), "its grant was still travelling");
        assert_eq!(pool.held(), []);
        assert!(!pool.hold(LeaseId(1), 1, 8).is_dropped());
        assert_eq!(pool.held(), [LeaseId(1)]);
    }

    #[test]
    fn a_closed_pool_lets_its_slots_go_but_knows_its_leases() {
        let pool = Arc::new(Pool::new(ONE));
        let waiting = {
            let pool = Arc::clone(&pool);
            std::thread::spawn(move || pool.take().is_none())
        };
        pool.close();
        assert!(waiting.join().unwrap());
        let lease = pool.hold(LeaseId(1), 0, 8);
        pool.add(&lease, cell(None), range(1, 0, 8));
        assert!(pool.take().is_none());
        assert_eq!(pool.held(), [LeaseId(1)], "to be given back");
        assert!(pool.is_closing() && !pool.is_aborting());
        pool.abort();
        assert!(pool.is_aborting());
    }

    #[tokio::test]
    async fn emptiness_is_told() {
        let pool = Pool::new(ONE);
        pool.emptied().await;
        pool.hold(LeaseId(1), 0, 1);
        let ending = async {
            tokio::task::yield_now().await;
            pool.acknowledge([LeaseId(1)]);
        };
        tokio::join!(pool.emptied(), ending);
    }
}
