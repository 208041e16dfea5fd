//! Cells whose games ask for labels that no worker has: which, and what to do.

use std::collections::BTreeMap;
use std::time::Duration;

use super::attention::{Attention, AttentionKind, NAMED_MAX, NamedCell, noun, workers_here};
use super::summary::{ExperimentSummary, WorkerSummary};
use crate::demands::{Demands, Offer, Unmet};
use crate::labels::WantedLabel;
use crate::scheduler::Wanted;
use crate::{CellId, ExperimentId};

/// Cells of an experiment that no worker may play, all for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unplaced {
    /// The experiment.
    pub experiment: ExperimentId,
    /// The first of the cells.
    pub cell: CellId,
    /// How many they are.
    pub cells: u64,
    /// What they ask for.
    require: Vec<WantedLabel>,
    /// One of them that no worker has, if there is one: else each is somewhere.
    missing: Option<WantedLabel>,
}

/// What of what waits in these experiments no worker that is here may play, whatever engines and memory it has.
#[must_use]
pub fn unplaced(
    experiments: &[ExperimentSummary],
    wanted: &[Wanted],
    workers: &[WorkerSummary],
    heartbeat_interval: Duration,
) -> Vec<Unplaced> {
    let here: Vec<&WorkerSummary> = workers_here(workers, heartbeat_interval).collect();
    if here.is_empty() {
        return Vec::new();
    }
    let mut found: BTreeMap<(ExperimentId, &[WantedLabel]), (CellId, u64)> = BTreeMap::new();
    for it in wanted.iter().filter(|it| !it.demands.require.is_empty()) {
        let is_shown = experiments.iter().any(|e| e.experiment == it.experiment);
        let labels = Demands { require: it.demands.require.clone(), ..Demands::default() };
        if is_shown && !here.iter().any(|worker| meets(&labels, worker)) {
            let (cell, cells) =
                found.entry((it.experiment, &it.demands.require)).or_insert((it.cell, 0));
            *cell = it.cell.min(*cell);
            *cells += it.cells;
        }
    }
    let told = found.into_iter().take(NAMED_MAX);
    let told = told.map(|((experiment, require), (cell, cells))| {
        let is_nowhere = |label: &&WantedLabel| !here.iter().any(|it| label.is_met_by(&it.labels));
        let missing = require.iter().find(is_nowhere).cloned();
        Unplaced { experiment, cell, cells, require: require.to_vec(), missing }
    });
    told.collect()
}

fn meets(demands: &Demands, worker: &WorkerSummary) -> bool {
    let offer = Offer { labels: worker.labels.clone(), ..Offer::default() };
    demands.unmet_by(&offer).is_none()
}

/// Adds what no worker may play. `cells` has the names of the cells that are told as examples.
pub fn attention_of_placement(
    experiments: &[ExperimentSummary],
    unplaced: &[Unplaced],
    cells: &[NamedCell],
    attention: &mut Vec<Attention>,
) {
    attention.extend(unplaced.iter().filter_map(|it| {
        let experiment = experiments.iter().find(|e| e.experiment == it.experiment)?;
        let cell = cells.iter().find(|cell| cell.cell == it.cell)?;
        Some(Attention {
            kind: AttentionKind::Unplaced,
            experiment: Some(experiment.name.clone()),
            count: it.cells,
            problem: it.problem(cell),
            remedy: it.remedy(),
        })
    }));
}

impl Unplaced {
    fn problem(&self, NamedCell { cell, players: [first, second], .. }: &NamedCell) -> String {
        let example = format!("cell {cell} ({first} against {second})");
        let who = match self.cells {
            1 => format!("{example} is"),
            cells => format!("{cells} cells, such as {example}, are"),
        };
        match &self.missing {
            Some(label) => {
                format!("{who} for workers with the label {label}, which none that is here has")
            }
            None => format!(
                "{who} for workers with the {} {}, which none that is here has together",
                noun(self.require.len() as u64, "label", "labels"),
                list(&self.require)
            ),
        }
    }

    fn remedy(&self) -> String {
        let flags: Vec<String> = self.require.iter().map(flag).collect();
        format!(
            "start a worker on a machine that it is true of: spelrum worker --coordinator URL {}; or take it out of \
             `require` in the sweep's [placement] and submit it again",
            flags.join(" ")
        )
    }
}

/// What workers are told in their logs of what they lack.
#[must_use]
pub fn lacking_text(lacking: &[Unmet]) -> String {
    let label = |unmet: &Unmet| match unmet {
        Unmet::Engines => None,
        Unmet::Label(label) => Some(label.clone()),
    };
    let labels: Vec<WantedLabel> = lacking.iter().filter_map(label).collect();
    let flags: Vec<String> = labels.iter().map(flag).collect();
    format!(
        "the games that wait are for workers with the {} {}; if it is true of this machine, start it with {}",
        noun(labels.len() as u64, "label", "labels"),
        list(&labels),
        flags.join(" ")
    )
}

/// How a worker says it.
fn flag(label: &WantedLabel) -> String {
    match &label.value {
        None => format!("--label {label}=VALUE"),
        Some(_) => format!("--label {label}"),
    }
}

fn list(labels: &[WantedLabel]) -> String {
    labels.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests;
