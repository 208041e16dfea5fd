//! The games that no slot has begun: those whose cell must still be fetched, and those that wait for a slot.
//! A slot takes a batch at once, so that games of microseconds do not spend their time here.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use spelrum_model::speed::Scaling;
use spelrum_model::{DefinitionHash, GameRange, LeaseId};

use super::api::{Batch, LeasedGames};
use super::cells::Cells;

/// A new lease is requested when the waiting games keep the slots busy for less than this: long enough for a
/// lease to arrive, short enough that no other worker starves at a sweep's end.
const LEAD: Duration = Duration::from_millis(500);

/// Playing time of a batch: short, so that batches spread evenly over the slots.
const BATCH: Duration = Duration::from_millis(10);

/// Most games in a batch.
const BATCH_GAMES_MAX: u64 = 256;

/// The same for games that are named before they are played: a lease of thousands must not take a heartbeat
/// for each, and if one of them kills the worker, the others are charged with it.
const NAMED_BATCH_MAX: u64 = 16;

/// Most games played and named by all slots (invariant 9).
const NAMED_MAX: u64 = 4_096;

/// The games.
#[derive(Clone, Debug)]
pub(super) struct Games<C> {
    /// Games whose cell is not known yet, by its definition.
    arriving: BTreeMap<DefinitionHash, Vec<(LeaseId, LeasedGames)>>,
    /// Untimed games, then timed ones.
    waiting: [Queue<C>; 2],
}

/// Games that wait for a slot.
#[derive(Clone, Debug)]
struct Queue<C> {
    tasks: VecDeque<Task<C>>,
    /// Number of games in it.
    count: u64,
}

/// Games of one range.
#[derive(Clone, Debug)]
struct Task<C> {
    lease: LeaseId,
    cell: C,
    games: LeasedGames,
}

/// Games for a slot.
#[derive(Clone, Debug)]
pub(super) struct Taken<C> {
    pub(super) batch: Batch<C>,
    /// The definition of their cell.
    pub(super) definition: DefinitionHash,
    /// Whether a heartbeat must name each game before it is played.
    pub(super) name_before_play: bool,
}

impl<C: Clone> Games<C> {
    pub(super) fn new() -> Self {
        let none = || Queue { tasks: VecDeque::new(), count: 0 };
        Self { arriving: BTreeMap::new(), waiting: [none(), none()] }
    }

    /// Adds games of a lease.
    pub(super) fn add(&mut self, lease: LeaseId, games: LeasedGames, cell: Option<C>) {
        match cell {
            Some(cell) => {
                let queue = &mut self.waiting[usize::from(games.timed)];
                queue.count += games.range.count;
                queue.tasks.push_back(Task { lease, cell, games });
            }
            None => self.arriving.entry(games.definition).or_default().push((lease, games)),
        }
    }

    /// Definitions to fetch, in order.
    pub(super) fn wanted(&self) -> impl Iterator<Item = DefinitionHash> {
        self.arriving.keys().copied()
    }

    /// Whether a definition is to be fetched.
    pub(super) fn is_wanted(&self, definition: DefinitionHash) -> bool {
        self.arriving.contains_key(&definition)
    }

    /// Releases the games that waited for this cell.
    pub(super) fn arrived(&mut self, definition: DefinitionHash, cell: &C) {
        for (lease, games) in self.take_arriving(definition) {
            self.add(lease, games, Some(cell.clone()));
        }
    }

    /// Removes and returns the games of a cell that cannot be fetched, and their leases.
    pub(super) fn take_arriving(
        &mut self,
        definition: DefinitionHash,
    ) -> Vec<(LeaseId, LeasedGames)> {
        self.arriving.remove(&definition).unwrap_or_default()
    }

    /// Forgets a lease's games.
    pub(super) fn drop(&mut self, lease: LeaseId) {
        self.arriving.retain(|_, games| {
            games.retain(|(owner, _)| *owner != lease);
            !games.is_empty()
        });
        for Queue { tasks, count } in &mut self.waiting {
            tasks.retain(|task| task.lease != lease);
            *count = tasks.iter().map(|task| task.games.range.count).sum();
        }
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    /// Whether there are no games outside the slots.
    pub(super) fn is_empty(&self) -> bool {
        self.arriving.is_empty() && self.count() == 0
    }

    /// Whether timed (or untimed) games wait for a slot.
    pub(super) const fn wait(&self, timed: bool) -> bool {
        self.waiting[timed as usize].count > 0
    }

    /// The cell of the next timed (or untimed) games, and the scaling of their time limits.
    pub(super) fn next_scaled(&self, timed: bool) -> Option<(&C, Scaling)> {
        let task = self.waiting[usize::from(timed)].tasks.front()?;
        task.games.scaling.map(|scaling| (&task.cell, scaling))
    }

    /// The next timed (or untimed) games for one of this many slots.
    pub(super) fn take(&mut self, timed: bool, slots: u64, cells: &Cells<C>) -> Option<Taken<C>> {
        let queue = &mut self.waiting[usize::from(timed)];
        let share = queue.count.div_ceil(2 * slots);
        let Task { lease, cell, games } = queue.tasks.front_mut()?;
        let LeasedGames { range, definition, game_timeout, name_before_play, timed, scaling: _ } =
            games;
        let name_before_play = *name_before_play;
        let fitting = match cells.game_time(*definition) {
            // Games of an unmeasured cell may be long.
            None => 1,
            Some(time) => u64::try_from(BATCH.as_nanos() / time.as_nanos()).unwrap_or(1),
        };
        let most = if name_before_play {
            (NAMED_MAX / slots).clamp(1, NAMED_BATCH_MAX)
        } else {
            BATCH_GAMES_MAX
        };
        let count = fitting.min(share).min(most).clamp(1, range.count);
        let batch = Batch {
            lease: *lease,
            cell: cell.clone(),
            range: GameRange { count, ..*range },
            game_timeout: *game_timeout,
            in_quiet: *timed,
            scaled: None,
        };
        let definition = *definition;
        range.first += count;
        range.count -= count;
        if range.count == 0 {
            queue.tasks.pop_front();
        }
        queue.count -= count;
        Some(Taken { batch, definition, name_before_play })
    }

    /// Whether the waiting games keep the slots busy for less than [`LEAD`]. Games of a cell that was never
    /// played are assumed to be long: one for each slot is enough. `slots` are those for untimed and for
    /// timed games, which keep each other waiting.
    pub(super) fn are_few(&self, slots: [u64; 2], cells: &Cells<C>) -> bool {
        let mut busy_ns = 0_u128;
        let waiting = self.waiting.iter().flat_map(|queue| &queue.tasks).map(|task| &task.games);
        for games in waiting.chain(self.arriving().map(|(_, games)| games)) {
            let time = cells.game_time(games.definition).unwrap_or(LEAD);
            let slots = u128::from(slots[usize::from(games.timed)].max(1));
            let work_ns = time.as_nanos() * u128::from(games.range.count);
            busy_ns = busy_ns.saturating_add(work_ns / slots);
            if busy_ns >= LEAD.as_nanos() {
                return false;
            }
        }
        true
    }

    /// The games whose cell is not known yet.
    fn arriving(&self) -> impl Iterator<Item = &(LeaseId, LeasedGames)> {
        self.arriving.values().flatten()
    }

    /// Every range, and its lease.
    pub(super) fn iter(&self) -> impl Iterator<Item = (LeaseId, GameRange)> {
        let waiting = self.waiting.iter().flat_map(|queue| &queue.tasks);
        let waiting = waiting.map(|task| (task.lease, task.games.range));
        waiting.chain(self.arriving().map(|(lease, games)| (*lease, games.range)))
    }

    /// Number of games that wait for a slot.
    pub(super) const fn count(&self) -> u64 {
        self.waiting[0].count + self.waiting[1].count
    }
}

#[cfg(test)]
mod tests {
    use spelrum_model::{CellId, GameId};

    use super::*;

    fn hash(cell: i64) -> DefinitionHash {
        DefinitionHash::from_json(&cell.to_string())
    }

    /// Cells with these game times.
    fn cells(times: &[(i64, Option<Duration>)]) -> Cells<()> {
        let mut cells = Cells::new();
        for &(cell, time) in times {
            cells.keep(hash(cell), ());
            if let Some(time) = time {
                cells.measured(hash(cell), 1, time);
            }
        }
        cells
    }

    fn leased(cell: i64, first: u64, count: u64) -> LeasedGames {
        let range = GameRange { cell: CellId(cell), first, count };
        let (definition, game_timeout) = (hash(cell), None);
        let (name_before_play, timed, scaling) = (false, false, None);
        LeasedGames { range, definition, game_timeout, name_before_play, timed, scaling }
    }

    #[test]
    fn batches_hold_every_game_once() {
        for (count, time) in [
            (1, None),
            (1_000, None),
            (1_000, Some(Duration::from_nanos(1))),
            (4_096, Some(Duration::from_micros(50))),
            (64, Some(Duration::from_millis(3))),
            (64, Some(Duration::from_secs(100))),
        ] {
            for slots in [1, 2, 64] {
                let cells = cells(&[(1, time), (2, None)]);
                let mut games = Games::new();
                games.add(LeaseId(1), leased(1, 10, count), Some(()));
                games.add(LeaseId(1), leased(2, 0, count), Some(()));
                let mut taken = Vec::new();
                while let Some(next) = games.take(false, slots, &cells) {
                    let GameRange { cell, first, count } = next.batch.range;
                    assert!((1..=BATCH_GAMES_MAX).contains(&count));
                    taken.extend((first..first + count).map(|number| GameId { cell, number }));
                }
                let first = (10..10 + count).map(|number| GameId { cell: CellId(1), number });
                let second = (0..count).map(|number| GameId { cell: CellId(2), number });
                assert_eq!(taken, first.chain(second).collect::<Vec<_>>());
                assert_eq!(games.count(), 0);
            }
        }
    }

    #[test]
    fn batches_are_as_long_as_games_are_short() {
        let length_of = |leased, time| {
            let mut games = Games::new();
            games.add(LeaseId(1), leased, Some(()));
            games.take(false, 1, &cells(&[(1, time)])).unwrap().batch.range.count
        };
        let length = |time| length_of(leased(1, 0, 100_000), time);
        assert_eq!(length(None), 1, "what is not known may be long");
        assert_eq!(length(Some(Duration::from_secs(1))), 1);
        assert_eq!(length(Some(Duration::from_millis(1))), 10);
        let short = Some(Duration::from_micros(1));
        assert_eq!(length(short), BATCH_GAMES_MAX);
        let lost = LeasedGames { name_before_play: true, ..leased(1, 0, 100_000) };
        assert_eq!(length_of(lost, short), NAMED_BATCH_MAX, "each is to be named");
        assert_eq!(length_of(lost, None), 1);
    }

    #[test]
    fn more_is_wanted_before_the_slots_run_dry() {
        let few = |count, time, cell| {
            let mut games = Games::new();
            if count > 0 {
                games.add(LeaseId(1), leased(1, 0, count), cell);
            }
            games.are_few([2, 1], &cells(&[(1, time)]))
        };
        for cell in [None, Some(())] {
            assert!(few(0, None, cell));
            assert!(few(1, None, cell) && !few(2, None, cell), "one for each slot");
            let short = Some(Duration::from_millis(1));
            assert!(few(999, short, cell) && !few(1_001, short, cell), "half a second for two");
            assert!(!few(1, Some(Duration::from_secs(2)), cell));
        }
    }

    #[test]
    fn timed_games_and_others_wait_apart() {
        let cells = cells(&[]);
        let timed = |cell, count| LeasedGames { timed: true, ..leased(cell, 0, count) };
        let mut games = Games::new();
        games.add(LeaseId(1), timed(1, 3), Some(()));
        assert!(games.wait(true) && !games.wait(false) && !games.is_empty());
        assert!(games.take(false, 4, &cells).is_none());
        assert!(!games.are_few([4, 1], &cells), "one quiet slot has enough");
        games.add(LeaseId(2), leased(2, 0, 1), Some(()));
        assert!(!games.take(false, 4, &cells).unwrap().batch.in_quiet);
        let taken = games.take(true, 1, &cells).unwrap();
        assert!(taken.batch.in_quiet && taken.batch.range.cell == CellId(1));
        assert_eq!(games.count(), 2);
        games.drop(LeaseId(1));
        assert!(games.is_empty());
        games.add(LeaseId(3), timed(1, 1), Some(()));
        assert!(games.are_few([4, 2], &cells), "half of two quiet slots");
    }

    #[test]
    fn games_wait_for_their_cell() {
        let cells = cells(&[]);
        let mut games = Games::new();
        games.add(LeaseId(1), leased(1, 0, 3), None);
        games.add(LeaseId(1), leased(2, 0, 3), None);
        games.add(LeaseId(2), leased(2, 5, 3), None);
        assert!(games.take(false, 1, &cells).is_none());
        let mut wanted = [hash(1), hash(2)];
        wanted.sort_unstable();
        assert_eq!(games.wanted().collect::<Vec<_>>(), wanted);
        games.arrived(hash(2), &());
        assert_eq!(games.count(), 6);
        assert_eq!(games.take_arriving(hash(1)), [(LeaseId(1), leased(1, 0, 3))]);
        assert!(!games.is_wanted(hash(1)));
        games.drop(LeaseId(1));
        assert_eq!(games.iter().count(), 1);
        assert_eq!(games.count(), 3);
        games.add(LeaseId(3), leased(3, 0, 1), None);
        games.add(LeaseId(4), leased(3, 1, 1), None);
        games.drop(LeaseId(3));
        assert!(games.is_wanted(hash(3)));
        games.drop(LeaseId(4));
        assert!(!games.is_wanted(hash(3)));
    }
}
