//! Workers that stopped answering: those that hold games, and those whose games have been reassigned.

use std::time::Duration;

use crate::attention::{Attention, AttentionKind};
use crate::findings::{noun, silent_ms};
use crate::summary::WorkerSummary;

/// Workers lost longer ago than this are no longer reported.
const REPORTED_MS_MAX: u64 = 60 * 60 * 1_000;

/// Maximum number of names of lost workers in one line.
const NAMES_MAX: usize = 5;

/// Adds the workers that stopped answering.
pub fn attention_of_silent(
    workers: &[WorkerSummary],
    heartbeat_interval: Duration,
    attention: &mut Vec<Attention>,
) {
    let silent_ms = silent_ms(heartbeat_interval);
    let silent = || workers.iter().filter(|worker| worker.silent_ms >= silent_ms);
    let holding: Vec<_> = silent().filter(|worker| worker.leased_games > 0).collect();
    let is_lost = |worker: &&WorkerSummary| {
        worker.leased_games == 0
            && worker.lost_games > 0
            && worker.silent_ms < REPORTED_MS_MAX.max(silent_ms)
    };
    let lost: Vec<_> = silent().filter(is_lost).collect();
    attention.extend(of_holding(&holding));
    attention.extend(of_lost(&lost));
}

fn of_holding(silent: &[&WorkerSummary]) -> Option<Attention> {
    let longest = silent.iter().max_by_key(|worker| worker.silent_ms)?;
    let games: u64 = silent.iter().map(|worker| worker.leased_games).sum();
    let noun = noun(games, "game", "games");
    let (longest_name, time) = (named(longest), time(longest.silent_ms));
    let problem = match silent.len() {
        1 => format!("{longest_name} holds {games} {noun} and has been silent for {time}"),
        count => {
            format!(
                "{count} workers hold {games} {noun} and are silent, longest {longest_name} (for {time})"
            )
        }
    };
    Some(Attention {
        kind: AttentionKind::SilentWorkers,
        experiment: None,
        count: silent.len() as u64,
        problem,
        remedy: "see whether they still run and reach this coordinator; if not, their games soon \
                 go to others by themselves"
            .to_owned(),
    })
}

fn of_lost(lost: &[&WorkerSummary]) -> Option<Attention> {
    let first = lost.first()?;
    let games: u64 = lost.iter().map(|worker| worker.lost_games).sum();
    let noun = noun(games, "game", "games");
    let problem = match lost {
        [only] => {
            let time = time(only.silent_ms);
            format!(
                "{} has been silent for {time}; its {games} {noun} went back to be played by others",
                named(only)
            )
        }
        workers => {
            let names: Vec<_> =
                workers.iter().take(NAMES_MAX).map(|worker| named(worker)).collect();
            let more = match workers.len().saturating_sub(NAMES_MAX) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!(
                "{} workers are silent, and their {games} {noun} went back to be played by others: {}{more}",
                workers.len(),
                names.join(", ")
            )
        }
    };
    Some(Attention {
        kind: AttentionKind::SilentWorkers,
        experiment: None,
        count: lost.len() as u64,
        problem,
        remedy: format!(
            "look at the machine and start the worker again; if it is to stay away: spelrum worker dismiss {}",
            first.worker
        ),
    })
}

fn named(worker: &WorkerSummary) -> String {
    let WorkerSummary { worker: id, name, host, .. } = worker;
    format!("worker {id} ({name} on {host})")
}

fn time(ms: u64) -> String {
    match ms / 1_000 {
        seconds @ ..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use spelrum_engine::ENGINE_REVISION;
    use spelrum_model::WorkerId;

    use super::*;

    const BEAT: Duration = Duration::from_secs(5);

    fn worker(name: &str, silent_ms: u64, leased_games: u64, lost_games: u64) -> WorkerSummary {
        WorkerSummary {
            worker: WorkerId(7),
            name: name.to_owned(),
            host: "rack".to_owned(),
            slots: 1,
            quiet_slots: 0,
            engine_revision: ENGINE_REVISION,
            silent_ms,
            leased_games,
            playing_games: 0,
            reported_games: 0,
            lost_games,
            memory_bytes: None,
            engines: Arc::default(),
            engines_total: 0,
            built: Arc::default(),
            labels: Arc::default(),
            credential: None,
            conduct: Default::default(),
        }
    }

    fn problems(workers: &[WorkerSummary]) -> Vec<(u64, String)> {
        let mut attention = Vec::new();
        attention_of_silent(workers, BEAT, &mut attention);
        assert!(attention.iter().all(|problem| problem.kind == AttentionKind::SilentWorkers));
        attention.into_iter().map(|problem| (problem.count, problem.problem)).collect()
    }

    #[test]
    fn silent_workers_are_named_while_they_hold_games() {
        let workers =
            [worker("a", 15_000, 4, 0), worker("b", 99_000, 0, 0), worker("c", 1_000, 4, 0)];
        let holds = "worker 7 (a on rack) holds 4 games and has been silent for 15 s";
        assert_eq!(problems(&workers), [(1, holds.to_owned())]);
        let text = "worker 7 (a on rack) holds 1 game and has been silent for 15 s";
        assert_eq!(problems(&[worker("a", 15_000, 1, 0)]), [(1, text.to_owned())]);
        let workers = [worker("a", 15_000, 4, 0), worker("b", 25_000, 2, 0)];
        let two = "2 workers hold 6 games and are silent, longest worker 7 (b on rack) (for 25 s)";
        assert_eq!(problems(&workers), [(2, two.to_owned())]);
    }

    #[test]
    fn lost_workers_are_named_for_an_hour() {
        let lost = |silent_ms| problems(&[worker("a", silent_ms, 0, 8)]);
        let text = "worker 7 (a on rack) has been silent for 59 min; its 8 games went back to be \
                    played by others";
        assert_eq!(lost(3_599_999), [(1, text.to_owned())]);
        assert_eq!(lost(3_600_000), []);
        // Its lease expired although the worker answers.
        assert_eq!(lost(1_000), []);
        let workers: Vec<_> = (0..7).map(|_| worker("a", 60_000, 0, 1)).collect();
        let [(7, problem)] = &problems(&workers)[..] else { panic!("one for all") };
        assert!(problem.starts_with("7 workers are silent, and their 7 games went"), "{problem}");
        assert!(problem.ends_with(", worker 7 (a on rack) and 2 more"), "{problem}");
    }
}
