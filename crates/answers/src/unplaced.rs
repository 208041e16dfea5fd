//! Cells whose games require labels or bounds that no worker meets, and the remedy.

use std::collections::BTreeMap;
use std::time::Duration;

use spelrum_model::demands::{Demands, Offer, Unmet};
use spelrum_model::labels::{SYZYGY_LABEL, WantedLabel};
use spelrum_model::wanted::Wanted;
use spelrum_model::{CellId, ExperimentId, WorkerId};

use crate::attention::{Attention, AttentionKind};
use crate::findings::{NAMED_MAX, NamedCell, noun, workers_here};
use crate::summary::{ExperimentSummary, WorkerSummary};

/// Cells of an experiment that no worker may play, all for the same reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unplaced {
    /// The experiment.
    pub experiment: ExperimentId,
    /// The first of the cells.
    pub cell: CellId,
    /// Number of these cells.
    pub cells: u64,
    why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Why {
    /// No worker has all of these labels. The second value is a label that no worker has; `None` if each exists
    /// somewhere.
    Labels(Vec<WantedLabel>, Option<WantedLabel>),
    /// Each worker with the labels is outside a bound; this is one of them.
    Bound(Unmet),
}

/// Common reason of an experiment's cells that are reported together. Excludes the bound, which differs by time
/// limit.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Reason<'a> {
    Labels(&'a [WantedLabel]),
    Quota,
    Speed,
}

/// Returns waiting games of these experiments that no connected worker with their engines may play, whatever its
/// memory.
/// `offers` describes the workers.
#[must_use]
pub fn unplaced(
    experiments: &[ExperimentSummary],
    wanted: &[Wanted],
    workers: &[WorkerSummary],
    offers: &BTreeMap<WorkerId, Offer>,
    heartbeat_interval: Duration,
) -> Vec<Unplaced> {
    let here = workers_here(workers, heartbeat_interval);
    let here: Vec<&Offer> = here.filter_map(|worker| offers.get(&worker.worker)).collect();
    if here.is_empty() {
        return Vec::new();
    }
    let mut cells_by_reason: BTreeMap<(ExperimentId, Reason<'_>), (CellId, u64, Why)> =
        BTreeMap::new();
    for waiting in wanted {
        let is_shown = experiments.iter().any(|e| e.experiment == waiting.experiment);
        if let Some(why) = why(&waiting.demands, &here).filter(|_| is_shown) {
            let reason = match &why {
                Why::Labels(..) => Reason::Labels(&waiting.demands.require),
                Why::Bound(Unmet::QuotaPeriod { .. }) => Reason::Quota,
                Why::Bound(_) => Reason::Speed,
            };
            let entry = cells_by_reason.entry((waiting.experiment, reason));
            let example = entry.or_insert_with(|| (waiting.cell, 0, why.clone()));
            example.1 += waiting.cells;
            if waiting.cell < example.0 {
                (example.0, example.2) = (waiting.cell, why);
            }
        }
    }
    let reasons = cells_by_reason.into_iter().take(NAMED_MAX);
    reasons
        .map(|((experiment, _), (cell, cells, why))| Unplaced { experiment, cell, cells, why })
        .collect()
}

/// Returns why no worker may play games with these demands; `None` if one may.
fn why(demands: &Demands, here: &[&Offer]) -> Option<Why> {
    // Workers without the engines are reported as that.
    let here: Vec<&&Offer> =
        here.iter().filter(|offer| demands.has_engines(&offer.engines)).collect();
    if here.is_empty() {
        return None;
    }
    let mut bound = None;
    for offer in &here {
        match demands.unmet_by(offer)? {
            // The worker's speed is measured, and may turn out to suffice.
            Unmet::Measured(_) => return None,
            Unmet::Label(_) | Unmet::Engines => {}
            unmet @ (Unmet::QuotaPeriod { .. } | Unmet::Speed { .. } | Unmet::Noise { .. }) => {
                bound = bound.or(Some(unmet));
            }
        }
    }
    Some(bound.map_or_else(
        || {
            let is_nowhere =
                |label: &&WantedLabel| !here.iter().any(|offer| label.is_met_by(&offer.labels));
            let missing = demands.require.iter().find(is_nowhere).cloned();
            Why::Labels(demands.require.clone(), missing)
        },
        Why::Bound,
    ))
}

/// Adds games that no worker may play. `cells` has the names of the cells reported as examples.
pub fn attention_of_placement(
    experiments: &[ExperimentSummary],
    unplaced: &[Unplaced],
    cells: &[NamedCell],
    attention: &mut Vec<Attention>,
) {
    attention.extend(unplaced.iter().filter_map(|cells_there| {
        let experiment = experiments.iter().find(|e| e.experiment == cells_there.experiment)?;
        let cell = cells.iter().find(|cell| cell.cell == cells_there.cell)?;
        Some(Attention {
            kind: AttentionKind::Unplaced,
            experiment: Some(experiment.name.clone()),
            count: cells_there.cells,
            problem: cells_there.problem(cell),
            remedy: cells_there.remedy(),
        })
    }));
}

impl Unplaced {
    /// The demand for Syzygy tables, if no worker has these.
    fn syzygy(&self) -> Option<(String, String)> {
        match &self.why {
            Why::Labels(_, label) => syzygy_text(label.as_ref()?),
            Why::Bound(_) => None,
        }
    }

    fn problem(&self, NamedCell { cell, players: [first, second], .. }: &NamedCell) -> String {
        let example = format!("cell {cell} ({first} against {second})");
        let subject = match self.cells {
            1 => format!("{example} is"),
            cells => format!("{cells} cells, such as {example}, are"),
        };
        if let Some((whom, _)) = self.syzygy() {
            return format!("{subject} for {whom}, and no connected worker is one");
        }
        match &self.why {
            Why::Labels(_, Some(label)) => {
                format!(
                    "{subject} for workers with the label {label}, which no connected worker has"
                )
            }
            Why::Labels(require, None) => format!(
                "{subject} for workers with the {} {}, which no connected worker has together",
                noun(require.len() as u64, "label", "labels"),
                list(require)
            ),
            Why::Bound(unmet) => {
                let whom = bound(unmet).map(|(whom, _)| whom).unwrap_or_default();
                format!("{subject} for {whom}: no connected worker qualifies")
            }
        }
    }

    fn remedy(&self) -> String {
        if let Some((_, remedy)) = self.syzygy() {
            return remedy;
        }
        match &self.why {
            Why::Labels(require, _) => {
                let flags: Vec<String> = require.iter().map(flag).collect();
                format!(
                    "start a worker on a machine that it is true of: spelrum worker --coordinator URL {}; or take it \
                     out of `require` in the sweep's [placement] and submit it again",
                    flags.join(" ")
                )
            }
            Why::Bound(unmet) => bound(unmet).map(|(_, remedy)| remedy).unwrap_or_default(),
        }
    }
}

/// Formats missing labels and bounds for a worker's log.
#[must_use]
pub fn lacking_text(lacking: &[Unmet]) -> String {
    let label = |unmet: &Unmet| match unmet {
        Unmet::Label(label) => Some(label.clone()),
        Unmet::Engines
        | Unmet::QuotaPeriod { .. }
        | Unmet::Speed { .. }
        | Unmet::Noise { .. }
        | Unmet::Measured(_) => None,
    };
    let labels: Vec<WantedLabel> = lacking.iter().filter_map(label).collect();
    let (tables, labels): (Vec<_>, Vec<_>) =
        labels.into_iter().partition(|label| syzygy_text(label).is_some());
    let of_tables = tables.iter().filter_map(syzygy_text);
    let flags: Vec<String> = labels.iter().map(flag).collect();
    let of_labels = (!labels.is_empty()).then(|| {
        format!(
            "workers with the {} {}; if it is true of this machine, start it with {}",
            noun(labels.len() as u64, "label", "labels"),
            list(&labels),
            flags.join(" ")
        )
    });
    let of_bounds = lacking.iter().filter_map(bound).chain(of_tables);
    let of_bounds = of_bounds.map(|(whom, remedy)| format!("{whom}: {remedy}"));
    let texts: Vec<String> = of_labels.into_iter().chain(of_bounds).collect();
    format!("the games that wait are for {}", texts.join("; and for "))
}

/// Returns which workers may play games that a demand for Syzygy tables excludes from a worker, and the remedy; `None` if
/// the label is another.
#[must_use]
pub fn syzygy_text(label: &WantedLabel) -> Option<(String, String)> {
    let pieces = label.value.as_ref().filter(|_| label.name == SYZYGY_LABEL)?;
    Some((
        format!("workers that have all Syzygy tables of up to {pieces} pieces"),
        "name the folders of the tables in the engines file of a machine that has them, [syzygy] path = \"…\", and \
         start its worker with --engines FILE; or take `syzygy` out of the sweep's [adjudication] and submit it again"
            .to_owned(),
    ))
}

/// Returns which workers may play games that a bound excludes from a worker, and the remedy.
#[must_use]
pub fn bound(unmet: &Unmet) -> Option<(String, String)> {
    let change = |key| format!("change `{key}` in the sweep's [placement] and submit it again");
    Some(match unmet {
        Unmet::Engines | Unmet::Label(_) | Unmet::Measured(_) => return None,
        Unmet::QuotaPeriod { most_us, period_us } => (
            format!(
                "workers with exclusive slots, or whose CPU quota is renewed at least every {}, not every {}",
                milliseconds(*most_us),
                milliseconds(*period_us)
            ),
            format!(
                "give a worker two cores or more, no quota, or one with a shorter period; or {}",
                change("quota_period_max")
            ),
        ),
        Unmet::Speed { game, least, nodes_per_second } => (
            format!(
                "workers that visit at least {least} nodes of {game} a second, not {nodes_per_second}"
            ),
            format!(
                "leave them to faster machines (spelrum speed {game}); or {}",
                change("speed_min")
            ),
        ),
        Unmet::Noise { game, most_permille, noise_permille } => (
            format!(
                "workers whose speed at {game} differs by at most {} between short spells, not by {}",
                percent(*most_permille),
                percent(*noise_permille)
            ),
            format!(
                "end what else the machine does (spelrum speed {game}), it is measured again within ten minutes; or {}",
                change("noise_max")
            ),
        ),
    })
}

fn milliseconds(us: u64) -> String {
    format!("{} ms", us as f64 / 1_000.0)
}

fn percent(permille: u32) -> String {
    format!("{} %", f64::from(permille) / 10.0)
}

/// Returns the worker's command-line flag for a label.
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
