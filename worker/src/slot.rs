//! A slot: one thread that plays one game at a time, or trains a network.
//!
//! Plain threads, not tasks: a game with a time limit must not share its thread, and its CPU time
//! is the thread's.

use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc as threads};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

#[cfg(target_os = "linux")]
use nix::sys::resource::{UsageWho, getrusage};
use rustix::time::{ClockId, clock_gettime};
use spelrum_engine::network::{Recipe, TrainError, Trained, train};
use spelrum_engine::{Ending, GameRecord, Host, MoveRecord, MoveValuesError, PlayError, tables};
use spelrum_model::{FinishedTraining, GameId, PlayableCell, PlayableVerification, PlayedGame};
use spelrum_proto::limits::MESSAGE_BYTES_MAX;
use spelrum_proto::{game, training, v1, work};
use spelrum_scheduling::worker::Batch;

use crate::cells::{self, Ready};
use crate::cores::Pinning;
use crate::engines::{EngineHost, EnginePlace, Engines, EnginesGame, NoGame};
use crate::hub::{Reports, Signs};
use crate::outcome::{Finished, failed};
use crate::panics;
use crate::sharing::{Shares, Sharing};
use crate::syzygy::syzygy_ending;

/// Finished games are handed in at least this often, even within a batch.
const HAND_IN_AFTER: Duration = Duration::from_millis(100);

/// A larger result, in bytes, does not fit into a report.
const RESULT_BYTES_MAX: usize = MESSAGE_BYTES_MAX - 1_024;

/// One slot. [`Slot::run`] is its thread.
pub(crate) struct Slot {
    /// Its number.
    pub(crate) number: usize,
    pub(crate) signs: Arc<Signs>,
    /// Receives reports of its games.
    pub(crate) reports: Arc<dyn Reports>,
    /// The available external engines.
    pub(crate) engines: Option<Engines>,
    /// Assigns its thread to cores.
    pub(crate) pinning: Arc<Pinning>,
    /// The slots that each game uses.
    pub(crate) sharing: Arc<Sharing>,
}

impl Slot {
    /// Plays until no more batches come.
    pub(crate) fn run(self, batches: threads::Receiver<Batch<Arc<cells::Cell>>>) {
        panics::silence_on_this_thread();
        for batch in batches {
            self.play(&batch);
        }
    }

    /// Plays one batch, and reports it.
    pub(crate) fn play(&self, batch: &Batch<Arc<cells::Cell>>) {
        let Self { number: slot, signs, reports, .. } = self;
        let threads = self.threads_of(&batch.cell);
        let quiet = batch.in_quiet.then(|| self.pinning.quiet_slots()).filter(|&count| count > 0);
        let Some(shares) = self.sharing.take(*slot, threads, quiet, || signs.is_stopped()) else {
            reports.freed(*slot, 0, Duration::ZERO);
            return;
        };
        self.pinning.begin_games(batch.in_quiet, Some(*slot));
        // One for the batch: games may be shorter than creating one.
        let (worker, lease, cell) = (reports.worker(), batch.lease.0, batch.range.cell.0);
        let _batch = tracing::info_span!("batch", worker, lease, cell).entered();
        let started = Instant::now();
        let mut handed_in = started;
        let mut results = Vec::new();
        let mut played = 0;
        for number in batch.range.first..batch.range.end() {
            if signs.is_stopped() {
                break;
            }
            signs.begin_game(number);
            // With external engines it may wait before it begins.
            reports.begins(*slot, number, !has_engines(&batch.cell));
            let game = GameId { cell: batch.range.cell, number };
            let Some(result) = self.play_one(batch, game, &shares) else { break };
            tracing::debug!(number, "a game is over");
            results.push(Finished::new(batch.lease, result));
            played += 1;
            if handed_in.elapsed() >= HAND_IN_AFTER {
                reports.finished(*slot, std::mem::take(&mut results));
                handed_in = Instant::now();
            }
        }
        let took = started.elapsed();
        reports.finished(*slot, results);
        reports.freed(*slot, played, took);
    }

    /// The number of threads that the games of a cell use at once.
    fn threads_of(&self, cell: &cells::Cell) -> u32 {
        match (cell, &self.engines) {
            (Ok(Ready::Games(games)), Some(engines)) if games.cell.has_engines() => {
                engines.threads_of(&games.cell)
            }
            _ => 1,
        }
    }

    /// Plays one game. `None` if it was aborted, or is given back with the rest of its batch.
    fn play_one(
        &self,
        batch: &Batch<Arc<cells::Cell>>,
        game: GameId,
        shares: &Shares<'_>,
    ) -> Option<v1::result::What> {
        let ready = match &*batch.cell {
            Ok(ready @ (Ready::Games(_) | Ready::Verification(_))) => ready,
            Ok(Ready::Training { found: Some(sha256), .. }) => {
                let finished = FinishedTraining::already_trained(game, *sha256, unix_us());
                return Some(v1::result::What::Training(training::to_wire(finished)));
            }
            Ok(Ready::Training { training, found: None }) => {
                return self.train(training.recipe(), game, shares);
            }
            Err(problem) => return Some(failed(game, problem)),
        };
        let started_unix_us = unix_us();
        let host = SlotHost {
            started: Instant::now(),
            began: Cell::new((!has_engines(&batch.cell)).then(Instant::now)),
            timeout: batch.game_timeout,
            in_quiet: batch.in_quiet,
            slots: &shares.slots,
            slot: self,
            game,
        };
        let engines = self.engines.as_ref();
        let playing = || match ready {
            Ready::Games(games) => {
                let scaled = batch.scaled.filter(|_| games.cell.has_time_limit());
                let cell =
                    scaled.map(|scaling| games.cell.with_time_factor(scaling.factor_permille));
                let cell = cell.as_ref().unwrap_or(&games.cell);
                let played = play(cell, engines, game, started_unix_us, &host)?;
                Ok(game::to_wire(played.with_scaled(scaled)))
            }
            Ready::Verification(cell) => verify(&cell.verification, game, started_unix_us, &host),
            // Done above.
            Ready::Training { .. } => Err(Unplayed::NotHere),
        };
        match catch_panic(playing) {
            Ok(Ok(played)) => Some(fit_game(game, played, result_kind(ready))),
            // The result of an unwanted game is not needed.
            Ok(Err(Unplayed::Aborted)) if host.is_unwanted() || !host.has_timed_out() => None,
            Ok(Err(Unplayed::Aborted)) => {
                let message = timeout_message(batch.game_timeout.unwrap_or_default());
                tracing::warn!(number = game.number, message, "a game took too long");
                Some(failed(game, &message))
            }
            Ok(Err(Unplayed::NotHere)) => None,
            Ok(Err(Unplayed::Fault(problem))) => Some(failed(game, &problem)),
            Err(message) => {
                tracing::error!(number = game.number, message, "a game panicked");
                Some(failed(game, &message))
            }
        }
    }

    /// Trains a network, which may take long. `None` if it was aborted.
    fn train(
        &self,
        recipe: &Recipe,
        task: GameId,
        shares: &Shares<'_>,
    ) -> Option<v1::result::What> {
        let started_unix_us = unix_us();
        let started = Instant::now();
        let (began, game) = (Cell::new(Some(started)), task);
        let (timeout, in_quiet) = (None, false);
        let slots = &shares.slots;
        let host = SlotHost { started, began, timeout, in_quiet, slots, slot: self, game };
        tracing::info!(
            number = task.number,
            ending = recipe.endgame().name(),
            "training a network"
        );
        let outcome = catch_panic(|| train_network(recipe, &host));
        let took = started.elapsed();
        match outcome {
            Ok(Ok(trained)) => {
                tracing::info!(number = task.number, ?took, "a network is trained");
                let wall_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
                let finished = FinishedTraining::new(task, trained, started_unix_us, wall_us);
                Some(fit_training(task, training::to_wire(finished)))
            }
            Ok(Err(TrainError::Aborted)) => None,
            Ok(Err(error @ (TrainError::Diverged { .. } | TrainError::TooFewPositions { .. }))) => {
                let message = error.to_string();
                tracing::warn!(number = task.number, message, "a training came to nothing");
                Some(failed(task, &message))
            }
            Err(message) => {
                tracing::error!(number = task.number, message, "a training panicked");
                Some(failed(task, &message))
            }
        }
    }
}

/// Whether external engines take part in its games.
fn has_engines(cell: &cells::Cell) -> bool {
    matches!(cell, Ok(Ready::Games(games)) if games.cell.has_engines())
}

/// Trains a network, with the table that the process shares.
fn train_network(recipe: &Recipe, host: &SlotHost<'_>) -> Result<Trained, TrainError> {
    train(recipe, &tables::shared(recipe.endgame()), host, |_| {})
}

/// Runs engine code; a panic becomes a message.
fn catch_panic<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    // A panic may only corrupt the cell's cache of openings: it recovers from a poisoned lock or
    // panics again, which is caught again.
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| panic_message(panic.as_ref()))
}

/// Whether this game belongs to the sample that checks the reproducibility of external engines, in a cell that
/// declares them deterministic.
fn is_played_twice(cell: &PlayableCell, number: u64) -> bool {
    /// One game in this many.
    const SAMPLE: u64 = 25;
    number.is_multiple_of(SAMPLE) && cell.has_engines() && cell.is_deterministic()
}

/// Plays a game with external engines; games of the sample twice.
fn play_with(
    engines: &Engines,
    cell: &PlayableCell,
    number: u64,
    host: &SlotHost<'_>,
) -> Result<EnginesGame, Unplayed> {
    let played = engines.play(cell, number, host)?;
    if is_played_twice(cell, number) && !host.is_cancelled() {
        let again = engines.play(cell, number, host)?;
        if let Some(difference) = difference(&played.record, &again.record) {
            return Err(Unplayed::Fault(format!(
                "its sweep says reproducible = true, and played again it was another game: {difference}"
            )));
        }
    }
    Ok(played)
}

/// The first difference between two records of one game that should be equal (invariant 2).
fn difference(earlier: &GameRecord, later: &GameRecord) -> Option<String> {
    let describe = |mv: Option<&MoveRecord>| match mv {
        None => "no move".to_owned(),
        Some(MoveRecord { mv, search, .. }) => {
            format!(
                "{mv}, depth {}, {} nodes, score {:?}",
                search.depth, search.nodes, search.score
            )
        }
    };
    let plies = earlier.moves.len().max(later.moves.len());
    let records_at = |ply: usize| [earlier, later].map(|record| describe(record.moves.get(ply)));
    let mut pairs = (0..plies).map(|ply| (ply, records_at(ply)));
    match pairs.find(|(_, [first, second])| first != second) {
        Some((ply, [first, second])) => Some(format!("at ply {ply} `{first}`, then `{second}`")),
        None if earlier.termination != later.termination => {
            Some(format!("it ended by {:?}, then by {:?}", earlier.termination, later.termination))
        }
        None => None,
    }
}

fn play(
    cell: &PlayableCell,
    engines: Option<&Engines>,
    game: GameId,
    started_unix_us: i64,
    host: &SlotHost<'_>,
) -> Result<PlayedGame, Unplayed> {
    let EnginesGame { derived, mut record, engines, forfeit } = if cell.has_engines() {
        let engines = engines.ok_or_else(|| {
            Unplayed::Fault("this worker has no external engines to play with".to_owned())
        })?;
        play_with(engines, cell, game.number, host)?
    } else {
        let (derived, record) = cell.play_watched(game.number, None, host, &mut |moves| {
            host.moved(moves);
            ControlFlow::Continue(())
        })?;
        EnginesGame { derived, record, engines: [None, None], forfeit: None }
    };
    let before = host.wall();
    let values = cell.values(&derived.opening, host)?;
    if !values.is_empty() {
        // It is the slot's time, too; the move has its own.
        let took = u64::try_from((host.wall() - before).as_micros()).unwrap_or(u64::MAX);
        record.wall_us = record.wall_us.saturating_add(took);
    }
    let played = PlayedGame::new(game, &derived, record, started_unix_us);
    Ok(played.with_values(values).with_engines(engines, forfeit))
}

/// Replays a game of another cell, under the id of the task.
fn verify(
    verification: &PlayableVerification,
    task: GameId,
    started_unix_us: i64,
    host: &SlotHost<'_>,
) -> Result<v1::Game, Unplayed> {
    let (derived, record) = verification.play(host)?;
    Ok(game::to_wire(PlayedGame::new(task, &derived, record, started_unix_us)))
}

/// Why a game has no record.
enum Unplayed {
    Aborted,
    /// It is left to other machines, or for later.
    NotHere,
    Fault(String),
}

impl From<PlayError> for Unplayed {
    fn from(error: PlayError) -> Self {
        match error {
            PlayError::Aborted => Self::Aborted,
            PlayError::Opening(_)
            | PlayError::OtherGame
            | PlayError::NotOurs(_)
            | PlayError::Memory(_)
            | PlayError::Network(_) => Self::Fault(error.to_string()),
        }
    }
}

impl From<NoGame> for Unplayed {
    fn from(no_game: NoGame) -> Self {
        match no_game {
            NoGame::Aborted => Self::Aborted,
            NoGame::Unplayable(problem) => Self::Fault(problem),
            NoGame::NotHere => Self::NotHere,
        }
    }
}

impl From<MoveValuesError> for Unplayed {
    fn from(error: MoveValuesError) -> Self {
        match error {
            MoveValuesError::Aborted => Self::Aborted,
            MoveValuesError::Position(_)
            | MoveValuesError::Reference(_)
            | MoveValuesError::OtherGame
            | MoveValuesError::Limit { .. }
            | MoveValuesError::Memory(_) => Self::Fault(error.to_string()),
        }
    }
}

/// The kind of result that such a cell reports.
fn result_kind(ready: &Ready) -> fn(v1::Game) -> v1::result::What {
    match ready {
        Ready::Verification(_) => v1::result::What::Verification,
        Ready::Games(_) | Ready::Training { .. } => v1::result::What::Game,
    }
}

/// A result that the coordinator accepts: one beyond the protocol's bounds is a failure.
fn fit_game(
    game: GameId,
    played: v1::Game,
    into_result: fn(v1::Game) -> v1::result::What,
) -> v1::result::What {
    if let Err(error) = game::check(&played) {
        return failed(game, &format!("the game's record cannot be sent: {error}"));
    }
    small_enough(game, into_result(played), "the game's record")
}

/// The same for a training.
fn fit_training(task: GameId, trained: v1::Training) -> v1::result::What {
    if let Err(error) = training::from_wire(trained.clone()) {
        return failed(task, &format!("the trained network cannot be sent: {error}"));
    }
    small_enough(task, v1::result::What::Training(trained), "the trained network")
}

/// A result that fits into a report, or a failure in its place.
fn small_enough(game: GameId, content: v1::result::What, named: &str) -> v1::result::What {
    let result = v1::Result { lease_id: 0, what: Some(content) };
    let bytes = work::encoded_len(&result);
    match result.what {
        Some(content) if bytes <= RESULT_BYTES_MAX => content,
        Some(_) | None => failed(game, &format!("{named} has {bytes} bytes")),
    }
}

/// The error of a game that exceeded its timeout, with the limit as a sweep writes it.
pub(crate) fn timeout_message(timeout: Duration) -> String {
    let ms = timeout.as_millis();
    let (count, unit) = [(3_600_000, "h"), (60_000, "m"), (1_000, "s"), (1, "ms")]
        .into_iter()
        .find_map(|(unit_ms, unit)| ms.is_multiple_of(unit_ms).then_some((ms / unit_ms, unit)))
        .unwrap_or((ms, "ms"));
    format!("the game took longer than the sweep's game_timeout = \"{count}{unit}\"")
}

/// The engine's host.
struct SlotHost<'s> {
    started: Instant,
    /// When the game began, which may wait for external engines.
    began: Cell<Option<Instant>>,
    /// How long the game may take.
    timeout: Option<Duration>,
    /// Whether it is played on exclusive slots.
    in_quiet: bool,
    /// The slots that it has.
    slots: &'s BTreeSet<usize>,
    slot: &'s Slot,
    game: GameId,
}

impl Host for SlotHost<'_> {
    fn wall(&self) -> Duration {
        self.started.elapsed()
    }

    fn cpu(&self) -> Duration {
        // Seconds and nanoseconds of a clock that never goes back from 0.
        Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
    }

    /// The other times of the same call are only as fresh as the system clock's last tick.
    #[cfg(target_os = "linux")]
    fn involuntary_switches(&self) -> Option<u64> {
        let usage = getrusage(UsageWho::RUSAGE_THREAD).ok()?;
        u64::try_from(usage.involuntary_context_switches()).ok()
    }

    fn syzygy_ending(&self, position: &str, fifty_moves: bool) -> Option<Ending> {
        syzygy_ending(position, fifty_moves)
    }

    /// The timeout applies here alone: it ends a game without a result, and affects nothing in one that has a
    /// result (invariant 3).
    fn aborted(&self) -> bool {
        self.is_unwanted() || self.has_timed_out()
    }
}

impl EngineHost for SlotHost<'_> {
    fn is_cancelled(&self) -> bool {
        self.slot.signs.is_stopped()
    }

    fn game_begins(&self) {
        self.began.set(Some(Instant::now()));
        self.slot.reports.begins(self.slot.number, self.game.number, true);
    }

    fn game_waits(&self) {
        self.began.set(None);
        self.slot.reports.begins(self.slot.number, self.game.number, false);
    }

    fn moved(&self, moves: &[MoveRecord]) {
        self.slot.signs.moves.moved(self.game, moves);
    }

    fn place(&self, threads: Option<u32>) -> Option<EnginePlace> {
        let own_slot = BTreeSet::from([self.slot.number]);
        let slots = if threads == Some(1) { &own_slot } else { self.slots };
        let fits = threads.is_some_and(|threads| threads as usize <= slots.len());
        let cpus = self.slot.pinning.place(slots, self.in_quiet && fits)?;
        Some(EnginePlace { cpus, lacks_quiet: self.in_quiet && !fits })
    }
}

impl SlotHost<'_> {
    fn has_timed_out(&self) -> bool {
        let took = self.began.get().map(|began| began.elapsed());
        self.timeout.zip(took).is_some_and(|(timeout, took)| took > timeout)
    }

    /// Whether the game's result would be dropped.
    fn is_unwanted(&self) -> bool {
        self.slot.signs.is_aborted()
    }
}

/// The time of day, for people.
fn unix_us() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_micros()).ok())
        .unwrap_or(0)
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let message = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned());
    match panics::last_panic_location() {
        Some(place) => format!("the engine panicked at {place}: {message}"),
        None => format!("the engine panicked: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use spelrum_model::CellId;

    use super::*;
    use crate::cores::ExclusiveSlots;
    use crate::hub::Hub;

    const GAME: GameId = GameId { cell: CellId(3), number: 8 };

    /// A panicking game is a failure with the message and the place, and the slot survives.
    #[test]
    fn a_panic_becomes_a_message() {
        let messages = std::thread::spawn(|| {
            panics::silence_on_this_thread();
            let ply = 7;
            [
                catch_panic(|| panic!("out of marbles")),
                catch_panic(|| panic!("out of marbles at ply {ply}")),
                catch_panic(|| std::panic::panic_any(5_u8)),
                catch_panic(|| ()),
            ]
        });
        let [plain, formatted, other, none] = messages.join().unwrap();
        assert!(plain.unwrap_err().ends_with("out of marbles"));
        let formatted = formatted.unwrap_err();
        assert!(formatted.contains("slot.rs") && formatted.ends_with("at ply 7"), "{formatted}");
        assert!(other.unwrap_err().contains("without a message"));
        assert_eq!(none, Ok(()));
    }

    #[test]
    fn what_the_coordinator_would_refuse_is_a_failure() {
        let message = |what| match what {
            v1::result::What::FailedGame(failed) => failed.message,
            what @ (v1::result::What::Game(_)
            | v1::result::What::Training(_)
            | v1::result::What::Verification(_)) => {
                panic!("{what:?}")
            }
        };
        let malformed = v1::Game { cell_id: 3, ..Default::default() };
        assert!(
            message(fit_game(GAME, malformed, v1::result::What::Game)).contains("engine_revision")
        );
        let malformed = v1::Training { cell_id: 3, ..Default::default() };
        assert!(message(fit_training(GAME, malformed)).contains("engine_revision"));
        let training = |bytes| v1::Training {
            cell_id: 3,
            engine_revision: 1,
            sha256: vec![0; 32],
            trained: Some(v1::TrainedNetwork { network: vec![0; bytes], ..Default::default() }),
            ..Default::default()
        };
        let large = message(fit_training(GAME, training(RESULT_BYTES_MAX)));
        assert!(large.starts_with("the trained network has 4"), "{large}");
        let fits = fit_training(GAME, training(4_150_000));
        assert!(matches!(fits, v1::result::What::Training(_)), "as large as networks are");
    }

    /// Invariant 3 needs a running clock: this one runs, and the thread's does not go back.
    #[test]
    fn the_hosts_clocks_do_not_go_back() {
        let (hub, mut sides, _to_do) = Hub::new(NonZeroU32::MIN, 0, false, None, None);
        let signs = sides.remove(0).signs;
        let reports = Arc::new(hub);
        let pinning = Arc::new(Pinning::new(ExclusiveSlots::default()));
        let sharing = Arc::new(Sharing::new(NonZeroU32::MIN));
        let signs_of_slot = Arc::clone(&signs);
        let slot =
            Slot { number: 0, signs: signs_of_slot, reports, engines: None, pinning, sharing };
        let (slot, slots) = (&slot, &BTreeSet::from([0]));
        let started = Instant::now();
        let began = Cell::new(Some(started));
        let (timeout, in_quiet) = (None, false);
        let (began_too, game) = (began.clone(), GAME);
        let host = SlotHost { started, began: began_too, timeout, in_quiet, slots, slot, game };
        let (wall, cpu) = (host.wall(), host.cpu());
        assert!(cpu > Duration::ZERO);
        assert!(host.wall() >= wall && host.cpu() >= cpu);
        assert!(!host.aborted());
        let hasty = SlotHost { timeout: Some(Duration::ZERO), began, ..host };
        assert!(hasty.aborted() && !hasty.is_unwanted());
        let patient = SlotHost { timeout: Some(Duration::MAX), ..hasty };
        assert!(!patient.aborted());
        signs.stop(false);
        assert!(signs.is_stopped() && !host.aborted(), "it may end");
        signs.stop(true);
        signs.stop(false);
        assert!(host.aborted() && host.is_unwanted());
    }

    /// Also if an engine has as many threads as the machine, only some of which belong to exclusive slots.
    #[test]
    fn an_engine_that_lacks_quiet_slots_for_its_threads_is_known() {
        let (hub, mut sides, _to_do) = Hub::new(NonZeroU32::MIN, 0, false, None, None);
        let signs = sides.remove(0).signs;
        let reports: Arc<dyn Reports> = Arc::new(hub);
        let place = |quiet: &str, slots: [usize; 2], in_quiet: bool, threads: Option<u32>| {
            let slot = Slot {
                number: 0,
                signs: Arc::clone(&signs),
                reports: Arc::clone(&reports),
                engines: None,
                pinning: Arc::new(Pinning::new(quiet.parse().unwrap())),
                sharing: Arc::new(Sharing::new(NonZeroU32::MIN)),
            };
            let (slot, slots) = (&slot, &BTreeSet::from(slots));
            let (started, began, timeout, game) = (Instant::now(), Cell::new(None), None, GAME);
            let host = SlotHost { started, began, timeout, in_quiet, slots, slot, game };
            let EnginePlace { cpus, lacks_quiet } = host.place(threads)?;
            Some((cpus.into_iter().collect::<Vec<_>>(), lacks_quiet))
        };
        let one = "0 of 0-1, rest 1";
        assert_eq!(place(one, [0, 0], true, Some(1)), Some((vec![0], false)));
        assert_eq!(place(one, [0, 0], true, Some(2)), Some((vec![0, 1], true)));
        assert_eq!(place(one, [0, 0], true, None), Some((vec![0, 1], true)), "GTP");
        assert_eq!(place(one, [0, 0], false, Some(2)), Some((vec![0, 1], false)), "not timed");
        assert_eq!(place("none", [0, 0], true, Some(2)), None);
        let four = "0-3 of 0-4, rest 4";
        assert_eq!(place(four, [0, 1], true, Some(2)), Some((vec![0, 1], false)));
        assert_eq!(place(four, [0, 1], true, Some(3)), Some((vec![0, 1, 2, 3, 4], true)));
    }

    #[test]
    fn a_timeout_is_named_as_the_sweep_has_it() {
        let named = |ms| timeout_message(Duration::from_millis(ms));
        assert_eq!(named(600_000), "the game took longer than the sweep's game_timeout = \"10m\"");
        for (ms, timeout) in [(1, "1ms"), (1_500, "1500ms"), (90_000, "90s"), (7_200_000, "2h")] {
            assert!(named(ms).ends_with(&format!("\"{timeout}\"")), "{}", named(ms));
        }
    }
}
