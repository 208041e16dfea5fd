//! The engines of a worker: started once and used again, never more of one than may run at once.
//!
//! A game says which engines it needs before it begins, and gets room for all of them or waits: were
//! room given out one by one, two games could each hold what the other waits for. Between games engines
//! stand idle in the pool, where any slot may take them.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::build::build_of;
use crate::engine::{Engine, hash_bytes};
use crate::failure::{EngineFailure, FailureKind, Phase};
use crate::file::EngineFile;
use crate::guard::Guard;
use crate::place::Places;
use crate::process::Aborted;
use crate::situation::Conditions;
use crate::spec::{EngineSpec, Options};

/// The engines of a worker, for all its slots.
#[derive(Clone, Debug)]
pub struct Pool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    file: EngineFile,
    guard: Guard,
    places: Places,
    bounds: Bounds,
    state: Mutex<State>,
    /// Somebody has given room back.
    has_room: Condvar,
}

/// How many engines a pool has at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// So many wait for games: as many as play at once, so that all can go on.
    pub idle: usize,
    /// So many run, those that wait included. One that waits goes where another is started beyond it.
    pub running: usize,
    /// So many bytes the hash tables take of all that run. The same holds beyond it.
    pub hash_bytes: u64,
}

#[derive(Debug, Default)]
struct State {
    /// How many are in use or about to be, and the bytes of their hash tables.
    lent: (usize, u64),
    /// How many are being started.
    starting: usize,

    /// How many of each are promised to games.
    reserved: BTreeMap<String, u32>,
    /// Those that nobody uses, the longest unused first. With those in use there are never more of one
    /// name than may run at once: an idle one with other options makes room.
    idle: Vec<Engine>,
    /// How many of each have been told to go and are still there.
    leaving: BTreeMap<String, u32>,
}

/// Room for the engines of a game. It is given back when this and all engines that were taken from it are
/// dropped.
#[derive(Debug)]
pub struct Reservation {
    room: Arc<Room>,
    /// How many of each may still be taken.
    open: BTreeMap<String, u32>,
}

#[derive(Debug)]
struct Room {
    pool: Arc<Shared>,
    counts: BTreeMap<String, u32>,
}

/// An engine in use. It goes back to the pool when this is dropped, or ends if it is lost.
#[derive(Debug)]
pub struct Lent {
    engine: Option<Engine>,
    /// What it is counted with among those in use.
    hash_bytes: u64,
    room: Arc<Room>,
}

/// Why there is no room for a game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// This machine has no such engine.
    #[error("this machine has no engine `{0}`")]
    Unknown(String),
    /// The game needs more of one than may run at once.
    #[error("the game needs {needed} of `{engine}` at once, and {at_once} may run here")]
    TooMany {
        /// The engine.
        engine: String,
        /// How many the game needs.
        needed: u32,
        /// How many may run.
        at_once: u32,
    },
    /// The game was no longer wanted.
    #[error("the game was aborted")]
    Aborted,
}

/// How often whoever waits for room is asked whether it should.
const SLICE: Duration = Duration::from_millis(100);

impl Pool {
    /// A pool with nothing in it, where at most so many engines wait for games: as many as play at once,
    /// so that all can go on, and none keeps memory that nobody will need.
    #[must_use]
    pub fn new(file: EngineFile, guard: Guard, idle_max: usize) -> Self {
        let bounds = Bounds { idle: idle_max, running: usize::MAX, hash_bytes: u64::MAX };
        Self::within(file, guard, bounds)
    }

    /// The same within these bounds.
    #[must_use]
    pub fn within(file: EngineFile, guard: Guard, bounds: Bounds) -> Self {
        let (state, has_room) = (Mutex::default(), Condvar::new());
        let places = Places::default();
        Self(Arc::new(Shared { file, guard, places, bounds, state, has_room }))
    }

    /// The engines that there are.
    #[must_use]
    pub fn engines(&self) -> &EngineFile {
        &self.0.file
    }

    /// Waits until there is room for the engines of a game, each named as often as it plays.
    ///
    /// # Errors
    /// If there can never be, or `aborted` says that nobody waits for it.
    pub fn reserve(&self, names: &[&str], aborted: Aborted<'_>) -> Result<Reservation, NoRoom> {
        let mut all = BTreeMap::new();
        for name in names {
            *all.entry((*name).to_owned()).or_insert(0) += 1;
        }
        for (name, needed) in &all {
            let spec = self.0.file.get(name).ok_or_else(|| NoRoom::Unknown(name.clone()))?;
            let (needed, at_once) = (*needed, spec.at_once);
            if needed > at_once {
                return Err(NoRoom::TooMany { engine: name.clone(), needed, at_once });
            }
        }
        let mut state = self.0.lock();
        loop {
            let has_room = all.iter().all(|(name, needed)| {
                let at_once = self.0.file.get(name).map_or(0, |spec| spec.at_once);
                state.promised(name) + needed <= at_once
            });
            if has_room {
                for (name, needed) in &all {
                    *state.reserved.entry(name.clone()).or_insert(0) += needed;
                }
                let room = Room { pool: Arc::clone(&self.0), counts: all.clone() };
                return Ok(Reservation { room: Arc::new(room), open: all });
            }
            if aborted() {
                return Err(NoRoom::Aborted);
            }
            let waited = self.0.has_room.wait_timeout(state, SLICE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Ends the engines that nobody uses.
    pub fn close_idle(&self) {
        let leaving = self.0.lock().dismiss(|_| true);
        self.0.see_off(leaving);
    }
}

impl Reservation {
    /// Takes an engine for which there is room, at the beginning of a game: an idle one, if there is one
    /// with these options, and it still lives and is the build that its files are now; otherwise a new one is started.
    ///
    /// # Errors
    /// If it cannot be started, or cannot begin the game.
    ///
    /// # Panics
    /// If more engines are taken than were reserved.
    pub fn take(
        &mut self,
        name: &str,
        options: &Options,
        conditions: &Conditions,
        aborted: Aborted<'_>,
    ) -> Result<Lent, EngineFailure> {
        let pool = &self.room.pool;
        let spec = pool.file.get(name).cloned();
        let open = self.open.get_mut(name).filter(|open| **open > 0);
        let (Some(spec), Some(open)) = (spec, open) else {
            panic!("`{name}` was not reserved");
        };
        *open -= 1;
        let failed = |kind| {
            let (engine, during) = (name.to_owned(), Phase::Start);
            EngineFailure { engine, kind, during, transcript: String::new() }
        };
        let refused = |refused| failed(FailureKind::NotAllowed(refused));
        let options = spec.check_options(options).map_err(refused)?;
        if aborted() {
            return Err(failed(FailureKind::Aborted));
        }
        // One that cannot be looked at may be on its way here: who runs is what it was.
        let build = build_of(&spec).ok();
        while let Some(engine) = pool.take_idle(&spec, &options, conditions) {
            let hash_bytes = engine.hash_bytes();
            let mut engine = self.lend(Some(engine), hash_bytes);
            if !engine.is_usable() {
                continue;
            }
            if build.is_some_and(|build| build != engine.identity().build) {
                engine.discard();
                continue;
            }
            match engine.new_game(conditions, aborted) {
                Ok(()) => return Ok(engine),
                // One that died between games is not worth a game.
                Err(failure) if has_gone(&failure.kind) => {}
                // Another would say the same.
                Err(failure) => return Err(failure),
            }
        }
        let hash_bytes = hash_bytes(&spec, &options).unwrap_or(0);
        pool.make_room(&spec, hash_bytes);
        let mut lent = self.lend(None, hash_bytes);
        lent.engine = Some(pool.start(&spec, &options, aborted)?);
        lent.new_game(conditions, aborted)?;
        Ok(lent)
    }

    /// One that is counted among those in use already.
    fn lend(&self, engine: Option<Engine>, hash_bytes: u64) -> Lent {
        Lent { engine, hash_bytes, room: Arc::clone(&self.room) }
    }
}

fn has_gone(kind: &FailureKind) -> bool {
    matches!(kind, FailureKind::Crash(_) | FailureKind::Gone | FailureKind::NoAnswer { .. })
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        for (name, count) in &self.counts {
            if let Some(reserved) = state.reserved.get_mut(name) {
                *reserved = reserved.saturating_sub(*count);
            }
        }
        drop(state);
        self.pool.has_room.notify_all();
    }
}

impl State {
    /// How many of a name are there or may come, idle ones aside.
    fn promised(&self, name: &str) -> u32 {
        let count = |counts: &BTreeMap<String, u32>| counts.get(name).copied().unwrap_or(0);
        count(&self.reserved) + count(&self.leaving)
    }

    /// One more is in use.
    const fn lend(&mut self, hash_bytes: u64) {
        let (count, bytes) = self.lent;
        self.lent = (count + 1, bytes.saturating_add(hash_bytes));
    }

    /// How many run or are about to, and the bytes of their hash tables.
    fn running(&self) -> (usize, u64) {
        let (count, bytes) = self.lent;
        let idle = self.idle.iter().map(Engine::hash_bytes).fold(0, u64::saturating_add);
        (count + self.idle.len(), bytes.saturating_add(idle))
    }

    /// Takes out idle engines, which count as leaving until they have been seen off.
    fn dismiss(&mut self, which: impl FnMut(&mut Engine) -> bool) -> Vec<Engine> {
        let leaving: Vec<_> = self.idle.extract_if(.., which).collect();
        for engine in &leaving {
            *self.leaving.entry(engine.spec().name.clone()).or_insert(0) += 1;
        }
        leaving
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic is done under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An idle engine with these options, and with no limits that it cannot forget: the one that was used
    /// last, since its pages are still in memory.
    fn take_idle(
        &self,
        spec: &EngineSpec,
        options: &Options,
        conditions: &Conditions,
    ) -> Option<Engine> {
        let mut state = self.lock();
        let at = state.idle.iter().rposition(|engine| {
            engine.spec().name == spec.name
                && engine.options() == options
                && engine.suits(conditions)
        })?;
        let engine = state.idle.remove(at);
        state.lend(engine.hash_bytes());
        Some(engine)
    }

    /// Starts an engine, beside a few others at most: all cores are busy with them. Where the system has no room for
    /// it, those that nobody uses make room.
    fn start(
        &self,
        spec: &EngineSpec,
        options: &Options,
        aborted: Aborted<'_>,
    ) -> Result<Engine, EngineFailure> {
        let _turn = Turn::wait(self, aborted).ok_or_else(|| EngineFailure {
            engine: spec.name.clone(),
            kind: FailureKind::Aborted,
            during: Phase::Start,
            transcript: String::new(),
        })?;
        let start = || {
            let place = self.places.take(&spec.name);
            Engine::start_in(place, spec, options, &self.guard, aborted)
        };
        start().or_else(|failure| {
            if !matches!(failure.kind, FailureKind::Exhausted(_)) {
                return Err(failure);
            }
            let leaving = self.lock().dismiss(|_| true);
            if leaving.is_empty() {
                return Err(failure);
            }
            self.see_off(leaving);
            start()
        })
    }

    /// Ends idle engines of this name, and of others, if there would otherwise be too many with one more, and waits
    /// until those are gone that are leaving. The one more counts as in use from now on.
    fn make_room(&self, spec: &EngineSpec, hash_bytes: u64) {
        let leaving = {
            let mut state = self.lock();
            let is_it = |engine: &Engine| engine.spec().name == spec.name;
            // Those that are promised include the one that is about to be started.
            let room = spec.at_once.saturating_sub(state.promised(&spec.name)) as usize;
            let idle = state.idle.iter().filter(|engine| is_it(engine)).count();
            let mut excess = idle.saturating_sub(room);
            let mut leaving = state.dismiss(|engine| {
                let leaves = excess > 0 && is_it(engine);
                excess -= usize::from(leaves);
                leaves
            });
            state.lend(hash_bytes);
            let (mut running, mut bytes) = state.running();
            leaving.extend(state.dismiss(|engine| {
                let leaves = running > self.bounds.running || bytes > self.bounds.hash_bytes;
                if leaves {
                    running -= 1;
                    bytes = bytes.saturating_sub(engine.hash_bytes());
                }
                leaves
            }));
            leaving
        };
        self.see_off(leaving);
        let state = self.lock();
        let is_full = |state: &mut State| state.promised(&spec.name) > spec.at_once;
        drop(self.has_room.wait_while(state, is_full));
    }

    /// Ends engines that were dismissed. They may take their time to go, and nobody else waits for that.
    fn see_off(&self, leaving: Vec<Engine>) {
        for engine in leaving {
            let name = engine.spec().name.clone();
            engine.close();
            if let Some(count) = self.lock().leaving.get_mut(&name) {
                *count = count.saturating_sub(1);
            }
            self.has_room.notify_all();
        }
    }
}

impl Lent {
    /// Ends the engine instead of giving it back.
    pub fn discard(mut self) {
        self.engine = None;
    }
}

impl Deref for Lent {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        self.engine.as_ref().unwrap_or_else(|| unreachable!("it is taken only when it is dropped"))
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut Engine {
        self.engine.as_mut().unwrap_or_else(|| unreachable!("it is taken only when it is dropped"))
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let pool = &self.room.pool;
        let engine = self.engine.take().and_then(|mut it| it.is_usable().then_some(it));
        let leaving = {
            let mut state = pool.lock();
            let (count, bytes) = state.lent;
            state.lent = (count.saturating_sub(1), bytes.saturating_sub(self.hash_bytes));
            state.idle.extend(engine);
            let mut excess = state.idle.len().saturating_sub(pool.bounds.idle);
            state.dismiss(|_| {
                let leaves = excess > 0;
                excess -= usize::from(leaves);
                leaves
            })
        };
        pool.see_off(leaving);
    }
}

/// The turn of an engine to be started. It is over when this is dropped.
struct Turn<'a>(&'a Shared);

impl<'a> Turn<'a> {
    /// Waits for a turn, unless nobody waits for it.
    fn wait(pool: &'a Shared, aborted: Aborted<'_>) -> Option<Self> {
        let mut state = pool.lock();
        while state.starting >= starts_at_once() {
            if aborted() {
                return None;
            }
            let waited = pool.has_room.wait_timeout(state, SLICE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.starting += 1;
        Some(Self(pool))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.lock().starting -= 1;
        self.0.has_room.notify_all();
    }
}

/// How many engines are started at the same time: as many as there are cores, from 2 to 8. More would only keep each
/// other from being ready in time.
fn starts_at_once() -> usize {
    std::thread::available_parallelism().map_or(4, usize::from).clamp(2, 8)
}
