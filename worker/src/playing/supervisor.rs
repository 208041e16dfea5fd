//! The worker's side: starts the playing process, hands it work, and supervises it.

use std::ffi::OsString;
use std::io;
use std::net::Shutdown;
use std::num::NonZeroU32;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak, mpsc as threads};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use spelrum_external::guard::running_program;
use spelrum_model::engines::FailedBuild;
use spelrum_model::{GameId, ListedPositions};
use spelrum_proto::engines::{built, failed_build_to_wire, offers};
use spelrum_proto::speeds;
use spelrum_scheduling::worker::Batch;
use tokio::sync::watch;

use super::ledger::{Ledger, Note};
use super::wire::{self, Builds, CellSent, End, NetworkSent, News, Order, Play, Said, Stop, What};
use crate::cells::{Cell, Ready};
use crate::cores::{ExclusiveSlots, Pinning};
use crate::engines::EnginesNow;
use crate::following::Following;
use crate::hub::{Reports, Signs, SlotSide};
use crate::networks::Supplied;
use crate::outcome::{Finished, failed};
use crate::sharing::Sharing;
use crate::slot::{Slot, timeout_message};

/// The interval between two questions for the moves of a followed game.
const ASK_AFTER: Duration = Duration::from_millis(500);
/// The interval between two looks at the games.
const LOOK: Duration = Duration::from_millis(50);
/// The most time that counts between two looks: while this process is suspended, the end of a game goes
/// unnoticed.
const LOOK_COUNTS: Duration = Duration::from_millis(250);
/// A game over its time must stop by itself within this plus a tenth of its time.
const STOPS_WITHIN: Duration = Duration::from_secs(5);
/// The same for an unwanted game, which holds up only its slot.
const UNWANTED_STOPS_WITHIN: Duration = Duration::from_secs(60);
/// Wait before an ended process is restarted; doubles each time it ends soon.
const AGAIN_AFTER: Duration = Duration::from_millis(100);
/// The most doublings: up to some 50 s.
const DOUBLINGS_MAX: u32 = 9;
/// A process that lived this long did not end soon.
const LIVED_WELL: Duration = Duration::from_secs(60);
/// The time limit of an orderly end.
const ENDS_WITHIN: Duration = Duration::from_secs(15);

/// The command of the playing process: this program again, with these words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayingCommand {
    program: PathBuf,
    words: Vec<OsString>,
    without: Vec<String>,
}

impl PlayingCommand {
    /// Uses the running program, which plays by [`crate::PlayingProcess`] if started with these words,
    /// without these environment variables.
    ///
    /// # Errors
    /// If the system does not report the running program.
    pub fn for_this_program(words: Vec<OsString>, without: &[&str]) -> io::Result<Self> {
        let without = without.iter().map(|&name| name.to_owned()).collect();
        Ok(Self { program: running_program()?, words, without })
    }

    fn start(&self, ledger: &Ledger) -> io::Result<(Child, UnixStream)> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = Command::new(&self.program);
        command.args(&self.words).stdin(OwnedFd::from(theirs)).stdout(Stdio::from(ledger.file()?));
        for name in &self.without {
            command.env_remove(name);
        }
        // A Ctrl-C of the terminal is for the worker, which may finish its games first.
        let child = command.arg0("spelrum").process_group(0).spawn()?;
        Ok((child, ours))
    }
}

/// The engines of the playing process; `None` before its report.
pub(crate) type Offered = watch::Receiver<Option<EnginesNow>>;

/// The playing process and its supervision.
#[derive(Debug)]
pub(crate) struct Supervisor {
    shared: Arc<Shared>,
    offered: Offered,
}

struct Shared {
    command: PlayingCommand,
    reports: Arc<dyn Reports>,
    signs: Vec<Arc<Signs>>,
    ledger: Ledger,
    /// Keeps this process off the exclusive cores.
    pinning: Arc<Pinning>,
    following: Arc<Following>,
    offers: watch::Sender<Option<EnginesNow>>,
    state: Mutex<State>,
    /// Notified of new work, a request to end, and the end.
    changed: Condvar,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("command", &self.command).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct State {
    /// The work of each slot.
    desks: Vec<Option<Desk>>,
    process: Option<Running>,
    /// The slot whose game caused the process to be killed, and its note then.
    killed_for: Option<(usize, Note)>,
    /// Whether it is ending, or has ended.
    closed: bool,
    /// Whether supervision has stopped.
    left: bool,
}

/// A running process.
struct Running {
    pid: Pid,
    orders: threads::Sender<What>,
    /// The cells that it has, by their keys.
    cells: Vec<(u64, Weak<Cell>)>,
    next_key: u64,
}

/// A batch that a slot has.
struct Desk {
    batch: Batch<Arc<Cell>>,
    /// Whether a process has it.
    is_sent: bool,
    /// The sequence number of the slot's previous note.
    sequence_before: u64,
    /// The slot's last note, the time since then, and the time for which the game has been unwanted.
    note: Note,
    stood: Duration,
    unwanted: Duration,
    /// The time since the process was last asked for its moves.
    unasked: Duration,
    /// The stop signals sent to the process: after the game, and now.
    signalled: (bool, bool),
    /// The last game whose result was handed in.
    last_reported: Option<u64>,
}

impl Supervisor {
    /// Starts the playing process, and hands it the slots' work.
    ///
    /// # Errors
    /// If the system cannot start a process or thread.
    pub(crate) fn start(
        command: PlayingCommand,
        reports: Arc<dyn Reports>,
        sides: Vec<SlotSide>,
        pinning: Arc<Pinning>,
        following: Arc<Following>,
    ) -> io::Result<Self> {
        let ledger = Ledger::new()?;
        let first = command.start(&ledger)?;
        let (offers, offered) = watch::channel(None);
        let signs = sides.iter().map(|side| Arc::clone(&side.signs)).collect();
        let desks = sides.iter().map(|_| None).collect();
        let state = Mutex::new(State { desks, ..State::default() });
        let changed = Condvar::new();
        let shared = Arc::new(Shared {
            command,
            reports,
            signs,
            ledger,
            pinning,
            following,
            offers,
            state,
            changed,
        });
        let supervisor = Self { shared: Arc::clone(&shared), offered };
        let named = |name: &str| thread::Builder::new().name(name.to_owned());
        let tended = Arc::clone(&shared);
        named("playing process").spawn(move || tended.supervise(first))?;
        let watched = Arc::clone(&shared);
        named("watch").spawn(move || watched.watch())?;
        for side in sides {
            let shared = Arc::clone(&shared);
            named(&format!("to slot {}", side.number)).spawn(move || shared.pass_batches(side))?;
        }
        Ok(supervisor)
    }

    /// The external engines that can play there.
    pub(crate) fn offered(&self) -> Offered {
        self.offered.clone()
    }

    /// Has engines obtained. Without a process nothing is built until they are wanted again.
    pub(crate) fn want_builds(&self, engines: Vec<String>) {
        if let Some(running) = &self.shared.state().process {
            running.order(What::Build(Builds { engines }));
        }
    }

    /// Records that a program could not be fetched.
    pub(crate) fn record_unfetched(&self, failed: FailedBuild) {
        if let Some(running) = &self.shared.state().process {
            running.order(What::Unfetched(failed_build_to_wire(failed)));
        }
    }

    /// Ends the process in good order. Blocks until it is gone.
    pub(crate) fn close(&self) {
        let mut state = self.shared.state();
        state.closed = true;
        if let Some(running) = &state.process {
            let _gone = running.orders.send(What::End(End {}));
        }
        self.shared.changed.notify_all();
        let until = Instant::now() + ENDS_WITHIN;
        while !state.left {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                drop(state);
                return self.abandon();
            }
            state = self.shared.wait(state, left);
        }
    }

    /// Ends the process at once, without waiting.
    pub(crate) fn abandon(&self) {
        let mut state = self.shared.state();
        state.closed = true;
        if let Some(running) = &state.process {
            running.kill();
        }
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>, at_most: Duration) -> MutexGuard<'s, State> {
        self.changed.wait_timeout(state, at_most).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Passes on the work of one slot.
    fn pass_batches(&self, side: SlotSide) {
        let SlotSide { number, batches, signs } = side;
        let reports = Arc::clone(&self.reports);
        // Invalid cells need no process.
        let nowhere = Arc::new(Pinning::new(ExclusiveSlots::default()));
        let sharing = Arc::new(Sharing::new(NonZeroU32::MIN));
        let own_slot = Slot { number, signs, reports, engines: None, pinning: nowhere, sharing };
        for batch in batches {
            self.pinning.begin_games(batch.in_quiet, None);
            match &*batch.cell {
                Ok(
                    Ready::Games(_) | Ready::Verification(_) | Ready::Training { found: None, .. },
                ) => {
                    self.assign(number, batch);
                }
                // Its games are not played.
                Ok(Ready::Training { found: Some(_), .. }) | Err(_) => own_slot.play(&batch),
            }
        }
    }

    fn assign(&self, slot: usize, batch: Batch<Arc<Cell>>) {
        let mut state = self.state();
        let was_idle = state.desks.iter().all(Option::is_none);
        state.desks[slot] = Some(Desk {
            batch,
            is_sent: false,
            sequence_before: 0,
            note: Note::default(),
            stood: Duration::ZERO,
            unwanted: Duration::ZERO,
            unasked: ASK_AFTER,
            signalled: (false, false),
            last_reported: None,
        });
        self.send(&mut state, slot);
        if was_idle {
            self.changed.notify_all();
        }
    }

    /// Gives the process a slot's batch, if there is a process.
    fn send(&self, state: &mut State, slot: usize) {
        let State { desks, process: Some(running), .. } = state else { return };
        let Some(desk) = desks[slot].as_mut().filter(|desk| !desk.is_sent) else { return };
        desk.note = self.ledger.slot_note(slot);
        desk.sequence_before = desk.note.sequence;
        let Batch { lease, cell, range, game_timeout, in_quiet, scaled } = &desk.batch;
        let cell_key = running.cell_key(cell);
        let ms = |timeout: &Duration| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        running.order(What::Play(Play {
            slot: u32::try_from(slot).unwrap_or(u32::MAX),
            cell_key,
            lease_id: lease.0,
            cell_id: range.cell.0,
            first_number: range.first,
            count: range.count,
            game_timeout_ms: game_timeout.as_ref().map(ms),
            worker_id: self.reports.worker(),
            in_quiet: *in_quiet,
            scaled: scaled.map(speeds::scaled_to_wire),
        }));
        desk.is_sent = true;
    }

    /// Supervises one process after the other.
    fn supervise(&self, first: (Child, UnixStream)) {
        let mut next = Ok(first);
        let mut soon: u32 = 0;
        loop {
            let began = Instant::now();
            let ended = next.and_then(|(child, socket)| self.serve(child, socket));
            let mut state = self.state();
            if state.closed {
                state.left = true;
                self.changed.notify_all();
                return;
            }
            soon = if began.elapsed() > LIVED_WELL { 0 } else { soon + 1 };
            let again_after = AGAIN_AFTER * (1 << soon.saturating_sub(1).min(DOUBLINGS_MAX));
            match ended {
                Ok(how) => {
                    tracing::error!(
                        how,
                        ?again_after,
                        "the playing process has ended; starting it again"
                    );
                }
                Err(problem) => {
                    tracing::error!(%problem, ?again_after, "failed to start the playing process; trying again");
                }
            }
            let until = Instant::now() + again_after;
            while !state.closed && Instant::now() < until {
                state = self.wait(state, until.saturating_duration_since(Instant::now()));
            }
            drop(state);
            next = self.command.start(&self.ledger);
        }
    }

    /// Listens to one process until its end, and settles its unfinished games. Returns how it
    /// ended.
    fn serve(&self, mut child: Child, socket: UnixStream) -> io::Result<String> {
        let started = self.exchange_messages(&child, &socket);
        // Its end is closed, or missing: no more messages will come.
        let _gone = child.kill();
        let status = child.wait();
        let how = status.as_ref().map_or_else(ToString::to_string, ExitStatus::to_string);
        self.report_ended(&how);
        started.map(|()| how)
    }

    /// Exchanges messages with a process until it ends.
    fn exchange_messages(&self, child: &Child, socket: &UnixStream) -> io::Result<()> {
        let (orders, to_say) = threads::channel();
        let mut to = socket.try_clone()?;
        let mut from = socket.try_clone()?;
        let say = move || {
            let send = |order| wire::write(&mut to, &Order { what: Some(order) });
            if to_say.iter().try_for_each(send).is_err() {
                // A peer that has stopped reading sends nothing more.
                let _gone = to.shutdown(Shutdown::Both);
            }
        };
        thread::Builder::new().name("orders".to_owned()).spawn(say)?;
        {
            let mut state = self.state();
            let pid = Pid::from_child(child);
            let process = Running { pid, orders, cells: Vec::new(), next_key: 0 };
            if state.closed {
                return Ok(());
            }
            state.process = Some(process);
            for slot in 0..state.desks.len() {
                self.send(&mut state, slot);
            }
        }
        while let Ok(Some(Said { news: Some(news) })) = wire::read(&mut from) {
            self.handle_news(news);
        }
        self.state().process = None;
        Ok(())
    }

    fn handle_news(&self, news: News) {
        match news {
            News::Offers(wire::Offers { engines, built: names, failed, accepted }) => {
                match offers(&engines).and_then(|offered| {
                    Ok(EnginesNow { offered, built: built(&names, &accepted, &failed)? })
                }) {
                    Ok(now) => {
                        let now = Some(now);
                        self.offers.send_if_modified(|before| {
                            let is_other = *before != now;
                            *before = now;
                            is_other
                        });
                    }
                    Err(problem) => {
                        tracing::error!(%problem, "what can play here is not understood")
                    }
                }
            }
            News::Finished(wire::Finished { slot, results }) => {
                let slot = slot as usize;
                let results: Vec<_> = results.into_iter().map(Finished::from_result).collect();
                if let Some(desk) = &mut self.state().desks[slot] {
                    desk.last_reported = results.last().and_then(Finished::number);
                }
                self.reports.finished(slot, results);
            }
            News::Moves(wire::Moves { slot, game }) => {
                self.signs[slot as usize].moves.publish(game);
            }
            News::Freed(wire::Freed { slot, played, took_ns }) => {
                let slot = slot as usize;
                self.state().desks[slot] = None;
                self.reports.freed(slot, played, Duration::from_nanos(took_ns));
            }
        }
    }

    /// The process has ended: settles the games that were in progress.
    fn report_ended(&self, how: &str) {
        let mut state = self.state();
        let killed_for = state.killed_for.take();
        let mut slots = Vec::new();
        for (slot, desk) in state.desks.iter_mut().enumerate() {
            if desk.as_ref().is_some_and(|desk| desk.is_sent) {
                slots.extend(desk.take().map(|desk| (slot, desk)));
            }
        }
        let at_its_end = |(slot, desk)| {
            let note = self.ledger.slot_note(slot);
            // The game it was killed for may have ended in that moment.
            let is_to_blame = killed_for.is_none_or(|killed_for| killed_for == (slot, note));
            let game = self.in_progress(slot, &desk, note).filter(|_| is_to_blame);
            (slot, game, desk)
        };
        let ended: Vec<_> = slots.into_iter().map(at_its_end).collect();
        // The next process restarts its numbering.
        if let Err(problem) = self.ledger.clear() {
            tracing::error!(%problem, "failed to clear the ledger of the playing process");
        }
        drop(state);
        let in_progress = ended.iter().filter(|(_, game, _)| game.is_some()).count();
        for (slot, game, desk) in ended {
            if let Some(game) = game {
                let message = if killed_for.is_some() {
                    let timeout = desk.batch.game_timeout.unwrap_or_default();
                    format!(
                        "{}, did not stop, and its process was killed",
                        timeout_message(timeout)
                    )
                } else {
                    crash_message(how, in_progress - 1)
                };
                let failure = failed(game, &message);
                self.reports.finished(slot, vec![Finished::new(desk.batch.lease, failure)]);
            }
            // Its duration says nothing about its games.
            self.reports.freed(slot, 0, Duration::ZERO);
        }
    }

    /// The wanted game that a slot of an ended process was playing.
    fn in_progress(&self, slot: usize, desk: &Desk, note: Note) -> Option<GameId> {
        let game = GameId { cell: desk.batch.range.cell, number: note.number };
        let has_begun = note.sequence > desk.sequence_before && desk.batch.range.contains(game);
        let is_handed_in = desk.last_reported.is_some_and(|last| note.number <= last);
        (has_begun && !is_handed_in && !self.signs[slot].is_aborted()).then_some(game)
    }

    /// Watches the games until the end.
    fn watch(&self) {
        let mut state = self.state();
        let mut looked = Instant::now();
        while !state.closed {
            if state.desks.iter().all(Option::is_none) {
                state = self.wait(state, LIVED_WELL);
                looked = Instant::now();
                continue;
            }
            state = self.wait(state, LOOK);
            let passed = looked.elapsed().min(LOOK_COUNTS);
            looked = Instant::now();
            self.check_slots(&mut state, passed);
        }
    }

    /// Passes stop signals to the process and games in progress to the hub, and kills the process if a game
    /// does not stop.
    fn check_slots(&self, state: &mut State, passed: Duration) {
        let State { desks, process: Some(running), killed_for, .. } = state else { return };
        for (slot, desk) in desks.iter_mut().enumerate() {
            let Some(desk) = desk.as_mut().filter(|desk| desk.is_sent) else { continue };
            let signs = &self.signs[slot];
            let signals_now = (signs.is_stopped(), signs.is_aborted());
            if signals_now != desk.signalled {
                let slot = u32::try_from(slot).unwrap_or(u32::MAX);
                running.order(What::Stop(Stop { slot, now: signals_now.1 }));
                desk.signalled = signals_now;
            }
            let note = self.ledger.slot_note(slot);
            if note.sequence > desk.sequence_before {
                signs.begin_game(note.number);
            }
            desk.unasked += passed;
            let game = GameId { cell: desk.batch.range.cell, number: note.number };
            if desk.unasked >= ASK_AFTER && self.following.has(game) {
                running.order(What::TellMoves(u32::try_from(slot).unwrap_or(u32::MAX)));
                desk.unasked = Duration::ZERO;
            }
            if note == desk.note {
                desk.stood += passed;
            } else {
                (desk.note, desk.stood) = (note, Duration::ZERO);
            }
            if signals_now.1 {
                desk.unwanted += passed;
            }
            if killed_for.is_none() && desk.does_not_stop() {
                let (cell, number) = (desk.batch.range.cell.0, note.number);
                tracing::error!(
                    cell,
                    number,
                    "a game does not stop: killing the playing process, and giving its other games back"
                );
                *killed_for = Some((slot, note));
                running.kill();
            }
        }
    }
}

impl Desk {
    /// Whether its game has exceeded its time, or been unwanted, for longer than it may take to notice.
    fn does_not_stop(&self) -> bool {
        let is_timed = self.note.time_runs && self.note.sequence > self.sequence_before;
        let timeout = self.batch.game_timeout.filter(|_| is_timed);
        let is_over = timeout.is_some_and(|limit| self.stood > limit + limit / 10 + STOPS_WITHIN);
        is_over || self.unwanted > UNWANTED_STOPS_WITHIN
    }
}

impl Running {
    fn kill(&self) {
        // A process that has ended is not reaped yet, so its number is not reused.
        let _ended = kill_process(self.pid, Signal::KILL);
    }

    fn order(&self, order: What) {
        // The reader handles a missing process.
        let _gone = self.orders.send(order);
    }

    /// The key of a cell, after sending the cell if the process does not have it.
    fn cell_key(&mut self, cell: &Arc<Cell>) -> u64 {
        for (key, _) in self.cells.extract_if(.., |(_, known_cell)| known_cell.strong_count() == 0)
        {
            let _gone = self.orders.send(What::Forget(key));
        }
        let is_cell = |(_, known_cell): &&(u64, Weak<Cell>)| {
            std::ptr::eq(known_cell.as_ptr(), Arc::as_ptr(cell))
        };
        if let Some((key, _)) = self.cells.iter().find(is_cell) {
            return *key;
        }
        let key = self.next_key;
        self.next_key += 1;
        let mut sent = cell_message(key, cell);
        if let Some(listed) = listed_positions(cell) {
            let lists_same = |(_, weak): &(u64, Weak<Cell>)| {
                let positions = weak.upgrade();
                let positions = positions.as_deref().and_then(listed_positions);
                positions.is_some_and(|positions| positions.hash() == listed.hash())
            };
            sent.openings_hash = listed.hash().to_vec();
            if !self.cells.iter().any(lists_same) {
                sent.openings_json = listed.json();
            }
        }
        self.cells.push((key, Arc::downgrade(cell)));
        self.order(What::Cell(sent));
        key
    }
}

/// A cell as a message.
fn cell_message(key: u64, cell: &Cell) -> CellSent {
    let network = |supplied: &Arc<Supplied>| NetworkSent {
        training_json: supplied.training.canonical_json(),
        bytes: supplied.bytes.clone(),
    };
    let (definition_json, networks) = match cell {
        Ok(Ready::Games(games)) => {
            (games.json.clone(), games.networks.iter().map(network).collect())
        }
        Ok(Ready::Verification(replay)) => {
            (replay.json.clone(), replay.networks.iter().map(network).collect())
        }
        Ok(Ready::Training { training, .. }) => (training.canonical_json(), Vec::new()),
        // It is not passed on.
        Err(_) => Default::default(),
    };
    CellSent { key, definition_json, networks, ..CellSent::default() }
}

/// The positions that are separate from a cell's definition, if any.
fn listed_positions(cell: &Cell) -> Option<&Arc<ListedPositions>> {
    match cell {
        Ok(Ready::Games(games)) => games.listed.as_ref(),
        Ok(Ready::Training { .. } | Ready::Verification(_)) | Err(_) => None,
    }
}

/// The failure of a game whose process ended by itself.
fn crash_message(how: &str, others: usize) -> String {
    let others = match others {
        0 => String::new(),
        1 => " (and another game, which may be the cause)".to_owned(),
        _ => format!(" (and {others} other games, any of which may be the cause)"),
    };
    format!("the playing process ended while it was played{others}: {how}")
}
