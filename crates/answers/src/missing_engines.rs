//! Cells whose games need engines that no worker has: the engines, the alternatives workers have, and the remedy.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use spelrum_engine::{EngineSource, SourcedEngine};
use spelrum_model::builds::{AWAITED_BUILD, short};
use spelrum_model::capabilities::Inability;
use spelrum_model::demands::Demands;
use spelrum_model::engines::{
    BuiltEngines, FailedBuild, NeededEngine, OfferedEngine, build_text, can_play,
};
use spelrum_model::labels::Label;
use spelrum_model::wanted::Wanted;
use spelrum_model::{CellId, ExperimentId};

use crate::attention::{Attention, AttentionKind};
use crate::findings::{NAMED_MAX, NamedCell, noun, slot_bytes, workers_here};
use crate::summary::{ExperimentSummary, WorkerSummary};

/// Maximum number of workers whose alternatives are listed.
const WORKERS_NAMED_MAX: usize = 3;

/// Command that starts a worker with engines.
const COMMAND: &str = "spelrum worker --coordinator URL --engines FILE";

/// Cells of an experiment that no worker can play, all for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingEngines {
    /// The experiment.
    pub experiment: ExperimentId,
    /// The first of the cells.
    pub cell: CellId,
    /// Number of these cells.
    pub cells: u64,
    reason: Missing,
    /// What workers have of the engine, in words, and the number of further workers that have something.
    alternatives: (Vec<String>, usize),
}

/// What no worker has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Missing {
    /// This engine.
    Engine(NeededEngine),
    /// All of these on one worker; each is on some worker.
    Together(Vec<NeededEngine>),
    /// This much memory for a slot, on workers with these engines.
    Memory(Vec<NeededEngine>, u64),
    /// An engine with this ability.
    Ability(Inability),
}

/// Returns engines that waiting games of these experiments need and no connected worker has.
#[must_use]
pub fn missing_engines(
    experiments: &[ExperimentSummary],
    wanted: &[Wanted],
    workers: &[WorkerSummary],
    heartbeat_interval: Duration,
) -> Vec<MissingEngines> {
    let is_shown = |waiting: &&Wanted| {
        !waiting.demands.engines.is_empty()
            && experiments.iter().any(|e| e.experiment == waiting.experiment)
    };
    let wanted: Vec<&Wanted> = wanted.iter().filter(is_shown).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    // Many machines are equal, and checked at once.
    type Equal<'a> = (&'a [OfferedEngine], &'a BuiltEngines, &'a [Label], u64);
    let mut here: BTreeMap<Equal<'_>, &WorkerSummary> = BTreeMap::new();
    for worker in workers_here(workers, heartbeat_interval) {
        let equal = (&*worker.engines, &*worker.built, &*worker.labels, slot_bytes(worker));
        here.entry(equal).or_insert(worker);
    }
    let here: Vec<&WorkerSummary> = here.into_values().collect();
    let mut cells_by_reason: BTreeMap<(ExperimentId, Missing), (CellId, u64)> = BTreeMap::new();
    for waiting in wanted {
        for reason in missing(waiting, &here) {
            let (cell, cells) =
                cells_by_reason.entry((waiting.experiment, reason)).or_insert((waiting.cell, 0));
            *cell = waiting.cell.min(*cell);
            *cells += waiting.cells;
        }
    }
    let reasons = cells_by_reason.into_iter().take(NAMED_MAX);
    let missing = reasons.map(|((experiment, reason), (cell, cells))| {
        let alternatives = reason.alternatives(&here);
        MissingEngines { experiment, cell, cells, reason, alternatives }
    });
    missing.collect()
}

/// Returns the parts of a demand that no worker meets; empty if a worker can play the games.
fn missing(wanted: &Wanted, here: &[&WorkerSummary]) -> Vec<Missing> {
    let Wanted { demands, memory_bytes, .. } = wanted;
    let engines = &demands.engines;
    let has_room = |worker: &&WorkerSummary| slot_bytes(worker) >= *memory_bytes;
    let needed = |worker: &&WorkerSummary| {
        memory_bytes.saturating_add(demands.unset_hash_bytes(&worker.engines))
    };
    if let Some(inability) = inability_of_all(demands, here) {
        return vec![Missing::Ability(inability)];
    }
    let mut able = here.iter().filter(|worker| demands.has_engines(&worker.engines)).peekable();
    if able.peek().is_some() {
        // Games too large for all workers are reported as that.
        let able: Vec<&&WorkerSummary> = able.collect();
        let can_hold = |worker: &&&WorkerSummary| slot_bytes(worker) >= needed(worker);
        let is_memory = !able.iter().any(can_hold) && here.iter().any(has_room);
        let least = able.into_iter().map(needed).min().filter(|_| is_memory);
        return least.into_iter().map(|bytes| Missing::Memory(engines.to_vec(), bytes)).collect();
    }
    let is_met = |need: &NeededEngine| {
        here.iter().any(|worker| worker.engines.iter().any(|offered| need.is_met_by(offered)))
    };
    let mut unmet: Vec<&NeededEngine> = engines.iter().filter(|need| !is_met(need)).collect();
    // A worker is about to build it: those that offer it already do not meet the need.
    let is_coming = |need: &&NeededEngine| {
        here.iter().any(|worker| {
            worker.built.may_build(&need.engine)
                && worker.engines.iter().all(|offered| offered.engine != need.engine)
                && demands.require.iter().all(|label| label.is_met_by(&worker.labels))
        })
    };
    if !unmet.is_empty() && unmet.iter().all(is_coming) {
        return Vec::new();
    }
    if unmet.is_empty() {
        return vec![Missing::Together(engines.to_vec())];
    }
    unmet.sort_unstable();
    unmet.dedup();
    unmet.into_iter().cloned().map(Missing::Engine).collect()
}

/// Returns what the engines lack on the first worker that has all of them, if every worker's engines lack something.
#[must_use]
pub fn inability_of_all(demands: &Demands, here: &[&WorkerSummary]) -> Option<Inability> {
    let mut has = here.iter().filter(|worker| can_play(&demands.engines, &worker.engines));
    let first = demands.inability(&has.next()?.engines)?;
    has.all(|worker| !demands.has_engines(&worker.engines)).then_some(first)
}

/// Adds engines that games wait for and that connected workers could not build or fetch, or that do not start there.
pub fn attention_of_builds(
    workers: &[WorkerSummary],
    wanted: &[Wanted],
    heartbeat_interval: Duration,
    attention: &mut Vec<Attention>,
) {
    let needed: BTreeSet<&str> = wanted
        .iter()
        .flat_map(|waiting| &waiting.demands.engines)
        .map(|need| need.engine.as_str())
        .collect();
    let failed = workers_here(workers, heartbeat_interval).flat_map(|worker| {
        let failed = worker.built.failed.iter();
        let failed = failed.filter(|failed| needed.contains(failed.engine.as_str()));
        failed.map(move |failed| (worker, failed))
    });
    attention.extend(failed.take(NAMED_MAX).map(|(worker, FailedBuild { engine, problem })| {
        let WorkerSummary { worker: id, name, host, .. } = worker;
        let (cannot, remedy) = match SourcedEngine::parse(engine).map(|sourced| sourced.source) {
            Some(EngineSource::Program { .. }) => (
                "run",
                "push a program that runs there (spelrum engine push) and name it in the sweep; its games are left to \
                 workers that can run it",
            ),
            Some(EngineSource::Commit { .. }) | None => (
                "build",
                "correct the commit or its `bench` in the sweep, or the engines file of that machine, and restart the \
                 worker; until then its games are left to workers that can build the commit",
            ),
        };
        Attention {
            kind: AttentionKind::FailedBuild,
            experiment: None,
            count: 1,
            problem: format!("worker {id} ({name} on {host}) cannot {cannot} {engine}: {problem}"),
            remedy: remedy.to_owned(),
        }
    }));
}

/// Adds missing engines. `cells` has the names of the cells reported as examples.
pub fn attention_of_engines(
    experiments: &[ExperimentSummary],
    missing: &[MissingEngines],
    cells: &[NamedCell],
    attention: &mut Vec<Attention>,
) {
    attention.extend(missing.iter().filter_map(|missing_engines| {
        let experiment = experiments.iter().find(|e| e.experiment == missing_engines.experiment)?;
        let cell = cells.iter().find(|cell| cell.cell == missing_engines.cell)?;
        Some(Attention {
            kind: AttentionKind::MissingEngines,
            experiment: Some(experiment.name.clone()),
            count: missing_engines.cells,
            problem: missing_engines.problem(cell),
            remedy: missing_engines.remedy(),
        })
    }));
}

impl MissingEngines {
    fn problem(&self, NamedCell { cell, players: [first, second], .. }: &NamedCell) -> String {
        let example = format!("cell {cell} ({first} against {second})");
        if let Missing::Ability(inability) = &self.reason {
            let subject = match self.cells {
                1 => example,
                cells => format!("{cells} cells, such as {example}"),
            };
            return format!("no worker can play {subject}: {inability}");
        }
        let subject = match self.cells {
            1 => format!("{example} needs"),
            cells => format!("{cells} cells, such as {example}, need"),
        };
        let mut problem = match &self.reason {
            Missing::Engine(engine) => {
                let lacks = if is_pushed(engine) { "accepts" } else { "has" };
                format!("{subject} {engine}, which no connected worker {lacks}")
            }
            Missing::Together(engines) => {
                format!("{subject} {} at once, which no connected worker can run", list(engines))
            }
            Missing::Memory(engines, bytes) => format!(
                "{subject} {} and up to {} MiB of memory for a slot, which no connected worker has \
                 together",
                list(engines),
                bytes.div_ceil(1 << 20)
            ),
            Missing::Ability(inability) => inability.to_string(),
        };
        let (alternatives, more) = &self.alternatives;
        for (text, mark) in alternatives.iter().zip([":"].into_iter().chain(std::iter::repeat(";")))
        {
            problem += &format!("{mark} {text}");
        }
        if *more > 0 {
            problem += &format!("; and {more} {}", noun(*more as u64, "other", "others"));
        }
        problem
    }

    fn remedy(&self) -> String {
        match &self.reason {
            Missing::Ability(inability) => {
                let Inability { remedy, .. } = inability;
                format!("{remedy}; or start a worker whose engine can: {COMMAND}")
            }
            Missing::Engine(need) if is_pushed(need) => {
                "list its name under [accept_programs] in the engines file of a machine that may run it \
                 (docs/engines.md), and start a worker there with --engines FILE"
                    .to_owned()
            }
            Missing::Engine(_) if self.alternatives.0.is_empty() => {
                format!("start a worker on a machine that has it: {COMMAND}")
            }
            Missing::Engine(_) => format!(
                "start a worker on a machine that has it: {COMMAND}; or let the sweep ask for what there is"
            ),
            Missing::Together(_) => format!(
                "start a worker on a machine that has all of it, or raise at_once in the engines file of \
                 one: {COMMAND}"
            ),
            Missing::Memory(..) => format!(
                "start a worker with fewer --slots, or with more --memory, on a machine that has it: {COMMAND}"
            ),
        }
    }
}

impl Missing {
    /// Returns what workers have of the engine.
    fn alternatives(&self, here: &[&WorkerSummary]) -> (Vec<String>, usize) {
        let mut offers: Vec<String> =
            here.iter().filter_map(|worker| self.worker_alternative(worker)).collect();
        let more = offers.len().saturating_sub(WORKERS_NAMED_MAX);
        offers.truncate(WORKERS_NAMED_MAX);
        (offers, more)
    }

    fn worker_alternative(&self, worker: &WorkerSummary) -> Option<String> {
        let offers = |needed: &[NeededEngine]| {
            let is_meant =
                |offer: &&OfferedEngine| needed.iter().any(|need| need.engine == offer.engine);
            worker.engines.iter().filter(is_meant).cloned().collect::<Vec<_>>()
        };
        let offers: Vec<String> = match self {
            Self::Engine(need) => {
                let describe = |offer: &OfferedEngine| {
                    let [first, second, third, fourth, ..] = offer.identity.sha256;
                    let hash = format!(", SHA-256 {first:02x}{second:02x}{third:02x}{fourth:02x}…");
                    let hash = need.sha256.map_or(String::new(), |_| hash);
                    // An awaited build is not one to compare with.
                    let is_named =
                        need.build.as_deref().is_some_and(|build| build != AWAITED_BUILD);
                    let build = match is_named.then(|| build_text(offer.build)) {
                        Some(build) => format!(", build {}", short(&build)),
                        None => String::new(),
                    };
                    format!("{}{hash}{build}", describe(offer))
                };
                offers(std::slice::from_ref(need)).iter().map(describe).collect()
            }
            Self::Together(engines) => {
                let describe = |offer: &OfferedEngine| {
                    format!("{}, {} at once", describe(offer), offer.at_once)
                };
                offers(engines).iter().map(describe).collect()
            }
            Self::Memory(engines, _) if can_play(engines, &worker.engines) => {
                vec![format!("{} MiB for a slot", slot_bytes(worker) >> 20)]
            }
            Self::Memory(..) | Self::Ability(_) => Vec::new(),
        };
        (!offers.is_empty()).then(|| format!("{} has {}", worker.name, offers.join(" and ")))
    }
}

/// Whether an engine is a program that was pushed to the coordinator.
fn is_pushed(need: &NeededEngine) -> bool {
    SourcedEngine::parse(&need.engine)
        .is_some_and(|sourced| matches!(sourced.source, EngineSource::Program { .. }))
}

/// Describes an engine that a worker offers.
fn describe(offer: &OfferedEngine) -> String {
    let OfferedEngine { engine, protocol, identity, .. } = offer;
    match identity.name.as_str() {
        "" => format!("{engine} ({})", protocol.name()),
        name => format!("{engine} ({}), which calls itself {name:?}", protocol.name()),
    }
}

/// Equal engines are counted.
fn list(engines: &[NeededEngine]) -> String {
    let mut engines: Vec<&NeededEngine> = engines.iter().collect();
    engines.sort_unstable();
    let texts: Vec<String> = engines
        .chunk_by(|a, b| a == b)
        .map(|same| match same {
            [only] => only.to_string(),
            several => format!("{} of {}", several.len(), several[0]),
        })
        .collect();
    texts.join(" and ")
}

#[cfg(test)]
mod tests;
