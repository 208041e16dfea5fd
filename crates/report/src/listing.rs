//! Experiments and workers at a glance: output of `list`, `status` and the steering commands.

use std::collections::BTreeMap;

use serde::Serialize;
use spelrum_answers::{ExperimentSummary, WorkerSummary};
use spelrum_model::DefinitionHash;
use spelrum_model::engines::{OfferedEngine, build_text};

use crate::text::{Column, TextTable, count, duration_us, percent};

/// An experiment in JSON.
#[derive(Debug, Serialize)]
pub struct Experiment<'a> {
    experiment_uuid: &'a str,
    name: &'a str,
    game: &'a str,
    state: &'a str,
    priority: i32,
    cells: u64,
    games_planned: u64,
    games_settled: u64,
    games_failed: u64,
    submitted_unix_us: i64,
}

impl<'a> From<&'a ExperimentSummary> for Experiment<'a> {
    fn from(experiment: &'a ExperimentSummary) -> Self {
        Self {
            experiment_uuid: &experiment.uuid,
            name: &experiment.name,
            game: &experiment.game,
            state: experiment.state.name(),
            priority: experiment.priority,
            cells: experiment.cells,
            games_planned: experiment.games_planned,
            games_settled: experiment.games_settled,
            games_failed: experiment.games_failed,
            submitted_unix_us: experiment.submitted_unix_us,
        }
    }
}

/// A worker in JSON.
#[derive(Debug, Serialize)]
pub struct Worker<'a> {
    worker_id: i64,
    name: &'a str,
    host: &'a str,
    slots: u32,
    engine_revision: u32,
    silent_ms: u64,
    leased_games: u64,
    playing_games: u64,
    reported_games: u64,
    lost_games: u64,
    engines: Vec<Engine<'a>>,
    engines_total: u64,
    labels: BTreeMap<&'a str, &'a str>,
    credential: Option<&'a str>,
}

/// An external engine that a worker has, in JSON.
#[derive(Debug, Serialize)]
struct Engine<'a> {
    engine: &'a str,
    protocol: &'static str,
    at_once: u32,
    name: &'a str,
    author: &'a str,
    sha256: String,
    build: String,
}

impl<'a> From<&'a OfferedEngine> for Engine<'a> {
    fn from(offered: &'a OfferedEngine) -> Self {
        let OfferedEngine { engine, protocol, at_once, identity, build, capabilities: _ } = offered;
        Self {
            engine,
            protocol: protocol.name(),
            at_once: *at_once,
            name: &identity.name,
            author: &identity.author,
            sha256: DefinitionHash(identity.sha256).to_string(),
            build: build_text(*build),
        }
    }
}

impl<'a> From<&'a WorkerSummary> for Worker<'a> {
    fn from(worker: &'a WorkerSummary) -> Self {
        Self {
            worker_id: worker.worker.0,
            name: &worker.name,
            host: &worker.host,
            slots: worker.slots,
            engine_revision: worker.engine_revision,
            silent_ms: worker.silent_ms,
            leased_games: worker.leased_games,
            playing_games: worker.playing_games,
            reported_games: worker.reported_games,
            lost_games: worker.lost_games,
            engines: worker.engines.iter().map(Into::into).collect(),
            engines_total: worker.engines_total,
            labels: worker.labels.iter().map(|label| (&*label.name, &*label.value)).collect(),
            credential: worker.credential.as_deref(),
        }
    }
}

/// Experiments for people.
pub fn experiments_table(experiments: &[ExperimentSummary]) -> TextTable {
    let mut table = TextTable::new(&[
        Column::words("experiment"),
        Column::words("game"),
        Column::words("state"),
        Column::numbers("cells"),
        Column::numbers("games"),
        Column::numbers("settled"),
        Column::numbers("done"),
        Column::numbers("failed"),
    ]);
    for experiment in experiments {
        table.row([
            experiment.name.clone(),
            experiment.game.clone(),
            experiment.state.name().to_owned(),
            count(experiment.cells),
            count(experiment.games_planned),
            count(experiment.games_settled),
            done(experiment),
            count(experiment.games_failed),
        ]);
    }
    table
}

/// The settled share of an experiment's games, never rounded up to all of them.
pub fn done(experiment: &ExperimentSummary) -> String {
    let (settled, planned) = (experiment.games_settled, experiment.games_planned.max(1));
    let share = settled as f64 / planned as f64;
    if settled < planned { percent(share.min(0.999)) } else { percent(1.0) }
}

/// Workers for people.
pub fn workers_table(workers: &[WorkerSummary]) -> TextTable {
    let mut columns = vec![
        Column::numbers("id"),
        Column::words("worker"),
        Column::words("host"),
        Column::numbers("slots"),
        Column::numbers("playing"),
        Column::numbers("leased"),
        Column::numbers("reported"),
        Column::numbers("last heard of"),
    ];
    let has_credentials = workers.iter().any(|worker| worker.credential.is_some());
    if has_credentials {
        columns.push(Column::words("credential"));
    }
    let mut table = TextTable::new(&columns);
    for worker in workers {
        let mut row = vec![
            worker.worker.to_string(),
            worker.name.clone(),
            worker.host.clone(),
            count(worker.slots.into()),
            count(worker.playing_games),
            count(worker.leased_games),
            count(worker.reported_games),
            format!("{} ago", duration_us(worker.silent_ms as f64 * 1e3)),
        ];
        if has_credentials {
            row.push(worker.credential.clone().unwrap_or_default());
        }
        table.row(row);
    }
    table
}

/// The engines of workers for people, in a line for each worker that has any.
pub fn engines_lines(workers: &[WorkerSummary]) -> Vec<String> {
    let text = |offered: &OfferedEngine| {
        let OfferedEngine { engine, protocol, identity, .. } = offered;
        match identity.name.as_str() {
            "" => format!("{engine} ({})", protocol.name()),
            name => format!("{engine} ({}, \"{name}\")", protocol.name()),
        }
    };
    let line = |worker: &WorkerSummary| {
        let mut texts: Vec<String> = worker.engines.iter().map(text).collect();
        let more = worker.engines_total.saturating_sub(texts.len() as u64);
        if more > 0 {
            texts.push(format!("and {} more", count(more)));
        }
        format!("{}: {}", worker.name, texts.join(", "))
    };
    workers.iter().filter(|worker| worker.engines_total > 0).map(line).collect()
}

/// The labels of workers for people, in a line for each worker that has any.
pub fn labels_lines(workers: &[WorkerSummary]) -> Vec<String> {
    let line = |worker: &WorkerSummary| {
        let labels: Vec<String> = worker.labels.iter().map(ToString::to_string).collect();
        format!("{}: {}", worker.name, labels.join(", "))
    };
    workers.iter().filter(|worker| !worker.labels.is_empty()).map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use spelrum_engine::Protocol;
    use spelrum_model::WorkerId;
    use spelrum_model::engines::EngineIdentity;

    use super::*;

    fn worker(name: &str, engines: &[(&str, &str)], engines_total: u64) -> WorkerSummary {
        let offered = |&(engine, name): &(&str, &str)| OfferedEngine {
            engine: engine.to_owned(),
            protocol: Protocol::Gtp,
            at_once: 2,
            identity: EngineIdentity {
                name: name.to_owned(),
                author: "somebody".to_owned(),
                sha256: [0xab; 32],
            },
            capabilities: None,
            build: [0xcd; 32],
        };
        WorkerSummary {
            worker: WorkerId(1),
            name: name.to_owned(),
            host: String::new(),
            slots: 1,
            quiet_slots: 0,
            engine_revision: 1,
            silent_ms: 0,
            leased_games: 0,
            playing_games: 0,
            reported_games: 0,
            lost_games: 0,
            memory_bytes: None,
            engines: engines.iter().map(offered).collect::<Arc<[_]>>(),
            engines_total,
            built: Arc::default(),
            labels: Arc::default(),
            credential: None,
            conduct: Default::default(),
        }
    }

    #[test]
    fn engines_are_listed_by_worker() {
        let fish = worker("a", &[("fish", "Fish 16"), ("bird", "")], 1_002);
        let all = [fish, worker("b", &[], 0), worker("c", &[], 3)];
        assert_eq!(
            engines_lines(&all),
            ["a: fish (gtp, \"Fish 16\"), bird (gtp), and 1,000 more", "c: and 3 more"]
        );
        let json = serde_json::to_value(Worker::from(&all[0])).unwrap();
        assert_eq!(
            json["engines"][0],
            serde_json::json!({
                "engine": "fish", "protocol": "gtp", "at_once": 2, "name": "Fish 16",
                "author": "somebody", "sha256": "ab".repeat(32), "build": "cd".repeat(32),
            })
        );
        assert_eq!(json["engines_total"], 1_002);
    }
}
