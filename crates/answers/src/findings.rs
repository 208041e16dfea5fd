//! Problems found in the results and among the workers.

use std::time::Duration;

use spelrum_engine::ENGINE_REVISION;
use spelrum_model::withheld::{Barred, Withheld};
use spelrum_model::{CellId, ExperimentState, WorkerId};

use crate::attention::{Attention, AttentionKind};
use crate::forfeits::{ForfeitedGames, attention_of_forfeits};
use crate::removal::{Removal, Removing};
use crate::summary::{ExperimentSummary, WorkerSummary};

/// Free space below which a file system is too full for a growing database.
const FREE_BYTES_MIN: u64 = 1 << 30;

/// A worker that holds games and was silent for this many heartbeats may be gone. Its games are reassigned after six.
const SILENT_HEARTBEATS: u32 = 3;

/// Maximum length of a shown message.
const MESSAGE_BYTES_SHOWN_MAX: usize = 200;

/// Maximum number of items of one kind that are named.
pub(super) const NAMED_MAX: usize = 100;

/// Findings in the results that may need attention.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Results of deterministic games that differ, by experiment.
    pub conflicts: Vec<Conflicts>,
    /// Games whose verification gave a different result, by experiment, player and verifier.
    pub deviating: Vec<DeviatingGames>,
    /// Results that are not valid records of their games, by experiment.
    pub refused: Vec<RefusedResults>,
    /// Games that finally failed, by experiment.
    pub failed: Vec<FailedGames>,
    /// Games that players forfeited, by experiment and player.
    pub forfeits: Vec<ForfeitedGames>,
    /// Games that were lost twice or more and have no result, by experiment.
    pub lost: Vec<LostGames>,
    /// Unfinished experiments of another engine.
    pub other_engine: Vec<OtherEngine>,
    /// Removals in progress.
    pub removals: Vec<Removal>,
    /// Free bytes of the database's file system, if known.
    pub free_bytes: Option<u64>,
}

/// Results of an experiment's deterministic games that differ from the settled results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts {
    /// The experiment's name.
    pub experiment: String,
    /// Number of results.
    pub results: u64,
    /// Number of workers that reported them.
    pub workers: u64,
    /// Workers that took part, by the differing results or by the settled ones: most conflicts first, truncated if
    /// there are very many.
    pub parties: Vec<ConflictParty>,
}

/// A worker that takes part in conflicts of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictParty {
    /// The worker.
    pub worker: WorkerId,
    /// Its name.
    pub name: String,
    /// Its machine.
    pub host: String,
    /// Its number of conflicts.
    pub conflicts: u64,
}

/// Games of an experiment with a different result when another worker verified them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviatingGames {
    /// The experiment's name.
    pub experiment: String,
    /// Number of games.
    pub games: u64,
    /// The worker that played them, if known.
    pub played_by: Option<NamedParty>,
    /// The worker that replayed them.
    pub verified_by: NamedParty,
}

/// A worker, by its id and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedParty {
    /// The worker.
    pub worker: WorkerId,
    /// Its name.
    pub name: String,
    /// Its machine.
    pub host: String,
}

/// Results of an experiment's games that the rules do not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedResults {
    /// The experiment's name.
    pub experiment: String,
    /// Number of results.
    pub results: u64,
    /// Number of workers that reported them.
    pub workers: u64,
    /// The problem with one of them.
    pub problem: String,
}

/// Games of an experiment that finally failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedGames {
    /// The experiment's name.
    pub experiment: String,
    /// Number of games.
    pub games: u64,
    /// The most common failure message, as far as messages were counted.
    pub most: Option<MostFailed>,
}

/// The most common message among failed games.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MostFailed {
    /// The message.
    pub message: String,
    /// Number of games with this message.
    pub games: u64,
}

/// Games of an experiment that were lost with their workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostGames {
    /// The experiment's name.
    pub experiment: String,
    /// Number of games.
    pub games: u64,
    /// Of these, games suspected of crashing their workers.
    pub suspects: u64,
}

/// An unfinished experiment begun by another engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherEngine {
    /// The experiment's name.
    pub experiment: String,
    /// The revision of that engine.
    pub engine_revision: u32,
}

/// The workers, and the largest cells that wait for them.
#[derive(Clone, Copy, Debug)]
pub struct Workforce<'w> {
    /// The workers.
    pub workers: &'w [WorkerSummary],
    /// For each experiment that waits for workers, the cell whose games need the most memory.
    pub largest: &'w [LargestCell],
    /// Interval of the workers' heartbeats.
    pub heartbeat_interval: Duration,
}

/// A cell, by its id and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCell {
    /// The cell.
    pub cell: CellId,
    /// Its experiment's name.
    pub experiment: String,
    /// The names of its players.
    pub players: [String; 2],
}

/// The cell of an experiment whose games need the most memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargestCell {
    /// The cell.
    pub cell: NamedCell,
    /// Bytes of memory that one of its games may take.
    pub memory_bytes: u64,
}

/// Returns problems in these experiments and in the database as a whole.
#[must_use]
pub fn attention_of_results(
    experiments: &[ExperimentSummary],
    findings: &Findings,
) -> Vec<Attention> {
    let Findings {
        conflicts,
        deviating,
        refused,
        failed,
        forfeits,
        lost,
        other_engine,
        removals,
        free_bytes,
    } = findings;
    let mut attention: Vec<_> = conflicts.iter().map(of_conflicts).collect();
    attention.extend(deviating.iter().map(of_deviating));
    attention.extend(refused.iter().map(of_refused));
    attention.extend(failed.iter().map(of_failed));
    attention.extend(forfeits.iter().filter_map(attention_of_forfeits));
    attention.extend(lost.iter().map(of_lost));
    attention.extend(other_engine.iter().map(of_other_engine));
    let is_stopped = |experiment: &&ExperimentSummary| {
        forfeits.iter().any(|player| player.is_stopped && player.experiment == experiment.name)
    };
    let open = experiments.iter().filter(|experiment| !is_stopped(experiment));
    attention.extend(open.filter_map(paused).take(NAMED_MAX));
    attention.extend(removals.iter().map(removal).take(NAMED_MAX));
    attention.extend(free_bytes.and_then(little_space));
    attention
}

/// Adds problems with workers.
pub fn attention_of_workers(
    experiments: &[ExperimentSummary],
    workforce: Workforce<'_>,
    attention: &mut Vec<Attention>,
) {
    let Workforce { workers, largest, heartbeat_interval } = workforce;
    let silent_ms = silent_ms(heartbeat_interval);
    attention.extend(no_workers(experiments, workers, silent_ms, attention));
    let named = |largest_cell: &&LargestCell| {
        experiments.iter().any(|experiment| experiment.name == largest_cell.cell.experiment)
    };
    attention.extend(
        largest.iter().filter(named).filter_map(|cell| too_large(cell, workers, silent_ms)),
    );
}

/// Adds workers that ask for games and get none.
pub fn attention_of_withheld(
    workers: &[WorkerSummary],
    withheld: &[(WorkerId, Withheld)],
    attention: &mut Vec<Attention>,
) {
    let named = |id| workers.iter().find(|worker| worker.worker == id);
    let problems = withheld.iter().filter_map(|(id, why)| of_withheld(named(*id)?, why));
    attention.extend(problems.take(NAMED_MAX));
}

/// Adds to each worker why it gets no games.
pub fn add_withheld(workers: &mut [WorkerSummary], withheld: &[(WorkerId, Withheld)]) {
    for (id, why) in withheld {
        if let Some(worker) = workers.iter_mut().find(|worker| worker.worker == *id) {
            let why = of_withheld(worker, why);
            worker.conduct.withheld.extend(why);
        }
    }
}

/// Missing capabilities are not reported here but per waiting experiment.
fn of_withheld(worker: &WorkerSummary, why: &Withheld) -> Option<Attention> {
    let WorkerSummary { worker: id, name, host, .. } = worker;
    let (kind, problem, remedy) = match why {
        Withheld::Excluded => (
            AttentionKind::Excluded,
            format!("worker {id} ({name} on {host}) is excluded and gets no games"),
            format!("stop it, or repair its machine and readmit it: spelrum worker readmit {id}"),
        ),
        Withheld::Quarantined { faults, games, left_ms } => (
            AttentionKind::Quarantined,
            format!(
                "worker {id} ({name} on {host}) is quarantined: {faults} of its last {games} games failed, and \
                 were then played by others; it gets games again in {} s",
                left_ms.div_ceil(1_000)
            ),
            format!(
                "read what it wrote, and the view failures; let it in at once: spelrum worker readmit {id}; play what it \
                 played by others: spelrum worker exclude {id}"
            ),
        ),
        Withheld::Barred(Barred {
            engine,
            forfeits,
            games,
            of_others: [other_forfeits, other_games],
        }) => (
            AttentionKind::Barred,
            format!(
                "worker {id} ({name} on {host}) gets no games of {engine}: it forfeited {forfeits} of {games} there, and \
                 {other_forfeits} of {other_games} at other workers; what it played with {engine} is taken out and \
                 played by others"
            ),
            format!(
                "see what {engine} said there: spelrum sql \"SELECT * FROM barred\"; mend the machine and let it in: \
                 spelrum worker readmit {id} --engine {engine}"
            ),
        ),
        Withheld::Unmet(_) => return None,
    };
    Some(Attention { kind, experiment: None, count: 1, problem, remedy })
}

fn of_deviating(deviating: &DeviatingGames) -> Attention {
    let DeviatingGames { experiment, games, played_by, verified_by } = deviating;
    let named = |NamedParty { worker, name, host }: &NamedParty| {
        format!("worker {worker} ({name} on {host})")
    };
    let played_by = played_by.as_ref().map_or_else(|| "an unknown worker".to_owned(), named);
    Attention {
        kind: AttentionKind::Deviating,
        experiment: Some(experiment.clone()),
        count: *games,
        problem: format!(
            "{games} {} that {played_by} played came out otherwise when {} verified {}: one of the two is wrong",
            noun(*games, "game", "games"),
            named(verified_by),
            noun(*games, "it", "them"),
        ),
        remedy: format!(
            "find out which one on a machine that you trust: spelrum verify {experiment}; then discard its results \
             and have its games replayed elsewhere: spelrum worker exclude WORKER"
        ),
    }
}

fn of_conflicts(conflicts: &Conflicts) -> Attention {
    let Conflicts { experiment, results, workers, parties } = conflicts;
    let party = |conflict_party: &ConflictParty| {
        let ConflictParty { worker, name, host, conflicts } = conflict_party;
        format!("worker {worker} ({name} on {host}) is part of {conflicts}")
    };
    let mut parties: String = parties.iter().map(party).collect::<Vec<_>>().join(", ");
    if !parties.is_empty() {
        parties.insert_str(0, ": ");
    }
    Attention {
        kind: AttentionKind::Conflicts,
        experiment: Some(experiment.clone()),
        count: *results,
        problem: format!(
            "{results} {} of {workers} {} from the settled one of the same game, which must not happen{parties}",
            noun(*results, "result", "results"),
            noun(*workers, "worker differs", "workers differ"),
        ),
        remedy: format!(
            "find the worker whose games differ: spelrum verify {experiment}; then have them replayed elsewhere: \
             spelrum worker exclude WORKER"
        ),
    }
}

fn of_refused(refused: &RefusedResults) -> Attention {
    let RefusedResults { experiment, results, workers, problem } = refused;
    Attention {
        kind: AttentionKind::Refused,
        experiment: Some(experiment.clone()),
        count: *results,
        problem: format!(
            "{results} {} of {workers} {} refused, since the rules do not allow {}: {problem}",
            noun(*results, "result", "results"),
            noun(*workers, "worker was", "workers were"),
            noun(*results, "it", "them"),
        ),
        remedy:
            "the games are played again; find the machine whose memory or build is wrong: \
                 spelrum sql \"SELECT w.host, w.name, r.problem FROM refused_results r JOIN workers w \
                 USING (worker_id)\""
                .to_owned(),
    }
}

fn of_failed(failed: &FailedGames) -> Attention {
    let FailedGames { experiment, games, most } = failed;
    let failed = noun(*games, "game has finally failed", "games have finally failed");
    let problem = match most {
        None => format!("{games} {failed}"),
        Some(most) if most.games == *games => {
            format!("{games} {failed}: {}", shortened(&most.message))
        }
        Some(most) => {
            format!("{games} {failed}, {} of them: {}", most.games, shortened(&most.message))
        }
    };
    Attention {
        kind: AttentionKind::FailedGames,
        experiment: Some(experiment.clone()),
        count: *games,
        problem,
        remedy: format!(
            "see them all: spelrum sql \"SELECT * FROM failures WHERE experiment = '{experiment}' \
             AND finally_failed\"; once that is mended: spelrum retry {experiment}"
        ),
    }
}

fn of_lost(lost: &LostGames) -> Attention {
    let LostGames { experiment, games, suspects } = lost;
    let suspects = match suspects {
        0 => String::new(),
        1 => "; 1 of them is suspected of ending its workers".to_owned(),
        count => format!("; {count} of them are suspected of ending their workers"),
    };
    let lost = noun(*games, "game was", "games were");
    Attention {
        kind: AttentionKind::LostGames,
        experiment: Some(experiment.clone()),
        count: *games,
        problem: format!("{games} {lost} lost with a worker twice or more{suspects}"),
        remedy: "read what the workers that ended wrote last, and what their systems say of their \
                 memory; a game that ends ten workers is given up"
            .to_owned(),
    }
}

fn of_other_engine(experiment: &OtherEngine) -> Attention {
    Attention {
        kind: AttentionKind::OtherEngine,
        experiment: Some(experiment.experiment.clone()),
        count: 1,
        problem: format!(
            "it was begun with revision {} of the engine, and this program has {ENGINE_REVISION}: \
             its games are not handed out",
            experiment.engine_revision
        ),
        remedy: "go on with the release it was begun with, or submit it under another name"
            .to_owned(),
    }
}

fn paused(experiment: &ExperimentSummary) -> Option<Attention> {
    let left = experiment.games_unsettled();
    (experiment.state == ExperimentState::Paused).then(|| Attention {
        kind: AttentionKind::Paused,
        experiment: Some(experiment.name.clone()),
        count: left,
        problem: format!("it is paused, with {left} {} to play", noun(left, "game", "games")),
        remedy: format!("resume it: spelrum resume {}", experiment.name),
    })
}

fn removal(removal: &Removal) -> Attention {
    let Removal { experiment, removing, games, games_done, is_shrinking } = removal;
    let removing = match removing {
        Removing::Moves => "its moves are being dropped",
        Removing::Everything => "it is being deleted",
    };
    let left = games.saturating_sub(*games_done);
    let problem = if *is_shrinking {
        format!("{removing}: the rows are gone, the file is shrinking")
    } else {
        format!("{removing}: {left} of {games} {} left", noun(*games, "game is", "games are"))
    };
    Attention {
        kind: AttentionKind::Removal,
        experiment: Some(experiment.clone()),
        count: left,
        problem,
        remedy: "no action needed while a coordinator has the database open: the removal continues by itself".to_owned(),
    }
}

fn little_space(free_bytes: u64) -> Option<Attention> {
    (free_bytes < FREE_BYTES_MIN).then(|| Attention {
        kind: AttentionKind::LittleSpace,
        experiment: None,
        count: free_bytes,
        problem: format!("the database's file system has {} MiB left", free_bytes >> 20),
        remedy: "free some space, or drop the moves of an experiment: spelrum prune".to_owned(),
    })
}

/// Returns the milliseconds after which a worker is silent.
pub(super) fn silent_ms(heartbeat_interval: Duration) -> u64 {
    let silent = heartbeat_interval * SILENT_HEARTBEATS;
    u64::try_from(silent.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the connected workers that play with this engine.
pub fn workers_here(
    workers: &[WorkerSummary],
    heartbeat_interval: Duration,
) -> impl Iterator<Item = &WorkerSummary> {
    let silent_ms = silent_ms(heartbeat_interval);
    workers.iter().filter(move |worker| plays(worker, silent_ms))
}

/// Whether a worker is connected and plays with this engine.
fn plays(worker: &WorkerSummary, silent_ms: u64) -> bool {
    worker.silent_ms < silent_ms && worker.engine_revision == ENGINE_REVISION
}

/// Returns the bytes of memory of each of a worker's slots.
pub(super) fn slot_bytes(worker: &WorkerSummary) -> u64 {
    worker.memory_bytes.map_or(u64::MAX, |offered| offered / u64::from(worker.slots.max(1)))
}

/// A cell that no connected worker gets, because its games may need too much memory.
fn too_large(cell: &LargestCell, workers: &[WorkerSummary], silent_ms: u64) -> Option<Attention> {
    let here = workers.iter().filter(|worker| plays(worker, silent_ms));
    let largest = here.max_by_key(|worker| slot_bytes(worker))?;
    let LargestCell { cell: NamedCell { cell, experiment, players }, memory_bytes } = cell;
    let [first, second] = players;
    (slot_bytes(largest) < *memory_bytes).then(|| Attention {
        kind: AttentionKind::TooLarge,
        experiment: Some(experiment.clone()),
        count: *memory_bytes,
        problem: format!(
            "a game of cell {cell} ({first} against {second}) may take {} MiB of memory, and no connected worker has \
             that much for a slot: {} has most, {} MiB",
            memory_bytes.div_ceil(1 << 20),
            largest.name,
            slot_bytes(largest) >> 20
        ),
        remedy: "start a worker with fewer --slots, or with more --memory where there is more, or \
                 make the players' tables and trees smaller (table_mib, max_tree_nodes, Hash of an engine)"
            .to_owned(),
    })
}

/// Games that wait while no worker is connected.
fn no_workers(
    experiments: &[ExperimentSummary],
    workers: &[WorkerSummary],
    silent_ms: u64,
    attention: &[Attention],
) -> Option<Attention> {
    // A worker with another engine waits for another coordinator.
    let elsewhere = |name: &str| {
        attention.iter().any(|problem| {
            problem.kind == AttentionKind::OtherEngine
                && problem.experiment.as_deref() == Some(name)
        })
    };
    let waits = |experiment: &&ExperimentSummary| {
        experiment.state == ExperimentState::Running
            && experiment.games_unsettled() > 0
            && !elsewhere(&experiment.name)
    };
    let waiting: Vec<_> = experiments.iter().filter(waits).collect();
    if waiting.is_empty() || workers.iter().any(|worker| plays(worker, silent_ms)) {
        return None;
    }
    let games: u64 = waiting.iter().map(|experiment| experiment.games_unsettled()).sum();
    Some(Attention {
        kind: AttentionKind::NoWorkers,
        experiment: match &waiting[..] {
            [only] => Some(only.name.clone()),
            _ => None,
        },
        count: games,
        problem: format!(
            "{games} {} to be played, and no worker is connected",
            noun(games, "game waits", "games wait")
        ),
        remedy: "start one on any machine that reaches this one: spelrum worker --coordinator URL"
            .to_owned(),
    })
}

pub(super) fn noun<'n>(count: u64, one: &'n str, many: &'n str) -> &'n str {
    if count == 1 { one } else { many }
}

/// Shortens a message to one line that fits in a list.
fn shortened(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    if line.len() <= MESSAGE_BYTES_SHOWN_MAX {
        return line.to_owned();
    }
    format!("{}…", &line[..line.floor_char_boundary(MESSAGE_BYTES_SHOWN_MAX)])
}

#[cfg(test)]
mod tests;
