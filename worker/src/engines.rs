//! The worker's external engines.

mod building;
mod capabilities;
mod identifying;
mod notation;
mod offers;
mod over_gtp;
mod over_lines;
mod over_uci;
mod over_ugi;
mod over_xboard;
mod seat;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use spelrum_engine::{
    ExternalPlayer, GameRecord, Host, MoveRecord, Outcome, Parameters, PlayError, Player,
    SourcedEngine,
};
use spelrum_external::{
    Bounds, Breach, BreachKind, Diagnosis, EngineFailure, EngineFile, FailureKind, Guard,
    LeasedEngine, NoRoom, Pool, Reservation, hash_build,
};
use spelrum_model::engines::{
    BuiltEngines, EngineIdentity, Forfeit, NeededEngine, OfferedEngine, build_text,
};
use spelrum_model::{DerivedGame, PlayableCell, builds};

use building::Building;
pub(crate) use building::program;
pub use capabilities::capabilities;
use identifying::offer;
use offers::Offers;
pub use over_lines::{AtBoard, game_setup};
use seat::EngineSeat;
pub use seat::engine_options;

/// Wait after a game that could not begin; doubles with each that follows.
const UNPLAYABLE_WAIT: Duration = Duration::from_millis(100);
/// The most doublings: up to a minute and a half.
const UNPLAYABLE_DOUBLINGS: u32 = 10;
/// The wait of a slot before it restarts an engine for which the system had no room; doubles each time.
const EXHAUSTED_WAIT: Duration = Duration::from_secs(1);
/// Starts that are retried, within half a minute; then the game is left to other workers.
const EXHAUSTED_TRIES: u32 = 5;
/// The shortest time between two warnings about it.
const EXHAUSTED_WARNING_INTERVAL: Duration = Duration::from_secs(60);
/// The number of forfeits of an engine that are logged: all are in the results.
const FORFEITS_LOGGED: u32 = 10;
/// The interval at which an idle worker looks for changed files of its engines.
const CHANGES_INTERVAL: Duration = Duration::from_secs(5);
/// The time after which a game that has not begun is logged.
const SLOW_START: Duration = Duration::from_secs(5);
/// The number of engines that are identified at the same time.
const TRIED_AT_ONCE: usize = 8;

/// The engines of this machine, ready to play. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Engines(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    pool: Pool,
    offers: Offers,
    building: Building,
    /// Kinds of breaches already logged, by engine.
    logged: Mutex<BTreeSet<(String, BreachKind)>>,
    /// The number of forfeits, by engine.
    forfeits: Mutex<BTreeMap<String, u32>>,
    /// Engines already logged as not pinned to one core.
    not_kept: Mutex<BTreeSet<String>>,
    /// The number of games in a row that could not begin.
    unplayable: AtomicU32,
    /// The time of the last warning that the system has no room for an engine.
    exhausted: Mutex<Option<Instant>>,
    slots: NonZeroU32,
    /// Whether the warning that games need more threads than there are slots was logged.
    warned_of_threads: AtomicBool,
    /// The first engine whose program was replaced while games of the previous build were left.
    replaced: OnceLock<String>,
    /// The number of games with engines under way, and when one last began or ended.
    played: Mutex<(u32, Instant)>,
    /// Whether retries have ended.
    closed: AtomicBool,
}

/// The engines that can play, and those that can be built.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EnginesNow {
    pub(crate) offered: Vec<OfferedEngine>,
    pub(crate) built: BuiltEngines,
}

/// A game with external engines.
pub(crate) struct EnginesGame {
    pub(crate) derived: DerivedGame,
    pub(crate) record: GameRecord,
    pub(crate) engines: [Option<EngineIdentity>; 2],
    pub(crate) forfeit: Option<Forfeit>,
}

/// The caller that wants a game.
pub(crate) trait EngineHost: Host {
    /// Whether a game that has not begun should not begin.
    fn is_cancelled(&self) -> bool;

    /// The game has its engines, and begins now: its time runs from here on.
    fn game_begins(&self);

    /// The game is to begin later: its time does not run until then.
    fn game_waits(&self);

    /// A move was made: the game's moves so far.
    fn moved(&self, moves: &[MoveRecord]);

    /// The place for an external engine with this many threads, if known; `None` if it may run anywhere.
    fn place(&self, threads: Option<u32>) -> Option<EnginePlace>;
}

/// Hardware threads for the processes of an engine.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EnginePlace {
    pub(crate) cpus: BTreeSet<u32>,
    /// Whether a timed game lacks exclusive slots for all threads of the engine, which may then run on any
    /// hardware thread.
    pub(crate) lacks_quiet: bool,
}

/// Why a game with external engines has no record.
pub(crate) enum NoGame {
    /// It was no longer wanted, or took too long.
    Aborted,
    /// It could not be played, through neither player's fault.
    Unplayable(String),
    /// An engine cannot play here at present: the game is left to other machines, or for later.
    NotHere,
}

/// Why a game did not begin or end.
enum Trouble {
    NoGame(NoGame),
    /// An engine could not begin it.
    NotBegun(EngineFailure),
    /// The system has no room for an engine now.
    Exhausted(EngineFailure),
}

impl From<NoGame> for Trouble {
    fn from(no_game: NoGame) -> Self {
        Self::NoGame(no_game)
    }
}

/// A machine's room for engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The number of concurrent games.
    pub slots: NonZeroU32,
    /// The number of engines that may run at once.
    pub engines_max: u64,
    /// Memory for all of them, in bytes.
    pub memory_bytes: Option<u64>,
}

impl Engines {
    /// Starts each engine of a file once to identify it, and ends it again. Engines that fail to start are
    /// not offered, but retried while the worker runs; the reasons are returned too. Blocks meanwhile.
    #[must_use]
    pub fn find(
        file: EngineFile,
        guard: Guard,
        room: Room,
        aborted: &(dyn Fn() -> bool + Sync),
    ) -> (Self, Vec<EngineFailure>) {
        let names: Vec<String> = file.iter().map(|spec| spec.name.clone()).collect();
        let building = Building::new(&file);
        let Room { slots, engines_max, memory_bytes } = room;
        let bounds = Bounds {
            // Both sides of every game may be engines.
            idle: 2 * slots.get() as usize,
            running: usize::try_from(engines_max).unwrap_or(usize::MAX),
            hash_bytes: memory_bytes.unwrap_or(u64::MAX),
        };
        let pool = Pool::within(file, guard, bounds);
        let mut results = Vec::new();
        for some in names.chunks(TRIED_AT_ONCE) {
            let tried = thread::scope(|scope| {
                let threads: Vec<_> = some
                    .iter()
                    .map(|name| scope.spawn(|| offer(&pool, name, &|| aborted())))
                    .collect();
                threads.into_iter().map(thread::ScopedJoinHandle::join).collect::<Vec<_>>()
            });
            results.extend(
                tried
                    .into_iter()
                    .map(|thread| thread.unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
            );
        }
        pool.close_idle();
        let (mut tried, mut failures) = (Vec::new(), Vec::new());
        for (name, result) in names.into_iter().zip(results) {
            tried.push((name, result.map_err(|failure| failures.push(failure)).ok()));
        }
        let (logged, not_kept, offers) = (Mutex::default(), Mutex::default(), Offers::new(tried));
        let (unplayable, closed) = (AtomicU32::new(0), AtomicBool::new(false));
        let (exhausted, warned_of_threads) = (Mutex::default(), AtomicBool::new(false));
        let replaced = OnceLock::new();
        let shared = Shared {
            pool,
            offers,
            building,
            logged,
            forfeits: Mutex::default(),
            not_kept,
            unplayable,
            exhausted,
            slots,
            warned_of_threads,
            replaced,
            played: Mutex::new((0, Instant::now())),
            closed,
        };
        (Self(Arc::new(shared)), failures)
    }

    /// The available engines.
    #[must_use]
    pub fn offered(&self) -> Vec<OfferedEngine> {
        self.0.offers.offered()
    }

    /// The available engines, and those that can be built.
    pub(crate) fn now(&self) -> EnginesNow {
        EnginesNow { offered: self.offered(), built: self.0.building.now() }
    }

    /// The first engine whose program was replaced, so that this machine cannot play the games of the
    /// previous build.
    #[must_use]
    pub fn replaced(&self) -> Option<&str> {
        self.0.replaced.get().map(String::as_str)
    }

    /// The number of threads that the games of a cell use at once: the larger of the players' numbers, since
    /// players think in turn.
    pub(crate) fn threads_of(&self, cell: &PlayableCell) -> u32 {
        let of_player = |parameters: &Arc<Parameters>| {
            let need = NeededEngine::from_parameters(parameters)?;
            self.0.pool.engines().get(&need.engine)?.threads(&engine_options(parameters))
        };
        let threads = cell.definition().players.iter().filter_map(of_player).max().unwrap_or(1);
        if threads > self.0.slots.get() && !self.0.warned_of_threads.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "engines think on {threads} threads, and this worker has {} slots: their games take all of them, and \
                 more threads than cores if there is a core for each slot; start it with more --slots, or leave \
                 these games to a larger machine",
                self.0.slots
            );
        }
        threads
    }

    /// Retries failed engines, and notifies whenever the available ones change.
    pub(crate) async fn maintain(&self, changed: impl Fn()) -> Infallible {
        loop {
            let due = self.0.offers.next_due();
            let is_due = async {
                match due {
                    Some(at) => tokio::time::sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.0.offers.changed() => changed(),
                () = tokio::time::sleep(CHANGES_INTERVAL) => {
                    let engines = self.clone();
                    // Panics are reported separately.
                    let _tried = tokio::task::spawn_blocking(move || engines.notice_changes()).await;
                }
                () = is_due => {
                    let engines = self.clone();
                    // Panics are reported separately.
                    let _tried = tokio::task::spawn_blocking(move || engines.retry_withdrawn()).await;
                }
            }
        }
    }

    /// Starts engines whose files have changed, unless games are played, which notice a change by themselves.
    fn notice_changes(&self) {
        if self.0.building.forget_passed() {
            self.0.offers.announce();
        }
        let (games, last) = *self.0.played.lock().unwrap_or_else(PoisonError::into_inner);
        let is_idle = games == 0 && last.elapsed() >= CHANGES_INTERVAL;
        if !is_idle || self.0.closed.load(Ordering::Relaxed) {
            return;
        }
        let mut has_any = false;
        for spec in self.0.pool.engines().iter() {
            // A file that cannot be read is possibly in the middle of a change.
            let Ok(build) = hash_build(spec) else { continue };
            if self.0.offers.notice(&spec.name, build) {
                tracing::info!(
                    engine = spec.name,
                    "the files of an engine have changed: it is tried again"
                );
                self.try_again(&spec.name);
                has_any = true;
            }
        }
        if has_any {
            self.0.pool.close_idle();
        }
    }

    /// Retries the engines that are due.
    fn retry_withdrawn(&self) {
        for name in self.0.offers.due() {
            self.try_again(&name);
        }
        self.0.pool.close_idle();
    }

    /// Starts an engine, and offers it if it does.
    fn try_again(&self, name: &str) {
        match offer(&self.0.pool, name, &|| self.0.closed.load(Ordering::Relaxed)) {
            Ok(engine) => {
                if self.0.offers.restore(name, engine) {
                    tracing::info!(engine = name, "an engine starts again, and is offered");
                }
            }
            Err(failure) if failure.kind == FailureKind::Aborted => {}
            Err(failure) => self.withdraw(&failure),
        }
    }

    /// The problem and remedy of a failed engine.
    fn explain(&self, failure: &EngineFailure) -> String {
        match self.0.pool.engines().get(&failure.engine) {
            Some(spec) => {
                let Diagnosis { problem, remedy } = failure.diagnose(spec);
                format!("{}: {problem}; {remedy}", failure.engine)
            }
            None => failure.to_string(),
        }
    }

    /// Withdraws the offer of an engine that does not start.
    fn withdraw(&self, failure: &EngineFailure) {
        if self.0.building.withdraw(&failure.engine, &self.0.pool, &self.0.offers) {
            let problem = failure.to_string();
            tracing::warn!(
                problem,
                "an engine that a sweep names does not start: it is obtained anew when it is next asked for"
            );
            return;
        }
        if let Some(wait) = self.0.offers.withdraw(&failure.engine) {
            let problem = self.explain(failure);
            tracing::warn!(
                problem,
                again_after = ?wait,
                "an engine does not start: its games are left to other workers until it does"
            );
        }
    }

    /// Ends unused engines. Blocks until they are gone.
    pub(crate) fn close(&self) {
        self.abandon();
        self.0.pool.close_idle();
    }

    /// Ends the retries.
    pub(crate) fn abandon(&self) {
        self.0.closed.store(true, Ordering::Relaxed);
    }

    /// Plays the game with this number. If games cannot begin although their engines start, the next ones
    /// wait ever longer: a broken machine must not consume all games.
    pub(crate) fn play(
        &self,
        cell: &PlayableCell,
        number: u64,
        host: &dyn EngineHost,
    ) -> Result<EnginesGame, NoGame> {
        let mut tries = 0;
        let _under_way = UnderWay::new(&self.0.played);
        let played = loop {
            let trouble = match self.play_now(cell, number, host) {
                Ok(played) => break Ok(played),
                Err(Trouble::NotBegun(failure)) => self.game_not_begun(failure, host),
                Err(trouble) => trouble,
            };
            match trouble {
                Trouble::NoGame(no_game) => break Err(no_game),
                // Other slots continue, and others may have room for this game.
                Trouble::NotBegun(failure) | Trouble::Exhausted(failure) => {
                    if tries == EXHAUSTED_TRIES {
                        break Err(NoGame::NotHere);
                    }
                    let wait = EXHAUSTED_WAIT * (1 << tries);
                    self.warn_of_exhaustion(&failure, wait);
                    host.game_waits();
                    wait_unless_unwanted(wait, host);
                    if host.is_cancelled() {
                        break Err(NoGame::NotHere);
                    }
                    tries += 1;
                }
            }
        };
        match &played {
            Ok(_) => self.0.unplayable.store(0, Ordering::Relaxed),
            Err(NoGame::Aborted | NoGame::NotHere) => {}
            Err(NoGame::Unplayable(_)) => {
                let in_a_row = self.0.unplayable.fetch_add(1, Ordering::Relaxed);
                let wait = UNPLAYABLE_WAIT.saturating_mul(1 << in_a_row.min(UNPLAYABLE_DOUBLINGS));
                host.game_waits();
                wait_unless_unwanted(wait, host);
            }
        }
        played
    }

    /// Interprets an engine's failure to begin a game: a plain start shows whether the engine or the game's
    /// demands are at fault.
    fn game_not_begun(&self, failure: EngineFailure, host: &dyn EngineHost) -> Trouble {
        match &failure.kind {
            FailureKind::Aborted => return NoGame::Aborted.into(),
            FailureKind::Exhausted(_) => return Trouble::Exhausted(failure),
            FailureKind::NotAllowed(_)
            | FailureKind::Option { .. }
            | FailureKind::Unsupported(_) => {
                return NoGame::Unplayable(self.explain(&failure)).into();
            }
            FailureKind::Missing(_)
            | FailureKind::NotExecutable { .. }
            | FailureKind::NoFile { .. }
            | FailureKind::NoProcess(_)
            | FailureKind::NoAnswer { .. }
            | FailureKind::Refused { .. }
            | FailureKind::Crash(_)
            | FailureKind::Hang { .. }
            | FailureKind::OutOfTime { .. }
            | FailureKind::NoMove(_)
            | FailureKind::IllegalMove(_)
            | FailureKind::Unreadable { .. }
            | FailureKind::Raised(_)
            | FailureKind::Gone => {}
        }
        match offer(&self.0.pool, &failure.engine, &|| host.is_cancelled()) {
            Ok(engine) => {
                self.0.offers.restore(&failure.engine, engine);
                NoGame::Unplayable(self.explain(&failure)).into()
            }
            Err(again) if again.kind == FailureKind::Aborted => NoGame::Aborted.into(),
            Err(again) if matches!(again.kind, FailureKind::Exhausted(_)) => {
                Trouble::Exhausted(again)
            }
            Err(again) => {
                self.withdraw(&again);
                NoGame::NotHere.into()
            }
        }
    }

    /// Warns at intervals that the system has no room for an engine.
    fn warn_of_exhaustion(&self, failure: &EngineFailure, wait: Duration) {
        let mut warned = self.0.exhausted.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.is_some_and(|at| at.elapsed() < EXHAUSTED_WARNING_INTERVAL) {
            return;
        }
        *warned = Some(Instant::now());
        let problem = self.explain(failure);
        tracing::warn!(
            problem,
            again_after = ?wait,
            "an engine could not be started: its slot tries again, and the other slots go on"
        );
    }

    fn play_now(
        &self,
        cell: &PlayableCell,
        number: u64,
        host: &dyn EngineHost,
    ) -> Result<EnginesGame, Trouble> {
        let derived = cell.derive(number);
        let players = cell.players_of(&derived);
        let names: Vec<&str> = players
            .iter()
            .filter_map(|player| player.external().map(|rules| rules.engine.as_str()))
            .collect();
        self.0.building.record_use(&names);
        if names.iter().any(|name| self.0.offers.is_away(name)) {
            return Err(NoGame::NotHere.into());
        }
        let mut room =
            self.0.pool.reserve(&names, &|| host.is_cancelled()).map_err(
                |no_room| match no_room {
                    NoRoom::Aborted => NoGame::Aborted,
                    // A built commit may have made room for another one.
                    NoRoom::Unknown(engine) if SourcedEngine::parse(&engine).is_some() => {
                        NoGame::NotHere
                    }
                    NoRoom::Unknown(_) | NoRoom::TooMany { .. } => {
                        NoGame::Unplayable(no_room.to_string())
                    }
                },
            )?;
        let [first, second] = [0, 1]
            .map(|index| self.seat(cell, players, (index, derived.keys[index]), &mut room, host));
        let mut seats = [first?, second?];
        host.game_begins();
        let played = {
            let [first, second] = &mut seats;
            let external = [external(first), external(second)];
            cell.play_with_watched(&derived, external, host, &mut |moves| {
                host.moved(moves);
                ControlFlow::Continue(())
            })
        };
        for seat in seats.iter_mut().flatten() {
            let breaches = seat.take_breaches();
            self.log_breaches(seat.name(), &breaches);
        }
        let record = played.map_err(|error| match error {
            PlayError::Aborted => {
                let unplayable = seats.iter_mut().flatten().find_map(EngineSeat::take_unplayable);
                unplayable.map_or(Trouble::NoGame(NoGame::Aborted), Trouble::NotBegun)
            }
            PlayError::Opening(_)
            | PlayError::OtherGame
            | PlayError::NotOurs(_)
            | PlayError::Memory(_)
            | PlayError::Network(_) => NoGame::Unplayable(error.to_string()).into(),
        })?;
        for seat in seats.iter_mut().flatten() {
            seat.end_game(&record);
        }
        let loser = usize::from(record.outcome == Outcome::Win);
        let forfeit = seats[loser].as_mut().filter(|_| record.termination.is_forfeit());
        let forfeit = forfeit.map(|seat| {
            let forfeit = seat.forfeit();
            self.log_forfeit(number, seat.name(), &forfeit.message);
            forfeit
        });
        let engines = seats.each_ref().map(|seat| seat.as_ref().map(EngineSeat::identity));
        Ok(EnginesGame { derived, record, engines, forfeit })
    }

    /// Pins an engine to its slot's place, if it is known to need no more.
    fn pin(&self, engine: &mut LeasedEngine, host: &dyn EngineHost) {
        let Some(EnginePlace { cpus, lacks_quiet }) = host.place(engine.threads()) else { return };
        let mut problem = engine.pin_to(&cpus).err().map(|error| error.to_string());
        if problem.is_none() && lacks_quiet {
            let more = match engine.threads() {
                Some(_) => {
                    "it may think on more threads than there are quiet slots: give it fewer, or \
                     start the worker with more --quiet-slots"
                }
                None => "the number of its threads is not known, so it may use other cores as well",
            };
            problem = Some(more.to_owned());
        }
        let name = &engine.spec().name;
        if let Some(problem) = problem
            && let Ok(mut logged) = self.0.not_kept.lock()
            && logged.insert(name.clone())
        {
            tracing::warn!(
                engine = name,
                problem,
                "an engine is not kept on its quiet slot's core"
            );
        }
    }

    /// Seats the external engine on this side, if it has one.
    fn seat(
        &self,
        cell: &PlayableCell,
        players: [&Player; 2],
        (index, key): (usize, [u8; 32]),
        room: &mut Reservation,
        host: &dyn EngineHost,
    ) -> Result<Option<EngineSeat>, Trouble> {
        let Some(rules) = players[index].external() else { return Ok(None) };
        let (options, conditions) = seat::conditions(cell, players[index], rules);
        let (begun, is_named) = (Instant::now(), Cell::new(false));
        let taken = room.take(&rules.engine, &options, &conditions, &|| {
            if begun.elapsed() >= SLOW_START && !is_named.replace(true) {
                let engine = &rules.engine;
                tracing::warn!(
                    engine,
                    "an engine has not been ready for a game for {} s; its `startup_timeout` in the engines file ends \
                     that, and `spelrum engine check {engine} --engines FILE` tries it",
                    SLOW_START.as_secs()
                );
            }
            host.is_cancelled()
        });
        let mut engine = taken.map_err(Trouble::NotBegun)?;
        self.pin(&mut engine, host);
        let clocks = [index, 1 - index].map(|index| players[index].clock());
        let (game, place) = (&cell.definition().rules, (index, key));
        let seat = EngineSeat::new(engine, game, rules.clone(), conditions, place, clocks);
        let (identity, build) = (seat.identity(), seat.build());
        // It may have been replaced since it was offered.
        let need = NeededEngine::from_rules(rules);
        if self.0.offers.record_start(&rules.engine, &identity, build) {
            let build = build_text(build);
            tracing::warn!(
                engine = rules.engine,
                build = builds::short(&build),
                "the program of an engine, or a file of it, has changed: the games of the build before are left to \
                 other workers; run or submit the sweep again to play this one"
            );
        }
        if !(need.admits(&identity) && need.admits_build(build)) {
            self.0.replaced.get_or_init(|| rules.engine.clone());
            return Err(NoGame::NotHere.into());
        }
        Ok(Some(seat))
    }

    /// Logs the first forfeits of each engine.
    fn log_forfeit(&self, number: u64, engine: &str, message: &str) {
        let mut forfeits = self.0.forfeits.lock().unwrap_or_else(PoisonError::into_inner);
        let count = forfeits.entry(engine.to_owned()).or_insert(0);
        *count = count.saturating_add(1);
        if *count <= FORFEITS_LOGGED {
            tracing::warn!(number, engine, message, "a game was lost by forfeit");
        }
        if *count == FORFEITS_LOGGED {
            tracing::warn!(
                engine,
                "{FORFEITS_LOGGED} games were lost by forfeit: more are not logged; the view `forfeited` has them all"
            );
        }
    }

    /// Logs each kind of breach once.
    fn log_breaches(&self, engine: &str, breaches: &[Breach]) {
        let mut logged = self.0.logged.lock().unwrap_or_else(PoisonError::into_inner);
        for breach in breaches {
            if logged.insert((engine.to_owned(), breach.kind)) {
                tracing::warn!(engine, %breach, "an engine departs from its protocol; told once");
            }
        }
    }
}

/// A game under way, until this is dropped.
struct UnderWay<'a>(&'a Mutex<(u32, Instant)>);

impl<'a> UnderWay<'a> {
    fn new(played: &'a Mutex<(u32, Instant)>) -> Self {
        let mut state = played.lock().unwrap_or_else(PoisonError::into_inner);
        *state = (state.0 + 1, Instant::now());
        drop(state);
        Self(played)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *state = (state.0.saturating_sub(1), Instant::now());
    }
}

/// Waits, unless the game is no longer wanted.
fn wait_unless_unwanted(wait: Duration, host: &dyn EngineHost) {
    let until = Instant::now() + wait;
    while Instant::now() < until && !host.is_cancelled() {
        thread::park_timeout(UNPLAYABLE_WAIT.min(until.saturating_duration_since(Instant::now())));
    }
}

fn external(seat: &mut Option<EngineSeat>) -> Option<&mut dyn ExternalPlayer> {
    seat.as_mut().map(|seat| seat as &mut dyn ExternalPlayer)
}
