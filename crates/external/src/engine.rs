//! A running engine, which plays game after game.

mod asking;
mod bounds;
mod over_gtp;
mod over_lines;
mod over_uci;
mod over_xboard;
mod settings;
mod speaker;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::breach::Breach;
use crate::build::hash_build;
use crate::connection::Connection;
use crate::cpu_time::CpuMeter;
use crate::failure::{EngineFailure, Exit, FailureKind, Phase};
use crate::guard::{EXHAUSTED, Guard};
use crate::identity::{Identity, hash_program};
use crate::lines::GameEnd;
use crate::place::{Place, Places, options_in_place};
use crate::process::{Aborted, Process};
use crate::processes::peak_bytes;
use crate::protocol::Protocol;
use crate::situation::{Choice, Conditions, Situation};
use crate::spec::{EngineSpec, OptionValue, Options};
use crate::uci::{Declared, Kind};

use over_gtp::OverGtp;
use over_lines::OverLines;
use over_uci::OverUci;
use over_xboard::OverXboard;
use speaker::Speaker;

/// A running engine. It ends when this is dropped; [`Engine::close`] lets it end in good order.
#[derive(Debug)]
pub struct Engine {
    spec: EngineSpec,
    options: Options,
    identity: Identity,
    process: Connection,
    speaker: Box<dyn Speaker>,
    /// `None` if other games use the process too.
    cpu: Option<CpuMeter>,
    is_lost: bool,
    /// The hardware threads it is pinned to.
    pinned_cpus: Option<BTreeSet<u32>>,
    /// Declared after the process, which is gone when the place is free.
    place: Arc<Place>,
}

/// How an engine ended after `quit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloseReport {
    /// Whether it ended by itself in time; otherwise it was killed.
    pub ended_by_itself: bool,
    /// The time until then.
    pub took: Duration,
    /// The last lines of the conversation, those of its guard included.
    pub transcript: String,
}

/// Greets a process, and sets its options.
fn converse(
    process: &mut Connection,
    spec: &EngineSpec,
    options: &Options,
    conditions: &Conditions,
    aborted: Aborted<'_>,
) -> Result<Box<dyn Speaker>, FailureKind> {
    let game = conditions.game.clone();
    Ok(match spec.protocol {
        Protocol::Uci | Protocol::Ugi => Box::new(OverUci::start(process, spec, options, aborted)?),
        Protocol::Gtp => Box::new(OverGtp::start(process, spec, options, aborted)?),
        Protocol::Lines => Box::new(OverLines::start(process, spec, options, game, aborted)?),
        Protocol::Xboard => Box::new(OverXboard::start(process, spec, options, aborted)?),
    })
}

impl Engine {
    /// Starts an engine with a sweep's options, and waits until it is ready, unless `aborted`
    /// reports that it is no longer wanted.
    ///
    /// # Errors
    /// If an option may not be set, or the engine is missing, does not answer, or ends.
    pub fn start(
        spec: &EngineSpec,
        options: &Options,
        guard: &Guard,
        aborted: Aborted<'_>,
    ) -> Result<Self, EngineFailure> {
        Self::start_for(&Conditions::default(), spec, options, guard, aborted)
    }

    /// The same for a game, which some protocols name at the start of a process: see [`Engine::suits`].
    ///
    /// # Errors
    /// As [`Engine::start`], and if the engine does not play the game.
    pub fn start_for(
        conditions: &Conditions,
        spec: &EngineSpec,
        options: &Options,
        guard: &Guard,
        aborted: Aborted<'_>,
    ) -> Result<Self, EngineFailure> {
        let place = Places::default().take(&spec.name);
        Self::start_in(place, conditions, spec, options, guard, aborted)
    }

    /// The same in this place.
    pub(crate) fn start_in(
        place: Place,
        conditions: &Conditions,
        spec: &EngineSpec,
        options: &Options,
        guard: &Guard,
        aborted: Aborted<'_>,
    ) -> Result<Self, EngineFailure> {
        let failed = |kind, transcript| {
            let (engine, during) = (spec.name.clone(), Phase::Start);
            EngineFailure { engine, kind, during, transcript }
        };
        // Checked here too: options come from the network.
        let options = spec
            .check_options(options)
            .map_err(|refused| failed(FailureKind::NotAllowed(refused), String::new()))?;
        let sha256 = hash_program(&spec.command).map_err(|kind| failed(kind, String::new()))?;
        let build = hash_build(spec).map_err(|kind| failed(kind, String::new()))?;
        // Its build is the same in every place.
        let placed = spec.in_place(place.number());
        if spec.has_directory_for_each_place() {
            // If the directory could not be created, starting the program reports it.
            let _missing = std::fs::create_dir_all(&placed.directory);
        }
        let process = Process::start(&placed, guard).map_err(|kind| failed(kind, String::new()))?;
        let mut process = Connection::Own(Box::new(process));
        let values = options_in_place(&options, place.number());
        match converse(&mut process, &placed, &values, conditions, aborted) {
            Ok(speaker) => {
                let (name, author) = (speaker.name(), speaker.author());
                let identity = Identity { name, author, sha256, build };
                Ok(Self {
                    spec: placed,
                    options,
                    identity,
                    cpu: Some(CpuMeter::new(process.guard_id())),
                    process,
                    speaker,
                    is_lost: false,
                    pinned_cpus: None,
                    place: Arc::new(place),
                })
            }
            Err(kind) => {
                // Its output at the end belongs to the explanation.
                process.end();
                Err(failed(recognize_exhaustion(kind, &process.transcript()), process.transcript()))
            }
        }
    }

    /// Its reported identity, and its program.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Its specification.
    #[must_use]
    pub fn spec(&self) -> &EngineSpec {
        &self.spec
    }

    /// The options that it declared, in its order; `None` if its protocol has none.
    #[must_use]
    pub fn declared(&self) -> Option<&[Declared]> {
        self.speaker.declared()
    }

    /// The GTP commands that it reports; empty if it reports none, or speaks UCI.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        self.speaker.commands().into_iter()
    }

    /// Whether it accepts a board of this size; `None` if its protocol does not state sizes. To be called
    /// between games.
    ///
    /// # Errors
    /// If it does not answer, or ends.
    pub fn takes_board(
        &mut self,
        size: u32,
        aborted: Aborted<'_>,
    ) -> Result<Option<bool>, EngineFailure> {
        self.begin(Phase::NewGame)?;
        let Self { spec, process, speaker, .. } = self;
        let taken = speaker.takes_board(process, spec, size, aborted);
        self.end(taken, Phase::NewGame)
    }

    /// The number of requests that it says it answers at the same time.
    #[must_use]
    pub fn parallel(&self) -> u32 {
        self.speaker.parallel()
    }

    /// The same engine for several games at once, which each take a [seat](Engine::for_another_game).
    pub(crate) fn into_shared(self) -> Self {
        Self { process: self.process.into_shared(), cpu: None, ..self }
    }

    /// Whether several games may use it at once.
    pub(crate) const fn is_shared(&self) -> bool {
        self.process.is_shared()
    }

    /// A shared engine for one more game. It ends with the engine that was shared.
    pub(crate) fn for_another_game(&self) -> Option<Self> {
        Some(Self {
            spec: self.spec.clone(),
            options: self.options.clone(),
            identity: self.identity.clone(),
            process: self.process.another_seat()?,
            speaker: self.speaker.for_another_game()?,
            cpu: None,
            is_lost: false,
            pinned_cpus: None,
            place: Arc::clone(&self.place),
        })
    }

    /// Whether it can play such a game: GTP and XBoard cannot withdraw a limit of an earlier one, and over the
    /// protocol of lines a process belongs to one game.
    #[must_use]
    pub fn suits(&self, conditions: &Conditions) -> bool {
        self.speaker.suits(&self.spec, conditions)
    }

    /// The options it was started with.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Begins a game: the engine drops the last one, and is ready. If `aborted` reports that the game is no
    /// longer wanted, the engine is ended.
    ///
    /// # Errors
    /// If it has ended, does not answer, or cannot play under these conditions.
    pub fn new_game(
        &mut self,
        conditions: &Conditions,
        aborted: Aborted<'_>,
    ) -> Result<(), EngineFailure> {
        self.begin(Phase::NewGame)?;
        if let Some(cpu) = &mut self.cpu {
            cpu.begin_game(self.process.guard_id());
        }
        let Self { spec, process, speaker, .. } = self;
        let begun = speaker.new_game(process, spec, conditions, aborted);
        self.end(begun, Phase::NewGame)
    }

    /// Lets it choose a move. `aborted` is polled some twenty times a second; if true, the engine is ended,
    /// since it may go on thinking.
    ///
    /// # Errors
    /// If it has no move, in time or at all. Except after a late answer, or one that is not a move, the
    /// engine is lost ([`Engine::is_usable`]).
    pub fn choose(
        &mut self,
        situation: &Situation<'_>,
        aborted: Aborted<'_>,
    ) -> Result<Choice, EngineFailure> {
        self.begin(Phase::Move)?;
        if let Some(cpu) = &mut self.cpu {
            cpu.before_move();
        }
        let Self { spec, process, speaker, cpu, .. } = self;
        let chosen = speaker.choose(process, spec, situation, aborted);
        let chosen = chosen.map(|choice| {
            let cpu = cpu.as_mut().and_then(CpuMeter::after_move);
            Choice { cpu, ..choice }
        });
        self.end(chosen, Phase::Move)
    }

    /// Reports the result of a game, if its protocol has a word for that.
    pub fn end_game(&mut self, end: &GameEnd<'_>) {
        if self.is_usable() && !self.speaker.end_game(&mut self.process, end) {
            self.is_lost = true;
            self.process.end();
        }
    }

    /// The failure of an engine with an illegal move, which only the caller can recognise.
    #[must_use]
    pub fn illegal(&self, mv: &str) -> EngineFailure {
        self.failure(FailureKind::IllegalMove(mv.to_owned()), Phase::Move)
    }

    /// The last lines of the conversation.
    #[must_use]
    pub fn transcript(&self) -> String {
        self.process.transcript()
    }

    /// Its breaches of the protocol, of kinds that were not returned before: each kind once.
    pub fn take_breaches(&mut self) -> Vec<Breach> {
        self.speaker.breaches().take_new()
    }

    /// Whether it seems usable, without asking it.
    pub fn is_usable(&mut self) -> bool {
        !self.is_lost && self.process.is_running()
    }

    /// Sends `quit` if the protocol has it, waits a little, and kills the rest.
    pub fn close(self) {
        self.part();
    }

    /// The same, with a report.
    pub fn part(mut self) -> CloseReport {
        let (patience, asked) = (self.spec.patience.quit, Instant::now());
        let ended_by_itself = self.process.close(self.speaker.farewell(), patience);
        let took = asked.elapsed();
        CloseReport { ended_by_itself, took, transcript: self.transcript() }
    }

    /// The peak memory, in bytes, of its present processes together; `None` if unknown.
    #[must_use]
    pub fn peak_bytes(&self) -> Option<u64> {
        peak_bytes(self.guard_id())
    }

    /// Bytes of its hash table, if known.
    pub(crate) fn hash_bytes(&self) -> u64 {
        hash_bytes(&self.spec, &self.options).unwrap_or_else(|| {
            let mut declared = self.declared().into_iter().flatten();
            let hash = declared.find(|option| option.name.eq_ignore_ascii_case(HASH_OPTION));
            match hash.map(|option| &option.kind) {
                Some(Kind::Spin { default, .. }) => mebibytes(*default),
                Some(_) | None => 0,
            }
        })
    }

    /// The hardware threads that it is pinned to, if any.
    pub(crate) const fn pinned_cpus(&self) -> Option<&BTreeSet<u32>> {
        self.pinned_cpus.as_ref()
    }

    /// Records its hardware threads.
    pub(crate) fn set_pinned_cpus(&mut self, cpus: BTreeSet<u32>) {
        self.pinned_cpus = Some(cpus);
    }

    /// The guard, from which all its processes descend.
    pub(crate) fn guard_id(&self) -> u32 {
        self.process.guard_id()
    }

    /// Begins a conversation. Until it is finished, the engine's state is unknown.
    fn begin(&mut self, during: Phase) -> Result<(), EngineFailure> {
        if std::mem::replace(&mut self.is_lost, true) {
            return Err(self.failure(FailureKind::Gone, during));
        }
        Ok(())
    }

    fn end<T>(
        &mut self,
        result: Result<T, FailureKind>,
        during: Phase,
    ) -> Result<T, EngineFailure> {
        // An engine that answers, even late, is still in step.
        self.is_lost = match &result {
            Ok(_) => false,
            Err(kind) => !matches!(
                kind,
                FailureKind::OutOfTime { .. }
                    | FailureKind::NoMove(_)
                    | FailureKind::IllegalMove(_)
                    | FailureKind::Unreadable { .. }
                    | FailureKind::Raised(_)
                    | FailureKind::Unsupported(_)
            ),
        };
        if self.is_lost {
            self.process.end();
        }
        result.map_err(|kind| self.failure(kind, during))
    }

    fn failure(&self, kind: FailureKind, during: Phase) -> EngineFailure {
        let (engine, transcript) = (self.spec.name.clone(), self.transcript());
        EngineFailure { engine, kind, during, transcript }
    }
}

/// The option for the size of a hash table, in MiB.
const HASH_OPTION: &str = "Hash";

/// Bytes of an engine's hash table, if its file or these options set the size.
pub(crate) fn hash_bytes(spec: &EngineSpec, options: &Options) -> Option<u64> {
    let mut set = spec.set.iter().chain(options);
    let hash = set.find(|(name, _)| name.eq_ignore_ascii_case(HASH_OPTION))?.1;
    match hash {
        OptionValue::Number(mib) if spec.protocol.has_usual_options() => Some(mebibytes(*mib)),
        OptionValue::Number(_) | OptionValue::Flag(_) | OptionValue::Text(_) => None,
    }
}

fn mebibytes(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0).saturating_mul(1 << 20)
}

/// The failure of an engine at its start: its guard may report that the system had no room for it.
fn recognize_exhaustion(kind: FailureKind, transcript: &str) -> FailureKind {
    if kind != FailureKind::Crash(Exit::Code(EXHAUSTED.into())) {
        return kind;
    }
    let message = transcript.lines().find_map(|line| line.strip_prefix("! guard: "));
    message.map_or(kind, |message| FailureKind::Exhausted(message.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An engine may end with the same status; only its guard reports the reason.
    #[test]
    fn a_guard_that_finds_no_room_is_told_from_an_engine_that_ends() {
        let ended = || FailureKind::Crash(Exit::Code(75));
        let transcript = "! guard: Resource temporarily unavailable (os error 11)\n";
        let exhausted = "Resource temporarily unavailable (os error 11)".to_owned();
        assert_eq!(recognize_exhaustion(ended(), transcript), FailureKind::Exhausted(exhausted));
        assert_eq!(recognize_exhaustion(ended(), "! no net\n"), ended());
        let refused = FailureKind::Crash(Exit::Code(126));
        assert_eq!(recognize_exhaustion(refused.clone(), transcript), refused);
    }
}
