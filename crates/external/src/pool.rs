//! The engines of a worker: started once and reused, never more of one than may run at once.
//!
//! A game names its engines before it begins, and gets room for all of them or waits: if room were given out
//! one by one, two games could each hold what the other needs. Between games engines are idle in the pool,
//! available to every slot. An engine that answers several requests at the same time is shared by as many games.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use crate::build::hash_build;
use crate::engine::{Engine, hash_bytes};
use crate::failure::{EngineFailure, FailureKind, Phase};
use crate::file::EngineFile;
use crate::guard::Guard;
use crate::place::Places;
use crate::process::Aborted;
use crate::protocol::Protocol;
use crate::situation::Conditions;
use crate::spec::{EngineSpec, Options};

/// The engines of a worker, for all its slots.
#[derive(Clone, Debug)]
pub struct Pool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    file: RwLock<Arc<EngineFile>>,
    guard: Guard,
    places: Places,
    bounds: Bounds,
    state: Mutex<State>,
    /// Notified when room is given back.
    has_room: Condvar,
}

/// The bounds of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The most idle engines: as many as play at once, so that all can be reused.
    pub idle: usize,
    /// The most running engines, idle ones included. Beyond it, an idle one is ended for a new one.
    pub running: usize,
    /// The most bytes of hash tables of all running engines; the same applies beyond it.
    pub hash_bytes: u64,
}

#[derive(Debug, Default)]
struct State {
    /// The engines in use or about to be, and the bytes of their hash tables.
    in_use: (usize, u64),
    /// The number of starting engines.
    starting: usize,

    /// The number promised to games, by engine.
    reserved: BTreeMap<String, u32>,
    /// Idle engines, the longest unused first. With those in use there are never more of one name than may
    /// run at once: an idle one with other options makes room.
    idle: Vec<Engine>,
    /// Engines that hold several games.
    shared: Vec<SharedEngine>,
    shared_so_far: u64,
    /// The names of engines of which another may turn out to hold several games when it has started.
    awaited: BTreeSet<String>,
    /// Builds that hold one game at a time.
    exclusive: BTreeMap<String, [u8; 32]>,
    /// The number that are ending, by engine.
    leaving: BTreeMap<String, u32>,
}

/// An engine that holds several games.
#[derive(Debug)]
struct SharedEngine {
    number: u64,
    /// It plays nothing itself.
    trunk: Engine,
    /// The number of its games.
    games: u32,
}

/// Room for the engines of a game, given back when this and all engines taken from it are dropped.
#[derive(Debug)]
pub struct Reservation {
    room: Arc<Room>,
    /// The number that may still be taken, by engine.
    open: BTreeMap<String, u32>,
}

#[derive(Debug)]
struct Room {
    pool: Arc<Shared>,
    /// The engines when the room was given.
    engines: Arc<EngineFile>,
    counts: BTreeMap<String, u32>,
}

/// An engine in use. When this is dropped it returns to the pool, or ends if it is lost.
#[derive(Debug)]
pub struct LeasedEngine {
    engine: Option<Engine>,
    /// The number of the engine that it shares with other games.
    shared: Option<u64>,
    /// Its counted bytes among those in use.
    hash_bytes: u64,
    room: Arc<Room>,
}

/// Why there is no room for a game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// This machine lacks the engine.
    #[error("this machine has no engine `{0}`")]
    Unknown(String),
    /// The game needs more of one than may run at once.
    #[error("the game needs {needed} instances of `{engine}`, but at most {at_once} may run here")]
    TooMany {
        /// The engine.
        engine: String,
        /// The number needed.
        needed: u32,
        /// The number allowed.
        at_once: u32,
    },
    /// The game was no longer wanted.
    #[error("the game was aborted")]
    Aborted,
}

/// The interval at which a waiting caller is polled.
const SLICE: Duration = Duration::from_millis(100);

impl Pool {
    /// An empty pool, with at most this many idle engines: as many as play at once, so that all can be
    /// reused, and no memory is kept needlessly.
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
        let file = RwLock::new(Arc::new(file));
        Self(Arc::new(Shared { file, guard, places, bounds, state, has_room }))
    }

    /// The engines file, with the engines that were added.
    #[must_use]
    pub fn engines(&self) -> Arc<EngineFile> {
        self.0.engines()
    }

    /// The guard of its engines.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.0.guard
    }

    /// Adds an engine to those of the file.
    pub fn add(&self, engine: EngineSpec) {
        self.0.change_engines(|file| file.add(engine));
    }

    /// Removes an engine. Games that have it go on.
    pub fn remove(&self, name: &str) {
        self.0.change_engines(|file| file.remove(name));
    }

    /// Waits until there is room for the engines of a game, each named as often as it plays.
    ///
    /// # Errors
    /// If there can never be room, or `aborted` reports that it is no longer wanted.
    pub fn reserve(&self, names: &[&str], aborted: Aborted<'_>) -> Result<Reservation, NoRoom> {
        let mut all = BTreeMap::new();
        for name in names {
            *all.entry((*name).to_owned()).or_insert(0) += 1;
        }
        let engines = self.engines();
        for (name, needed) in &all {
            let spec = engines.get(name).ok_or_else(|| NoRoom::Unknown(name.clone()))?;
            let (needed, at_once) = (*needed, spec.at_once);
            if needed > at_once {
                return Err(NoRoom::TooMany { engine: name.clone(), needed, at_once });
            }
        }
        let mut state = self.0.lock();
        loop {
            let has_room = all.iter().all(|(name, needed)| {
                let at_once = engines.get(name).map_or(0, |spec| spec.at_once);
                state.reserved_or_leaving(name) + needed <= at_once
            });
            if has_room {
                for (name, needed) in &all {
                    *state.reserved.entry(name.clone()).or_insert(0) += needed;
                }
                let room = Room { pool: Arc::clone(&self.0), engines, counts: all.clone() };
                return Ok(Reservation { room: Arc::new(room), open: all });
            }
            if aborted() {
                return Err(NoRoom::Aborted);
            }
            let waited = self.0.has_room.wait_timeout(state, SLICE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Ends the idle engines.
    pub fn close_idle(&self) {
        let leaving = self.0.lock().dismiss(|_| true);
        self.0.close_dismissed(leaving);
    }
}

impl Reservation {
    /// Takes an engine for a new game: an idle one with these options, if it still runs and its files have
    /// not changed; otherwise a new one is started.
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
    ) -> Result<LeasedEngine, EngineFailure> {
        let pool = &self.room.pool;
        let spec = self.room.engines.get(name).cloned();
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
        // If the files cannot be read, possibly in the middle of a change, the running build
        // counts.
        let build = hash_build(&spec).ok();
        if let Some(engine) = self.share(&spec, &options, conditions, build, aborted)? {
            return Ok(engine);
        }
        while let Some(engine) = pool.take_idle(&spec, &options, conditions) {
            let hash_bytes = engine.hash_bytes();
            let mut engine = self.lease(Some(engine), hash_bytes);
            if !engine.is_usable() {
                continue;
            }
            if build.is_some_and(|build| build != engine.identity().build) {
                engine.discard();
                continue;
            }
            match engine.new_game(conditions, aborted) {
                Ok(()) => return Ok(engine),
                // An engine that died between games should not cost a game.
                Err(failure) if has_gone(&failure.kind) => {}
                // Another would fail in the same way.
                Err(failure) => return Err(failure),
            }
        }
        // Without a game, it is asked for its name alone.
        let may_be_shared = spec.protocol == Protocol::Lines && conditions.game.is_some();
        let mut first = None;
        while may_be_shared && first.is_none() {
            first = First::claim(pool, &spec.name, build);
            if first.is_none() {
                pool.wait_for_room(aborted).map_err(failed)?;
            }
            // After a claim too: the start before it may have ended just now.
            if let Some(engine) = self.share(&spec, &options, conditions, build, aborted)? {
                return Ok(engine);
            }
        }
        let hash_bytes = hash_bytes(&spec, &options).unwrap_or(0);
        pool.make_room(&spec, hash_bytes);
        let mut engine = self.lease(None, hash_bytes);
        let started = pool.start(conditions, &spec, &options, aborted)?;
        if may_be_shared && started.parallel() > 1 {
            engine.begin_sharing(started);
        } else {
            if may_be_shared {
                let name = spec.name.clone();
                pool.lock().exclusive.insert(name, started.identity().build);
            }
            engine.engine = Some(started);
        }
        drop(first);
        engine.new_game(conditions, aborted)?;
        Ok(engine)
    }

    /// Takes a place at an engine that other games use, or used, and that holds another one.
    fn share(
        &self,
        spec: &EngineSpec,
        options: &Options,
        conditions: &Conditions,
        build: Option<[u8; 32]>,
        aborted: Aborted<'_>,
    ) -> Result<Option<LeasedEngine>, EngineFailure> {
        let suits = |engine: &mut Engine| {
            engine.is_shared()
                && engine.spec().name == spec.name
                && engine.options() == options
                && engine.suits(conditions)
                && build.is_none_or(|build| build == engine.identity().build)
                && engine.is_usable()
        };
        loop {
            let seat = self.room.pool.lock().seat(suits);
            let Some((engine, number)) = seat else { return Ok(None) };
            let mut engine = self.lease(Some(engine), 0);
            engine.shared = Some(number);
            match engine.new_game(conditions, aborted) {
                Ok(()) => return Ok(Some(engine)),
                // An engine that died between games should not cost a game.
                Err(failure) if has_gone(&failure.kind) => {}
                Err(failure) => return Err(failure),
            }
        }
    }

    /// An engine that is already counted among those in use.
    fn lease(&self, engine: Option<Engine>, hash_bytes: u64) -> LeasedEngine {
        LeasedEngine { engine, shared: None, hash_bytes, room: Arc::clone(&self.room) }
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
    /// The number of a name that is in use or promised, without idle ones.
    fn reserved_or_leaving(&self, name: &str) -> u32 {
        let count = |counts: &BTreeMap<String, u32>| counts.get(name).copied().unwrap_or(0);
        count(&self.reserved) + count(&self.leaving)
    }

    /// A seat at an engine that holds another game, and the engine's number.
    fn seat(&mut self, mut suits: impl FnMut(&mut Engine) -> bool) -> Option<(Engine, u64)> {
        for SharedEngine { number, trunk, games } in &mut self.shared {
            if *games < trunk.parallel() && suits(trunk) {
                let seat = trunk.for_another_game()?;
                *games += 1;
                return Some((seat, *number));
            }
        }
        let at = self.idle.iter_mut().rposition(suits)?;
        let seat = self.idle[at].for_another_game()?;
        let trunk = self.idle.remove(at);
        self.lease(trunk.hash_bytes());
        Some((seat, self.add_shared(trunk)))
    }

    /// Adds an engine with its first game; it is counted among those in use already.
    fn add_shared(&mut self, trunk: Engine) -> u64 {
        self.shared_so_far += 1;
        let number = self.shared_so_far;
        self.shared.push(SharedEngine { number, trunk, games: 1 });
        number
    }

    /// Ends a game of a shared engine. Returns the engine if it was the last one.
    fn end_shared_game(&mut self, number: u64) -> Option<Engine> {
        let at = self.shared.iter().position(|shared| shared.number == number)?;
        self.shared[at].games = self.shared[at].games.saturating_sub(1);
        (self.shared[at].games == 0).then(|| self.shared.swap_remove(at).trunk)
    }

    /// Counts one more in use.
    const fn lease(&mut self, hash_bytes: u64) {
        let (count, bytes) = self.in_use;
        self.in_use = (count + 1, bytes.saturating_add(hash_bytes));
    }

    /// The number that run or are about to, and the bytes of their hash tables.
    fn running(&self) -> (usize, u64) {
        let (count, bytes) = self.in_use;
        let idle = self.idle.iter().map(Engine::hash_bytes).fold(0, u64::saturating_add);
        (count + self.idle.len(), bytes.saturating_add(idle))
    }

    /// Takes out idle engines, which count as leaving until they have ended.
    fn dismiss(&mut self, is_leaving: impl FnMut(&mut Engine) -> bool) -> Vec<Engine> {
        let leaving: Vec<_> = self.idle.extract_if(.., is_leaving).collect();
        for engine in &leaving {
            *self.leaving.entry(engine.spec().name.clone()).or_insert(0) += 1;
        }
        leaving
    }
}

impl Shared {
    fn engines(&self) -> Arc<EngineFile> {
        Arc::clone(&self.file.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change_engines(&self, change: impl FnOnce(&mut EngineFile)) {
        change(Arc::make_mut(&mut self.file.write().unwrap_or_else(PoisonError::into_inner)));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Code under the lock cannot panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An idle engine with these options and without irrevocable limits: the most recently used, since its
    /// pages are still in memory.
    fn take_idle(
        &self,
        spec: &EngineSpec,
        options: &Options,
        conditions: &Conditions,
    ) -> Option<Engine> {
        let mut state = self.lock();
        let at = state.idle.iter().rposition(|engine| {
            !engine.is_shared()
                && engine.spec().name == spec.name
                && engine.options() == options
                && engine.suits(conditions)
        })?;
        let engine = state.idle.remove(at);
        state.lease(engine.hash_bytes());
        Some(engine)
    }

    /// Starts an engine, with at most a few others at the same time: starting uses all cores. If the system
    /// has no room for it, idle ones make room.
    fn start(
        &self,
        conditions: &Conditions,
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
            Engine::start_in(place, conditions, spec, options, &self.guard, aborted)
        };
        start().or_else(|failure| {
            if !matches!(failure.kind, FailureKind::Exhausted(_)) {
                return Err(failure);
            }
            let leaving = self.lock().dismiss(|_| true);
            if leaving.is_empty() {
                return Err(failure);
            }
            self.close_dismissed(leaving);
            start()
        })
    }

    /// Ends idle engines of this name, and of others, if one more would exceed the bounds, and waits until
    /// leaving ones are gone. The new one counts as in use from now on.
    fn make_room(&self, spec: &EngineSpec, hash_bytes: u64) {
        let leaving = {
            let mut state = self.lock();
            let is_it = |engine: &Engine| engine.spec().name == spec.name;
            // The promised ones include the one about to be started.
            let room = spec.at_once.saturating_sub(state.reserved_or_leaving(&spec.name)) as usize;
            let idle = state.idle.iter().filter(|engine| is_it(engine)).count();
            let mut excess = idle.saturating_sub(room);
            let mut leaving = state.dismiss(|engine| {
                let leaves = excess > 0 && is_it(engine);
                excess -= usize::from(leaves);
                leaves
            });
            state.lease(hash_bytes);
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
        self.close_dismissed(leaving);
        let state = self.lock();
        let is_full = |state: &mut State| state.reserved_or_leaving(&spec.name) > spec.at_once;
        drop(self.has_room.wait_while(state, is_full));
    }

    /// Waits a little until something has changed.
    fn wait_for_room(&self, aborted: Aborted<'_>) -> Result<(), FailureKind> {
        if aborted() {
            return Err(FailureKind::Aborted);
        }
        drop(self.has_room.wait_timeout(self.lock(), SLICE));
        Ok(())
    }

    /// Ends dismissed engines. They may take their time; other callers do not wait for that.
    fn close_dismissed(&self, leaving: Vec<Engine>) {
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

impl LeasedEngine {
    /// Lets other games use this engine too.
    fn begin_sharing(&mut self, engine: Engine) {
        let trunk = engine.into_shared();
        match trunk.for_another_game() {
            Some(seat) => {
                self.engine = Some(seat);
                self.shared = Some(self.room.pool.lock().add_shared(trunk));
            }
            // The system has no room for it.
            None => self.engine = Some(trunk),
        }
    }

    /// Ends the engine instead of giving it back.
    pub fn discard(mut self) {
        self.engine = None;
    }
}

impl Deref for LeasedEngine {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        self.engine.as_ref().unwrap_or_else(|| unreachable!("it is taken only when it is dropped"))
    }
}

impl DerefMut for LeasedEngine {
    fn deref_mut(&mut self) -> &mut Engine {
        self.engine.as_mut().unwrap_or_else(|| unreachable!("it is taken only when it is dropped"))
    }
}

impl Drop for LeasedEngine {
    fn drop(&mut self) {
        let pool = &self.room.pool;
        let engine = self.engine.take();
        let mut hash_bytes = self.hash_bytes;
        let (mut returned, mut ended) = (None, None);
        if self.shared.is_some() {
            // Its seat first.
            drop(engine);
        } else {
            returned = engine.and_then(|mut engine| engine.is_usable().then_some(engine));
        }
        let leaving = {
            let mut state = pool.lock();
            if let Some(number) = self.shared {
                // Under one lock, so that no game finds the engine neither in use nor idle.
                let Some(mut trunk) = state.end_shared_game(number) else {
                    drop(state);
                    pool.has_room.notify_all();
                    return;
                };
                hash_bytes = trunk.hash_bytes();
                if trunk.is_usable() {
                    returned = Some(trunk);
                } else {
                    ended = Some(trunk);
                }
            }
            let (count, bytes) = state.in_use;
            state.in_use = (count.saturating_sub(1), bytes.saturating_sub(hash_bytes));
            state.idle.extend(returned);
            let mut excess = state.idle.len().saturating_sub(pool.bounds.idle);
            state.dismiss(|_| {
                let leaves = excess > 0;
                excess -= usize::from(leaves);
                leaves
            })
        };
        drop(ended);
        pool.close_dismissed(leaving);
    }
}

/// The first start of an engine that may hold several games: the others wait for it.
struct First<'a> {
    pool: &'a Shared,
    /// `None` if it is known to hold one.
    name: Option<&'a str>,
}

impl<'a> First<'a> {
    /// `None` if another start is under way.
    fn claim(pool: &'a Shared, name: &'a str, build: Option<[u8; 32]>) -> Option<Self> {
        let mut state = pool.lock();
        if build.is_some() && state.exclusive.get(name).copied() == build {
            return Some(Self { pool, name: None });
        }
        // Not `then_some`, whose value would be dropped, under the lock.
        state.awaited.insert(name.to_owned()).then(|| Self { pool, name: Some(name) })
    }
}

impl Drop for First<'_> {
    fn drop(&mut self) {
        if let Some(name) = self.name {
            self.pool.lock().awaited.remove(name);
            self.pool.has_room.notify_all();
        }
    }
}

/// A turn for starting an engine, over when this is dropped.
struct Turn<'a>(&'a Shared);

impl<'a> Turn<'a> {
    /// Waits for a turn, unless it is no longer wanted.
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

/// The number of engines that start at the same time: one per core, from 2 to 8. More would only delay each
/// other.
fn starts_at_once() -> usize {
    std::thread::available_parallelism().map_or(4, usize::from).clamp(2, 8)
}
