//! What needs somebody, as far as only a running coordinator knows it: its workers.

use std::time::Duration;

use spelrum_engine::ENGINE_REVISION;
use spelrum_proto::v1;

use super::work::millis;
use crate::store::LargestCell;

/// A worker that holds games and was not heard of for so many heartbeats may be gone. Its games go to
/// others after six.
const SILENT_HEARTBEATS: u32 = 3;

/// Who works, and what is largest of what waits for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Workers<'w> {
    pub(super) workers: &'w [v1::WorkerSummary],
    pub(super) largest: &'w [LargestCell],
}

/// Adds what the workers need.
pub(super) fn of_workers(
    experiments: &[v1::ExperimentSummary],
    Workers { workers, largest }: Workers<'_>,
    heartbeat_interval: Duration,
    attention: &mut Vec<v1::Attention>,
) {
    let silent_ms = millis(heartbeat_interval * SILENT_HEARTBEATS);
    attention.extend(silent(workers, silent_ms));
    attention.extend(nobody(experiments, workers, silent_ms, attention));
    let named = |it: &&LargestCell| experiments.iter().any(|named| named.name == it.experiment);
    attention.extend(
        largest.iter().filter(named).filter_map(|cell| too_large(cell, workers, silent_ms)),
    );
}

/// Whether a worker is here and plays with this engine.
fn plays(worker: &v1::WorkerSummary, silent_ms: u64) -> bool {
    worker.silent_ms < silent_ms && worker.engine_revision == ENGINE_REVISION
}

/// A cell that none of the workers that are here gets, since its games may need too much memory.
fn too_large(
    cell: &LargestCell,
    workers: &[v1::WorkerSummary],
    silent_ms: u64,
) -> Option<v1::Attention> {
    let of_slot = |worker: &v1::WorkerSummary| match worker.memory_bytes {
        0 => u64::MAX,
        offered => offered / u64::from(worker.slots.max(1)),
    };
    let here = workers.iter().filter(|worker| plays(worker, silent_ms));
    let largest = here.max_by_key(|worker| of_slot(worker))?;
    let LargestCell { cell, experiment, players: [first, second], memory_bytes } = cell;
    (of_slot(largest) < *memory_bytes).then(|| v1::Attention {
        kind: "too_large".to_owned(),
        experiment: experiment.clone(),
        count: *memory_bytes,
        problem: format!(
            "a game of cell {cell} ({first} against {second}) may take {} MiB of memory, and no \
             worker that is here has so much for a slot: {} has most, {} MiB",
            memory_bytes.div_ceil(1 << 20),
            largest.name,
            of_slot(largest) >> 20
        ),
        remedy: "start a worker with fewer --slots, or with more --memory where there is more, or \
                 make the players' tables and trees smaller (table_mib, max_tree_nodes)"
            .to_owned(),
    })
}

/// Workers that hold games and say nothing.
fn silent(workers: &[v1::WorkerSummary], silent_ms: u64) -> Option<v1::Attention> {
    let is_silent = |it: &&v1::WorkerSummary| it.leased_games > 0 && it.silent_ms >= silent_ms;
    let silent: Vec<_> = workers.iter().filter(is_silent).collect();
    let longest = silent.iter().max_by_key(|it| it.silent_ms)?;
    let games: u64 = silent.iter().map(|it| it.leased_games).sum();
    let (who, seconds) = (&longest.name, longest.silent_ms / 1_000);
    let problem = match silent.len() {
        1 => format!("the worker {who} holds {games} games and is silent for {seconds} s"),
        many => format!(
            "{many} workers hold {games} games and are silent, {who} for longest ({seconds} s)"
        ),
    };
    Some(v1::Attention {
        kind: "silent_workers".to_owned(),
        experiment: String::new(),
        count: silent.len() as u64,
        problem,
        remedy: "see whether they still run and reach this coordinator; if not, their games soon \
                 go to others by themselves"
            .to_owned(),
    })
}

/// Games that wait for workers, and none is there.
fn nobody(
    experiments: &[v1::ExperimentSummary],
    workers: &[v1::WorkerSummary],
    silent_ms: u64,
    attention: &[v1::Attention],
) -> Option<v1::Attention> {
    // One of another engine waits for another coordinator.
    let elsewhere =
        |name: &str| attention.iter().any(|it| it.kind == "other_engine" && it.experiment == name);
    let waits = |it: &&v1::ExperimentSummary| {
        it.state == "running" && it.games_settled < it.games_planned && !elsewhere(&it.name)
    };
    let waiting: Vec<_> = experiments.iter().filter(waits).collect();
    if waiting.is_empty() || workers.iter().any(|worker| plays(worker, silent_ms)) {
        return None;
    }
    let games: u64 = waiting.iter().map(|it| it.games_planned - it.games_settled).sum();
    Some(v1::Attention {
        kind: "no_workers".to_owned(),
        experiment: match &waiting[..] {
            [only] => only.name.clone(),
            _ => String::new(),
        },
        count: games,
        problem: format!("{games} games wait to be played, and no worker is here"),
        remedy: "start one on any machine that reaches this one: spelrum worker --coordinator URL"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEAT: Duration = Duration::from_secs(5);

    fn experiment(name: &str, state: &str, settled: u64) -> v1::ExperimentSummary {
        v1::ExperimentSummary {
            name: name.to_owned(),
            state: state.to_owned(),
            games_planned: 10,
            games_settled: settled,
            ..Default::default()
        }
    }

    fn worker(name: &str, silent_ms: u64, leased_games: u64) -> v1::WorkerSummary {
        v1::WorkerSummary {
            name: name.to_owned(),
            silent_ms,
            leased_games,
            engine_revision: ENGINE_REVISION,
            ..Default::default()
        }
    }

    fn told(
        experiments: &[v1::ExperimentSummary],
        workers: &[v1::WorkerSummary],
    ) -> Vec<(String, u64, String)> {
        let mut attention = Vec::new();
        let workers = Workers { workers, largest: &[] };
        of_workers(experiments, workers, BEAT, &mut attention);
        attention.into_iter().map(|it| (it.kind, it.count, it.problem)).collect()
    }

    #[test]
    fn games_without_workers_are_named() {
        let running = [experiment("a", "running", 4), experiment("b", "running", 9)];
        let [(kind, 7, problem)] = &told(&running, &[])[..] else { panic!("one") };
        assert_eq!(kind, "no_workers");
        assert_eq!(problem, "7 games wait to be played, and no worker is here");
        // One that went away long ago is not one; one that was heard of lately is.
        assert_eq!(told(&running, &[worker("w", 60_000, 0)]).len(), 1);
        assert_eq!(told(&running, &[worker("w", 1_000, 0)]), []);
        assert_eq!(told(&[experiment("a", "running", 10)], &[]), []);
        assert_eq!(told(&[experiment("a", "paused", 0)], &[]), []);
    }

    /// What a slot has is the worker's memory divided by its slots; one that does not say has any.
    #[test]
    fn a_cell_that_no_worker_can_hold_is_named() {
        let largest = [LargestCell {
            cell: 7,
            experiment: "a".to_owned(),
            players: ["big".to_owned(), "small".to_owned()],
            memory_bytes: 600 << 20,
        }];
        let told = |name: &str, workers: &[v1::WorkerSummary]| {
            let mut attention = Vec::new();
            let workers = Workers { workers, largest: &largest };
            of_workers(&[experiment(name, "running", 4)], workers, BEAT, &mut attention);
            attention.retain(|it| it.kind == "too_large");
            attention
        };
        let offering = |name: &str, mebibytes: u64, silent_ms| v1::WorkerSummary {
            slots: 2,
            memory_bytes: mebibytes << 20,
            ..worker(name, silent_ms, 0)
        };
        let workers = [offering("w", 1_199, 0), offering("v", 300, 0), offering("u", 0, 60_000)];
        let [told_of] = &told("a", &workers)[..] else { panic!("one") };
        assert_eq!((&*told_of.experiment, told_of.count), ("a", 600 << 20));
        assert_eq!(
            told_of.problem,
            "a game of cell 7 (big against small) may take 600 MiB of memory, and no worker that \
             is here has so much for a slot: w has most, 599 MiB"
        );
        assert_eq!(told("b", &workers), []);
        assert_eq!(told("a", &[offering("w", 1_200, 0)]), []);
        assert_eq!(told("a", &[offering("w", 1_199, 0), offering("u", 0, 0)]), []);
        assert_eq!(told("a", &[]), []);
    }

    #[test]
    fn silent_workers_are_named_while_they_hold_games() {
        let workers = [worker("a", 15_000, 4), worker("b", 99_000, 0), worker("c", 1_000, 4)];
        let [(kind, 1, problem)] = &told(&[], &workers)[..] else { panic!("one") };
        assert_eq!(kind, "silent_workers");
        assert_eq!(problem, "the worker a holds 4 games and is silent for 15 s");
        let workers = [worker("a", 15_000, 4), worker("b", 25_000, 2)];
        let [(_, 2, problem)] = &told(&[], &workers)[..] else { panic!("one") };
        assert_eq!(problem, "2 workers hold 6 games and are silent, b for longest (25 s)");
    }
}
