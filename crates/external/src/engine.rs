//! An engine that runs, and plays game after game.

mod asking;
mod bounds;
mod over_gtp;
mod over_uci;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::breach::Breach;
use crate::build::build_of;
use crate::failure::{EngineFailure, Exit, FailureKind, Phase};
use crate::guard::{EXHAUSTED, Guard};
use crate::identity::{Identity, hash_program};
use crate::place::{Place, Places, options_in_place};
use crate::process::{Aborted, Process};
use crate::processes::peak_bytes;
use crate::situation::{Choice, Conditions, Situation};
use crate::spec::{EngineSpec, OptionValue, Options, Protocol};
use crate::uci::{Declared, Kind};

use over_gtp::OverGtp;
use over_uci::OverUci;

/// An engine that runs. It ends when this is dropped; [`Engine::close`] lets it say goodbye.
#[derive(Debug)]
pub struct Engine {
    spec: EngineSpec,
    options: Options,
    identity: Identity,
    process: Process,
    speaker: Speaker,
    is_lost: bool,
    /// The hardware threads that it was told to run on, if it was.
    kept_on: Option<BTreeSet<u32>>,
    /// Behind the process, which is gone when the place is free.
    _place: Place,
}

/// How an engine went that was told to quit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// Whether it ended by itself in time; else it was killed.
    pub ended_by_itself: bool,
    /// How long that took.
    pub took: Duration,
    /// The last lines that were exchanged with it, those of its guard included.
    pub transcript: String,
}

/// Who knows its protocol.
#[derive(Debug)]
enum Speaker {
    Uci(OverUci),
    Gtp(OverGtp),
}

impl Speaker {
    fn start(
        process: &mut Process,
        spec: &EngineSpec,
        options: &Options,
        aborted: Aborted<'_>,
    ) -> Result<Self, FailureKind> {
        match spec.protocol {
            Protocol::Uci => OverUci::start(process, spec, options, aborted).map(Self::Uci),
            Protocol::Gtp => OverGtp::start(process, spec, options, aborted).map(Self::Gtp),
        }
    }

    fn name_and_author(&self) -> (String, String) {
        match self {
            Self::Uci(uci) => (uci.name(), uci.author()),
            Self::Gtp(gtp) => (gtp.name(), String::new()),
        }
    }
}

impl Engine {
    /// Starts an engine with the options that a sweep wants, and waits until it is ready, unless
    /// `aborted` says that nobody wants it any more.
    ///
    /// # Errors
    /// If an option may not be set, or the engine is not there, does not answer, or ends.
    pub fn start(
        spec: &EngineSpec,
        options: &Options,
        guard: &Guard,
        aborted: Aborted<'_>,
    ) -> Result<Self, EngineFailure> {
        Self::start_in(Places::default().take(&spec.name), spec, options, guard, aborted)
    }

    /// The same in this place.
    pub(crate) fn start_in(
        place: Place,
        spec: &EngineSpec,
        options: &Options,
        guard: &Guard,
        aborted: Aborted<'_>,
    ) -> Result<Self, EngineFailure> {
        let failed = |kind, transcript| {
            let (engine, during) = (spec.name.clone(), Phase::Start);
            EngineFailure { engine, kind, during, transcript }
        };
        // Also where somebody has checked them: options come from the network.
        let options = spec
            .check_options(options)
            .map_err(|refused| failed(FailureKind::NotAllowed(refused), String::new()))?;
        let sha256 = hash_program(&spec.command).map_err(|kind| failed(kind, String::new()))?;
        let build = build_of(spec).map_err(|kind| failed(kind, String::new()))?;
        // Its build is the same in every place.
        let placed = spec.in_place(place.number());
        if spec.has_directory_for_each_place() {
            // Where that is refused, the directory is missing.
            let _missing = std::fs::create_dir_all(&placed.directory);
        }
        let mut process =
            Process::start(&placed, guard).map_err(|kind| failed(kind, String::new()))?;
        let told = options_in_place(&options, place.number());
        match Speaker::start(&mut process, &placed, &told, aborted) {
            Ok(speaker) => {
                let (name, author) = speaker.name_and_author();
                let identity = Identity { name, author, sha256, build };
                let (spec, is_lost, kept_on, _place) = (placed, false, None, place);
                Ok(Self { spec, options, identity, process, speaker, is_lost, kept_on, _place })
            }
            Err(kind) => {
                // What it says when it is ended belongs to the explanation.
                process.end();
                Err(failed(of_guard(kind, &process.transcript()), process.transcript()))
            }
        }
    }

    /// Who it says that it is, and what its program is.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What it is started from.
    #[must_use]
    pub fn spec(&self) -> &EngineSpec {
        &self.spec
    }

    /// The options that it declared, in its order; `None` where its protocol cannot say.
    #[must_use]
    pub fn declared(&self) -> Option<&[Declared]> {
        match &self.speaker {
            Speaker::Uci(uci) => Some(uci.declared()),
            Speaker::Gtp(_) => None,
        }
    }

    /// The GTP commands that it says it knows; empty if it does not say, or speaks UCI.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        let gtp = match &self.speaker {
            Speaker::Gtp(gtp) => Some(gtp),
            Speaker::Uci(_) => None,
        };
        gtp.into_iter().flat_map(OverGtp::commands)
    }

    /// Whether it takes a board of this size; `None` where it is not told sizes. To be asked between games.
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
        let taken = match speaker {
            Speaker::Uci(_) => Ok(None),
            Speaker::Gtp(gtp) => gtp.takes_board(process, spec, size, aborted),
        };
        self.end(taken, Phase::NewGame)
    }

    /// Whether it can play such a game: GTP cannot say that a limit of an earlier one no longer holds.
    #[must_use]
    pub fn suits(&self, conditions: &Conditions) -> bool {
        match &self.speaker {
            Speaker::Uci(_) => true,
            Speaker::Gtp(gtp) => gtp.suits(&self.spec, conditions),
        }
    }

    /// The options that it was started with.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Begins a game: the engine forgets the last one, and is ready. Where `aborted` says that the game
    /// is not wanted any more, the engine is ended.
    ///
    /// # Errors
    /// If it ended since, does not answer, or cannot play under these conditions.
    pub fn new_game(
        &mut self,
        conditions: &Conditions,
        aborted: Aborted<'_>,
    ) -> Result<(), EngineFailure> {
        self.begin(Phase::NewGame)?;
        let Self { spec, process, speaker, .. } = self;
        let begun = match speaker {
            Speaker::Uci(uci) => uci.new_game(process, spec, conditions, aborted),
            Speaker::Gtp(gtp) => gtp.new_game(process, spec, conditions, aborted),
        };
        self.end(begun, Phase::NewGame)
    }

    /// Has it choose a move. `aborted` is asked some twenty times a second; once it says so, the engine
    /// is ended, since it may go on thinking.
    ///
    /// # Errors
    /// If it has no move to offer, in time or at all. After all but a late answer, or one that is no
    /// move, the engine is lost ([`Engine::is_usable`]).
    pub fn choose(
        &mut self,
        situation: &Situation<'_>,
        aborted: Aborted<'_>,
    ) -> Result<Choice, EngineFailure> {
        self.begin(Phase::Move)?;
        let Self { spec, process, speaker, .. } = self;
        let chosen = match speaker {
            Speaker::Uci(uci) => uci.choose(process, spec, situation, aborted),
            Speaker::Gtp(gtp) => gtp.choose(process, spec, situation, aborted),
        };
        self.end(chosen, Phase::Move)
    }

    /// The failure of an engine whose move the rules do not allow, which only its caller can know.
    #[must_use]
    pub fn illegal(&self, mv: &str) -> EngineFailure {
        self.failure(FailureKind::IllegalMove(mv.to_owned()), Phase::Move)
    }

    /// The last lines that were exchanged with it.
    #[must_use]
    pub fn transcript(&self) -> String {
        self.process.transcript()
    }

    /// What it did that its protocol does not allow and this has not told before: once for each kind.
    pub fn take_breaches(&mut self) -> Vec<Breach> {
        match &mut self.speaker {
            Speaker::Uci(uci) => uci.breaches().take_new(),
            Speaker::Gtp(gtp) => gtp.breaches().take_new(),
        }
    }

    /// Whether it can be asked anything, as far as can be seen without asking.
    pub fn is_usable(&mut self) -> bool {
        !self.is_lost && self.process.is_running()
    }

    /// Says `quit`, waits a little, and ends what is left.
    pub fn close(self) {
        self.part();
    }

    /// The same, and tells how it went.
    pub fn part(mut self) -> Parting {
        let (patience, asked) = (self.spec.patience.quit, Instant::now());
        let ended_by_itself = self.process.close("quit\n", patience);
        let took = asked.elapsed();
        Parting { ended_by_itself, took, transcript: self.transcript() }
    }

    /// The most memory, in bytes, that those of its processes have had that run now; `None` where the system does
    /// not say.
    #[must_use]
    pub fn peak_bytes(&self) -> Option<u64> {
        peak_bytes(self.guard_id())
    }

    /// Bytes of its hash table, as far as it is known.
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

    /// The hardware threads that it runs on, if it was told.
    pub(crate) const fn kept_on(&self) -> Option<&BTreeSet<u32>> {
        self.kept_on.as_ref()
    }

    /// It runs on these from now on.
    pub(crate) fn now_runs_on(&mut self, cpus: BTreeSet<u32>) {
        self.kept_on = Some(cpus);
    }

    /// The process from which all others of it descend.
    pub(crate) fn guard_id(&self) -> u32 {
        self.process.guard_id()
    }

    /// Begins to talk to it. Until that has come to an end, nobody knows what it does.
    fn begin(&mut self, during: Phase) -> Result<(), EngineFailure> {
        if std::mem::replace(&mut self.is_lost, true) {
            return Err(self.failure(FailureKind::Gone, during));
        }
        Ok(())
    }

    fn end<T>(&mut self, said: Result<T, FailureKind>, during: Phase) -> Result<T, EngineFailure> {
        // Whoever answers, if late, still knows what it is asked.
        self.is_lost = match &said {
            Ok(_) => false,
            Err(kind) => !matches!(
                kind,
                FailureKind::OutOfTime { .. }
                    | FailureKind::NoMove(_)
                    | FailureKind::IllegalMove(_)
                    | FailureKind::Unsupported(_)
            ),
        };
        if self.is_lost {
            self.process.end();
        }
        said.map_err(|kind| self.failure(kind, during))
    }

    fn failure(&self, kind: FailureKind, during: Phase) -> EngineFailure {
        let (engine, transcript) = (self.spec.name.clone(), self.transcript());
        EngineFailure { engine, kind, during, transcript }
    }
}

/// The UCI option for the size of a hash table, in MiB.
const HASH_OPTION: &str = "Hash";

/// Bytes of an engine's hash table, if its file or these options set the size.
pub(crate) fn hash_bytes(spec: &EngineSpec, options: &Options) -> Option<u64> {
    let mut set = spec.set.iter().chain(options);
    let hash = set.find(|(name, _)| name.eq_ignore_ascii_case(HASH_OPTION))?.1;
    match hash {
        OptionValue::Number(mib) if spec.protocol == Protocol::Uci => Some(mebibytes(*mib)),
        OptionValue::Number(_) | OptionValue::Flag(_) | OptionValue::Text(_) => None,
    }
}

fn mebibytes(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0).saturating_mul(1 << 20)
}

/// What happened to an engine that did not start: its guard may say that the system had no room for it.
fn of_guard(kind: FailureKind, transcript: &str) -> FailureKind {
    if kind != FailureKind::Crash(Exit::Code(EXHAUSTED.into())) {
        return kind;
    }
    let said = transcript.lines().find_map(|line| line.strip_prefix("! guard: "));
    said.map_or(kind, |said| FailureKind::Exhausted(said.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An engine may end with the same status; its guard says why it does.
    #[test]
    fn a_guard_that_finds_no_room_is_told_from_an_engine_that_ends() {
        let ended = || FailureKind::Crash(Exit::Code(75));
        let said = "! guard: Resource temporarily unavailable (os error 11)\n";
        let exhausted = "Resource temporarily unavailable (os error 11)".to_owned();
        assert_eq!(of_guard(ended(), said), FailureKind::Exhausted(exhausted));
        assert_eq!(of_guard(ended(), "! no net\n"), ended());
        let refused = FailureKind::Crash(Exit::Code(126));
        assert_eq!(of_guard(refused.clone(), said), refused);
    }
}
