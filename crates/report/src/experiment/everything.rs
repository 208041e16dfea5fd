//! All data about an experiment's results, as JSON.

use std::io::Write;

use serde::{Serialize, Serializer};
use spelrum_answers::{Comparisons, Phases, Report};

use crate::answers::Answers;
use crate::data::write_json;
use crate::error::Result;
use crate::tables::played_on::PlayedOn;
use crate::tables::rows::Rows;
use crate::tables::scaled::{ScaledLimits, scaled};
use crate::tables::{
    accuracy, claims_json, comparisons, curves, engines, history, phases, ratings, registry,
};

/// All comparisons of an experiment.
#[derive(Serialize)]
struct Compared<'a> {
    /// The grid's axes: those of the report that are not a player's own.
    axes: &'a [String],
    history: Rows<'a>,
    gains: Rows<'a>,
    gains_truncated: bool,
    effects: Rows<'a>,
    crossings: Rows<'a>,
    curves: Rows<'a>,
    curves_truncated: bool,
    replicates: Rows<'a>,
}

impl<'a> From<&'a Comparisons> for Compared<'a> {
    fn from(comparisons: &'a Comparisons) -> Self {
        Self {
            axes: &comparisons.axes,
            history: history::rows(comparisons),
            gains: comparisons::gain_rows(comparisons),
            gains_truncated: comparisons.differences_truncated,
            effects: comparisons::effect_rows(comparisons),
            crossings: curves::crossing_rows(comparisons),
            curves: curves::curve_rows(comparisons),
            curves_truncated: comparisons.curves_truncated,
            replicates: comparisons::replicate_rows(comparisons),
        }
    }
}

/// Times of moves by phase.
#[derive(Serialize)]
struct PhaseTimes<'a> {
    /// Unit of phases: `empty_cells` or `plies`.
    unit: &'static str,
    times: Rows<'a>,
    standardised: Rows<'a>,
}

impl<'a> From<&'a Phases> for PhaseTimes<'a> {
    fn from(answer: &'a Phases) -> Self {
        Self {
            unit: answer.unit.name(),
            times: phases::time_rows(answer),
            standardised: phases::standardised_rows(answer),
        }
    }
}

/// Tables by their keys.
struct Keyed<'a>(Vec<(&'static str, Rows<'a>)>);

impl Serialize for Keyed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, rows)| (key, rows)))
    }
}

/// Keys are only ever added.
#[derive(Serialize)]
struct Everything<'a> {
    experiment: &'a str,
    experiment_uuid: &'a str,
    game: &'a str,
    state: &'static str,
    games_planned: u64,
    games_settled: u64,
    games_failed: u64,
    axes: &'a [String],
    /// Mean score of the first mover from the opening, over all cells.
    first_mover_score: Option<f64>,
    first_mover_low: Option<f64>,
    first_mover_high: Option<f64>,
    #[serde(flatten)]
    of_cells: Keyed<'a>,
    /// Scaling of time limits, if there was any.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_scale: Option<ScaledLimits>,
    /// Slots on which the timed games were played, if cells are timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    played_on: Option<PlayedOn>,
    ratings: Option<Vec<ratings::Group<'a>>>,
    comparisons: Option<Compared<'a>>,
    phases: Option<PhaseTimes<'a>>,
    claims: Vec<claims_json::Claim<'a>>,
    accuracy: Rows<'a>,
    #[serde(flatten)]
    of_runs_and_engines: Keyed<'a>,
    mixed_cells: Rows<'a>,
    #[serde(flatten)]
    others: Keyed<'a>,
}

/// Writes all answers.
pub(super) fn write(answers: &Answers, out: &mut dyn Write) -> Result<()> {
    let report: &Report = answers.require()?;
    let Report { experiment, axes, first_mover, .. } = report;
    let mut tables = registry::json_rows(answers)?;
    // The order of keys stays; tables that came later follow.
    let mut take = |keys: &[&str]| {
        let rank = |key: &str| keys.iter().position(|other| *other == key);
        let mut taken: Vec<_> = tables.extract_if(.., |(key, _)| rank(key).is_some()).collect();
        taken.sort_by_key(|(key, _)| rank(key));
        Keyed(taken)
    };
    let everything = Everything {
        experiment: &experiment.name,
        experiment_uuid: &experiment.uuid,
        game: &experiment.game,
        state: experiment.state.name(),
        games_planned: experiment.games_planned,
        games_settled: experiment.games_settled,
        games_failed: experiment.games_failed,
        axes,
        first_mover_score: first_mover.map(|score| score.score),
        first_mover_low: first_mover.map(|score| score.low),
        first_mover_high: first_mover.map(|score| score.high),
        of_cells: take(&["cells", "moves", "depths", "failures"]),
        time_scale: scaled(report),
        played_on: report.played_on.map(Into::into),
        ratings: answers.get().map(ratings::groups),
        comparisons: answers.get::<Comparisons>().map(Compared::from),
        phases: answers.get::<Phases>().map(PhaseTimes::from),
        claims: claims_json::claims(report),
        accuracy: accuracy::rows(report, |_| true),
        of_runs_and_engines: take(&[
            "runs",
            "generations",
            "families",
            "disturbed",
            "forfeits",
            "engines",
        ]),
        mixed_cells: engines::mixed_cells(report),
        others: Keyed(tables),
    };
    write_json(out, &everything)?;
    Ok(())
}
