//! The engines of a worker: started once and used again, never more of one than may run at once.
//!
//! A game says which engines it needs before it begins, and gets room for all of them or waits: were
//! room given out one by one, two games could each hold what the other waits for. Between games engines
//! stand idle in the pool, where any slot may take them.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::engine::Engine;
use crate::failure::{EngineFailure, FailureKind, Phase};
use crate::file::EngineFile;
use crate::guard::Guard;
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
    idle_max: usize,
    state: Mutex<State>,
    /// Somebody has given room back.
    has_room: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// How many of each are promised to games.
    reserved: BTreeMap<String, u32>,
    /// Those that nobody uses, the longest unused first. With those in use there are never more of one
    /// name than may run at once: an idle one with other options makes room.
    idle: Vec<Engine>,
}

/// Room for the engines of a game.
#[derive(Debug)]
pub struct Reservation {
    pool: Arc<Shared>,
    /// How many of each may still be taken.
    open: BTreeMap<String, u32>,
    all: BTreeMap<String, u32>,
}

/// An engine in use. It goes back to the pool when this is dropped, or ends if it is lost.
#[derive(Debug)]
pub struct Lent {
    engine: Option<Engine>,
    pool: Arc<Shared>,
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
        let (state, has_room) = (Mutex::default(), Condvar::new());
        Self(Arc::new(Shared { file, guard, idle_max, state, has_room }))
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
                state.reserved.get(name).copied().unwrap_or(0) + needed <= at_once
            });
            if has_room {
                for (name, needed) in &all {
                    *state.reserved.entry(name.clone()).or_insert(0) += needed;
                }
                let pool = Arc::clone(&self.0);
                return Ok(Reservation { pool, open: all.clone(), all });
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
        let idle = std::mem::take(&mut self.0.lock().idle);
        idle.into_iter().for_each(Engine::close);
    }
}

impl Reservation {
    /// Takes an engine for which there is room, at the beginning of a game: an idle one, if there is one
    /// with these options and it still lives; otherwise a new one is started.
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
        let spec = self.pool.file.get(name).cloned();
        let open = self.open.get_mut(name).filter(|open| **open > 0);
        let (Some(spec), Some(open)) = (spec, open) else {
            panic!("`{name}` was not reserved");
        };
        *open -= 1;
        let options = spec.check_options(options).map_err(|refused| EngineFailure {
            engine: name.to_owned(),
            kind: FailureKind::NotAllowed(refused),
            during: Phase::Start,
            transcript: String::new(),
        })?;
        while let Some(mut engine) = self.pool.take_idle(&spec, &options, conditions) {
            // One that died between games is not worth a game.
            if engine.is_usable() && engine.new_game(conditions, aborted).is_ok() {
                return Ok(self.lend(engine));
            }
        }
        self.pool.make_room(&spec);
        let mut engine = Engine::start(&spec, &options, &self.pool.guard, aborted)?;
        engine.new_game(conditions, aborted)?;
        Ok(self.lend(engine))
    }

    fn lend(&self, engine: Engine) -> Lent {
        Lent { engine: Some(engine), pool: Arc::clone(&self.pool) }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        for (name, count) in &self.all {
            if let Some(reserved) = state.reserved.get_mut(name) {
                *reserved = reserved.saturating_sub(*count);
            }
        }
        drop(state);
        self.pool.has_room.notify_all();
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
        Some(state.idle.remove(at))
    }

    /// Ends an idle engine of this name if there would otherwise be too many with one more.
    fn make_room(&self, spec: &EngineSpec) {
        let mut leaving = Vec::new();
        {
            let mut state = self.lock();
            let is_it = |engine: &Engine| engine.spec().name == spec.name;
            // Those that are promised include the one that is about to be started.
            let reserved = state.reserved.get(&spec.name).copied().unwrap_or(0);
            let mut count = state.idle.iter().filter(|engine| is_it(engine)).count();
            while count > (spec.at_once.saturating_sub(reserved)) as usize
                && let Some(at) = state.idle.iter().position(&is_it)
            {
                leaving.push(state.idle.remove(at));
                count -= 1;
            }
        }
        // An engine may take its time to go, and nobody else need wait for that.
        leaving.into_iter().for_each(Engine::close);
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
        let Some(mut engine) = self.engine.take() else { return };
        if !engine.is_usable() {
            return;
        }
        let mut state = self.pool.lock();
        state.idle.push(engine);
        let oldest = (state.idle.len() > self.pool.idle_max).then(|| state.idle.remove(0));
        drop(state);
        if let Some(oldest) = oldest {
            oldest.close();
        }
    }
}
