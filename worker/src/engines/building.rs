//! Obtaining engines that sweeps name and coordinators ask for, one after the other, beside the games: by building a
//! commit, or by starting a program that was fetched.
//!
//! What is built is named by a commit alone; its repository and commands are those of the engines file. A program is
//! named by its hash alone; how it runs is said by the engines file.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use spelrum_engine::{EngineSource, SourcedEngine};
use spelrum_external::{
    AcceptedPrograms, BuildError, CommitToBuild, Diagnosis, EngineFile, EngineSpec, FailureKind,
    Pool,
};
use spelrum_model::engines::{ANY_NAME, BuiltEngines, FailedBuild, OfferedEngine};
use spelrum_programs::Sha256Hex;
use spelrum_proto::limits::{BUILDS_MAX, ENGINES_MAX};

use super::Engines;
use super::identifying::offer;
use super::offers::Offers;

/// The most built commits that are offered. Further ones wait until one was not used for a while, which makes room.
const OFFERED_MAX: usize = 32;
const UNUSED_AFTER: Duration = Duration::from_mins(30);
/// When a commit that could not be fetched may be asked for again: a branch may lead to it by then.
const TRIED_AGAIN_AFTER: Duration = Duration::from_mins(5);

/// The engines that are to be obtained, are here, or failed.
#[derive(Debug)]
pub(super) struct Building {
    /// The names of engines that are built from commits.
    engines: Vec<String>,
    accepted: Option<AcceptedPrograms>,
    offered_max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether a thread builds.
    is_busy: bool,
    /// The names of engines to build; the first is being built.
    queue: VecDeque<String>,
    /// Those that are offered, each with its last use.
    built: BTreeMap<String, Instant>,
    /// Those that failed, and when they may be tried again, if they may.
    failed: Vec<(FailedBuild, Option<Instant>)>,
}

impl Building {
    pub(super) fn new(file: &EngineFile) -> Self {
        let others = file.iter().count();
        Self {
            engines: file.sources().map(|source| source.name().to_owned()).collect(),
            accepted: file.accepted().cloned(),
            offered_max: OFFERED_MAX.min(ENGINES_MAX.saturating_sub(others)),
            state: Mutex::default(),
        }
    }

    /// The engines that can be built here, and failed builds, as a worker introduces itself with them.
    pub(super) fn now(&self) -> BuiltEngines {
        let failed = self.state().failed.iter().map(|(failed, _)| failed.clone()).collect();
        let accepted = self.accepted.as_ref().map_or(Vec::new(), |accepted| {
            accepted.names().map_or_else(|| vec![ANY_NAME.to_owned()], <[String]>::to_vec)
        });
        BuiltEngines { engines: self.engines.clone(), accepted, failed }
    }

    /// Queues engines, as far as they are new and can be built here. Returns whether a thread has to be started for
    /// them.
    pub(super) fn want(&self, names: Vec<String>) -> bool {
        let mut state = self.state();
        // Failures of programs that nobody asks for any more make room for others.
        if state.failed.len() >= ENGINES_MAX {
            state.failed.remove(0);
        }
        for name in names.into_iter().take(BUILDS_MAX) {
            // Beyond that, a build would take the place of one that is in use, or of a failure, and be asked for again.
            let in_use = state.built.values().filter(|used| used.elapsed() < UNUSED_AFTER).count();
            let has_room = in_use + state.queue.len() < self.offered_max
                && state.failed.len() + state.queue.len() < ENGINES_MAX;
            let is_here = SourcedEngine::parse(&name).is_some_and(|sourced| self.has(&sourced));
            let is_known = state.queue.contains(&name)
                || state.built.contains_key(&name)
                || state.failed.iter().any(|(failed, _)| failed.engine == name);
            if is_here && !is_known && has_room && state.queue.len() < BUILDS_MAX {
                state.queue.push_back(name);
            }
        }
        let is_needed = !state.queue.is_empty() && !state.is_busy;
        state.is_busy |= is_needed;
        is_needed
    }

    /// Whether such an engine can be obtained here.
    fn has(&self, SourcedEngine { engine, source }: &SourcedEngine) -> bool {
        match source {
            EngineSource::Commit { .. } => self.engines.contains(engine),
            EngineSource::Program { .. } => {
                self.accepted.as_ref().is_some_and(|accepted| accepted.accepts(engine))
            }
        }
    }

    /// The next engine to build; `None` ends the thread.
    pub(super) fn next(&self) -> Option<String> {
        let mut state = self.state();
        let next = state.queue.front().cloned();
        state.is_busy = next.is_some();
        next
    }

    /// Builds an engine, and offers it; records why it cannot be built.
    pub(super) fn build(
        &self,
        name: &str,
        pool: &Pool,
        offers: &Offers,
        aborted: &dyn Fn() -> bool,
    ) -> Result<(), BuildError> {
        tracing::info!(engine = name, "preparing an engine that a sweep names");
        let error = match try_build(name, pool, aborted) {
            Ok(engine) => {
                let version = &engine.identity.name;
                tracing::info!(
                    engine = name,
                    version,
                    "an engine that a sweep names is ready, and is offered"
                );
                offers.add(engine);
                if let Some(former) = self.record_built(name.to_owned()) {
                    offers.remove(&former);
                    pool.remove(&former);
                }
                return Ok(());
            }
            Err(BuildError::Aborted) => return Err(BuildError::Aborted),
            Err(error) => error,
        };
        let problem = error.to_string();
        let may_pass = matches!(error, BuildError::MayPass(_));
        self.record_failed(FailedBuild { engine: name.to_owned(), problem }, may_pass);
        offers.announce();
        Err(error)
    }

    /// No thread could be started.
    pub(super) fn pause(&self) {
        self.state().is_busy = false;
    }

    /// Records a build that is offered from here on. Returns one that is not, in exchange.
    fn record_built(&self, name: String) -> Option<String> {
        let mut state = self.state();
        state.queue.retain(|queued| *queued != name);
        let oldest =
            state.built.iter().min_by_key(|(_, used)| **used).map(|(name, _)| name.clone());
        state.built.insert(name, Instant::now());
        let former = oldest.filter(|_| state.built.len() > self.offered_max)?;
        state.built.remove(&former);
        Some(former)
    }

    /// Records a game of these engines.
    pub(super) fn record_use(&self, names: &[&str]) {
        if !self.engines.is_empty() || self.accepted.is_some() {
            let mut state = self.state();
            for name in names {
                let Some(used) = state.built.get_mut(*name) else { continue };
                if let Some(accepted) = &self.accepted
                    && let Some(sha256) = program(name)
                {
                    accepted.programs().record_use(&sha256);
                }
                *used = Instant::now();
            }
        }
    }

    /// Takes back a build whose program no longer starts, so that it is built again when it is next asked for. Returns
    /// whether it is one.
    pub(super) fn withdraw(&self, name: &str, pool: &Pool, offers: &Offers) -> bool {
        if self.state().built.remove(name).is_none() {
            return false;
        }
        offers.remove(name);
        pool.remove(name);
        if let Some(sourced) = SourcedEngine::parse(name) {
            forget(&sourced, &pool.engines());
        }
        true
    }

    /// Records a failure.
    fn record_failed(&self, failed: FailedBuild, may_pass: bool) {
        let mut state = self.state();
        state.queue.retain(|queued| *queued != failed.engine);
        let again_at = may_pass.then(|| Instant::now() + TRIED_AGAIN_AFTER);
        state.failed.push((failed, again_at));
    }

    /// Forgets failures that may have passed. Returns whether there were any.
    pub(super) fn forget_passed(&self) -> bool {
        let mut state = self.state();
        let before = state.failed.len();
        let now = Instant::now();
        state.failed.retain(|(_, again_at)| again_at.is_none_or(|again_at| again_at > now));
        state.failed.len() < before
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engines {
    /// Obtains engines in the background, each once, and offers them. Engines that the engines file has no source
    /// for are ignored.
    pub(crate) fn want_builds(&self, names: Vec<String>) {
        if !self.0.building.want(names) {
            return;
        }
        let engines = self.clone();
        let work = move || {
            while let Some(name) = engines.0.building.next() {
                match engines.build(&name, &|| false) {
                    Ok(()) => {}
                    Err(BuildError::Aborted) => return,
                    Err(problem) => tracing::error!(engine = name, %problem,
                        "an engine that a sweep names cannot play here: its games are left to other workers"),
                }
            }
        };
        // Without a thread they are built as soon as they are asked for again.
        if let Err(error) = thread::Builder::new().name("builds".to_owned()).spawn(work) {
            tracing::error!(%error, "no thread could be started that builds engines");
            self.0.building.pause();
        }
    }

    /// Records that a program could not be fetched; it may be asked for again later.
    pub(crate) fn record_unfetched(&self, failed: FailedBuild) {
        tracing::error!(
            engine = failed.engine,
            problem = failed.problem,
            "a program cannot be fetched: its games are left to other workers"
        );
        let building = &self.0.building;
        let is_known =
            building.state().failed.iter().any(|(known, _)| known.engine == failed.engine);
        if !is_known {
            building.record_failed(failed, true);
            self.0.offers.announce();
        }
    }

    /// Obtains an engine, and offers it. Blocks until then.
    ///
    /// # Errors
    /// If it is aborted, cannot be built, or does not start. The problem is reported to the coordinator.
    pub fn build(&self, name: &str, aborted: &dyn Fn() -> bool) -> Result<(), BuildError> {
        let super::Shared { building, pool, offers, closed, .. } = &*self.0;
        building.build(name, pool, offers, &|| closed.load(Ordering::Relaxed) || aborted())
    }
}

fn try_build(
    name: &str,
    pool: &Pool,
    aborted: &dyn Fn() -> bool,
) -> Result<OfferedEngine, BuildError> {
    let engines = pool.engines();
    let sourced = SourcedEngine::parse(name)
        .ok_or_else(|| BuildError::Failed("it names no source".to_owned()))?;
    let (spec, done) = match &sourced.source {
        EngineSource::Commit { commit, bench } => {
            let wanted = CommitToBuild { name, commit, bench: *bench };
            (build_commit(&sourced.engine, wanted, pool, aborted)?, "was built, and")
        }
        EngineSource::Program { .. } => (kept_program(name, &engines)?, "was fetched, and"),
    };
    pool.add(spec.clone());
    let started = offer(pool, name, aborted);
    pool.close_idle();
    let (problem, is_kept) = match started {
        Ok(engine) if program(name).is_none_or(|hash| hash == engine.identity.sha256.into()) => {
            return Ok(engine);
        }
        Ok(_) => (BuildError::MayPass("the file that was kept of it is damaged".to_owned()), false),
        Err(failure) if failure.kind == FailureKind::Aborted => (BuildError::Aborted, true),
        Err(failure) if matches!(failure.kind, FailureKind::Exhausted(_)) => {
            (BuildError::MayPass(failure.to_string()), true)
        }
        Err(failure) => {
            let Diagnosis { problem, remedy } = failure.diagnose(&spec);
            // A program may be tried by hand; another build of a commit may differ.
            let problem = format!("it {done} does not start: {problem}; {remedy}");
            (BuildError::Failed(problem), program(name).is_some())
        }
    };
    pool.remove(name);
    if !is_kept {
        forget(&sourced, &engines);
    }
    Err(problem)
}

fn build_commit(
    engine: &str,
    wanted: CommitToBuild<'_>,
    pool: &Pool,
    aborted: &dyn Fn() -> bool,
) -> Result<EngineSpec, BuildError> {
    let engines = pool.engines();
    let source = engines
        .source(engine)
        .ok_or_else(|| BuildError::Failed("the engines file does not build it".to_owned()))?;
    let builds = engines.builds().ok_or_else(|| {
        let problem = "neither HOME nor XDG_CACHE_HOME names a folder for builds; `builds` in the engines file names one";
        BuildError::Failed(problem.to_owned())
    })?;
    source.build(wanted, &builds, pool.guard(), aborted)
}

/// A program that was fetched, as an engine.
fn kept_program(name: &str, engines: &EngineFile) -> Result<EngineSpec, BuildError> {
    let (Some(accepted), Some(sha256)) = (engines.accepted(), program(name)) else {
        return Err(BuildError::Failed("the engines file accepts no programs".to_owned()));
    };
    let programs = accepted.programs();
    if programs.size(&sha256).is_none() {
        return Err(BuildError::MayPass("its file is no longer there".to_owned()));
    }
    programs.record_use(&sha256);
    Ok(accepted.engine(name, &sha256))
}

/// Has an engine obtained anew the next time.
fn forget(SourcedEngine { engine, source }: &SourcedEngine, engines: &EngineFile) {
    match source {
        EngineSource::Commit { commit, .. } => {
            if let (Some(source), Some(builds)) = (engines.source(engine), engines.builds()) {
                source.forget(commit, &builds);
            }
        }
        EngineSource::Program { sha256 } => {
            if let (Some(accepted), Ok(sha256)) = (engines.accepted(), sha256.parse()) {
                accepted.programs().remove(&sha256);
            }
        }
    }
}

/// The hash of a pushed program, if the name is that of one.
pub(crate) fn program(name: &str) -> Option<Sha256Hex> {
    match SourcedEngine::parse(name)?.source {
        EngineSource::Program { sha256 } => sha256.parse().ok(),
        EngineSource::Commit { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn building() -> Building {
        let text = "[engines.dev]\nprotocol = \"uci\"\ngit = \"/repository\"\nbuild = \"make\"\ncommand = \"./dev\"";
        Building::new(&EngineFile::parse(text, Path::new("/engines.toml")).unwrap())
    }

    fn name(number: u64) -> String {
        format!("dev@{number:040x}")
    }

    #[test]
    fn each_commit_is_built_once_and_few_wait() {
        let building = building();
        assert!(building.want(vec![name(1), name(1), "dev@..".to_owned(), "base".to_owned()]));
        assert!(!building.want(vec![name(1), name(2)]), "a thread builds");
        assert_eq!(building.next(), Some(name(1)));
        assert_eq!(building.record_built(name(1)), None);
        assert_eq!(building.next(), Some(name(2)));
        building.record_failed(FailedBuild { engine: name(2), problem: "no".to_owned() }, false);
        assert_eq!(building.next(), None);
        assert!(!building.want(vec![name(1), name(2)]), "they are known");
        assert!(building.want((0..1_000).map(|number| name(100 + number)).collect()));
        assert_eq!(building.state().queue.len(), BUILDS_MAX);
        assert!(!building.forget_passed());
        let BuiltEngines { engines, accepted, failed } = building.now();
        assert_eq!((engines, failed.len()), (vec!["dev".to_owned()], 1));
        assert_eq!(accepted, Vec::<String>::new());
    }

    #[test]
    fn programs_are_accepted_under_plain_and_listed_names() {
        let building = |names: &str| {
            let text = format!("builds = \"b\"\n[accept_programs]\nprotocol = \"uci\"\n{names}");
            Building::new(&EngineFile::parse(&text, Path::new("/engines.toml")).unwrap())
        };
        let named = |name: &str| vec![format!("{name}@{:064x}", 7)];
        assert_eq!(building("").now().accepted, [ANY_NAME]);
        assert!(building("").want(named("dev")) && !building("").want(named("a/../b")));
        let listed = building("names = [\"dev\", \"base\"]");
        assert!(!listed.want(named("other")) && listed.want(named("base")));
        assert!(!building("names = []").want(named("dev")));
        assert!(!super::tests::building().want(named("dev")), "none is accepted without the table");
    }

    /// Until a restart; otherwise each would take the place of another that is asked for again.
    #[test]
    fn builds_and_failures_are_bounded() {
        let building = building();
        for number in 0..1_000 {
            building.want(vec![name(number)]);
            if let Some(next) = building.next() {
                assert_eq!(building.record_built(next), None);
            }
        }
        assert_eq!(building.state().built.len(), OFFERED_MAX);
        assert_eq!(building.record_built(name(0)), None);
        assert_eq!(building.record_built(name(5_000)), Some(name(1)), "the one unused for longest");
        assert_eq!(building.next(), None);
        let building = self::building();
        for number in 0..1_000 {
            building.want(vec![name(number)]);
            if let Some(engine) = building.next() {
                building.record_failed(FailedBuild { engine, problem: "no".to_owned() }, false);
            }
        }
        assert_eq!(building.now().failed.len(), ENGINES_MAX);
        assert_eq!(building.next(), None);
    }
}
