//! Building commits of engines, which sweeps name and coordinators ask for: one after the other, beside the games.
//!
//! What is built is named by a commit alone; its repository and commands are those of the engines file.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use spelrum_engine::EngineCommit;
use spelrum_external::{BuildError, CommitToBuild, Diagnosis, EngineFile, FailureKind, Pool};
use spelrum_model::engines::{BuiltEngines, FailedBuild, OfferedEngine};
use spelrum_proto::limits::{BUILDS_MAX, ENGINES_MAX};

use super::identifying::offer;
use super::offers::Offers;

/// The most built commits that are offered; the oldest makes room for another one.
const OFFERED_MAX: usize = 32;
/// When a commit that could not be fetched may be asked for again: a branch may lead to it by then.
const FETCHED_AGAIN_AFTER: Duration = Duration::from_mins(5);

/// The commits that are to be built, are built, or failed.
#[derive(Debug)]
pub(super) struct Building {
    /// The names of engines that are built from commits.
    engines: Vec<String>,
    offered_max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether a thread builds.
    is_busy: bool,
    /// The names of engines to build; the first is being built.
    queue: VecDeque<String>,
    /// Those that are offered, the oldest first.
    built: VecDeque<String>,
    /// Those that failed, and when they may be tried again, if they may.
    failed: VecDeque<(FailedBuild, Option<Instant>)>,
}

impl Building {
    pub(super) fn new(file: &EngineFile) -> Self {
        let others = file.iter().count();
        Self {
            engines: file.sources().map(|source| source.name().to_owned()).collect(),
            offered_max: OFFERED_MAX.min(ENGINES_MAX.saturating_sub(others)),
            state: Mutex::default(),
        }
    }

    /// What a coordinator has to know of it.
    pub(super) fn now(&self) -> BuiltEngines {
        let failed = self.state().failed.iter().map(|(failed, _)| failed.clone()).collect();
        BuiltEngines { engines: self.engines.clone(), failed }
    }

    /// Queues engines, as far as they are new and can be built here. Returns whether a thread has to be started for
    /// them.
    pub(super) fn want(&self, names: Vec<String>) -> bool {
        let mut state = self.state();
        for name in names.into_iter().take(BUILDS_MAX) {
            let is_here = EngineCommit::parse(&name)
                .is_some_and(|commit| self.engines.contains(&commit.engine));
            let is_known = state.queue.contains(&name)
                || state.built.contains(&name)
                || state.failed.iter().any(|(failed, _)| failed.engine == name);
            if is_here && !is_known && state.queue.len() < BUILDS_MAX {
                state.queue.push_back(name);
            }
        }
        let is_needed = !state.queue.is_empty() && !state.is_busy;
        state.is_busy |= is_needed;
        is_needed
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
        tracing::info!(engine = name, "building a commit of an engine");
        let error = match try_build(name, pool, aborted) {
            Ok(engine) => {
                let version = &engine.identity.name;
                tracing::info!(
                    engine = name,
                    version,
                    "a commit of an engine was built, and is offered"
                );
                offers.add(engine);
                for former in self.record_built(name.to_owned()) {
                    offers.remove(&former);
                    pool.remove(&former);
                }
                return Ok(());
            }
            Err(BuildError::Aborted) => return Err(BuildError::Aborted),
            Err(error) => error,
        };
        let problem = error.to_string();
        let may_pass = matches!(error, BuildError::NotFetched(_));
        self.record_failed(FailedBuild { engine: name.to_owned(), problem }, may_pass);
        offers.announce();
        Err(error)
    }

    /// No thread could be started.
    pub(super) fn pause(&self) {
        self.state().is_busy = false;
    }

    /// Records a build that is offered from here on. Returns those that are no longer offered.
    fn record_built(&self, name: String) -> Vec<String> {
        let mut state = self.state();
        state.queue.retain(|queued| *queued != name);
        state.built.push_back(name);
        let excess = state.built.len().saturating_sub(self.offered_max);
        state.built.drain(..excess).collect()
    }

    /// Records a failed build.
    fn record_failed(&self, failed: FailedBuild, may_pass: bool) {
        let mut state = self.state();
        state.queue.retain(|queued| *queued != failed.engine);
        if state.failed.len() == ENGINES_MAX {
            state.failed.pop_front();
        }
        let again_at = may_pass.then(|| Instant::now() + FETCHED_AGAIN_AFTER);
        state.failed.push_back((failed, again_at));
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

fn try_build(
    name: &str,
    pool: &Pool,
    aborted: &dyn Fn() -> bool,
) -> Result<OfferedEngine, BuildError> {
    let engines = pool.engines();
    let unknown = || BuildError::Failed("the engines file does not build it".to_owned());
    let EngineCommit { engine, commit, bench } = EngineCommit::parse(name).ok_or_else(unknown)?;
    let source = engines.source(&engine).ok_or_else(unknown)?;
    let wanted = CommitToBuild { name, commit: &commit, bench };
    let spec = source.build(wanted, &engines.builds(), pool.guard(), aborted)?;
    pool.add(spec.clone());
    let started = offer(pool, name, aborted);
    pool.close_idle();
    started.map_err(|failure| {
        pool.remove(name);
        if failure.kind == FailureKind::Aborted {
            return BuildError::Aborted;
        }
        let Diagnosis { problem, remedy } = failure.diagnose(&spec);
        BuildError::Failed(format!("it was built, and does not start: {problem}; {remedy}"))
    })
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
        assert_eq!(building.record_built(name(1)), Vec::<String>::new());
        assert_eq!(building.next(), Some(name(2)));
        building.record_failed(FailedBuild { engine: name(2), problem: "no".to_owned() }, false);
        assert_eq!(building.next(), None);
        assert!(!building.want(vec![name(1), name(2)]), "they are known");
        assert!(building.want((0..1_000).map(|number| name(100 + number)).collect()));
        assert_eq!(building.state().queue.len(), BUILDS_MAX);
        assert!(!building.forget_passed());
        let BuiltEngines { engines, failed } = building.now();
        assert_eq!((engines, failed.len()), (vec!["dev".to_owned()], 1));
    }

    #[test]
    fn what_is_kept_has_a_bound() {
        let building = building();
        let dropped: Vec<_> =
            (0..100).flat_map(|number| building.record_built(name(number))).collect();
        assert_eq!(dropped, (0..68).map(name).collect::<Vec<_>>());
        for number in 0..1_000 {
            let failed = FailedBuild { engine: name(number), problem: "no".to_owned() };
            building.record_failed(failed, true);
        }
        assert_eq!(building.now().failed.len(), ENGINES_MAX);
    }
}
