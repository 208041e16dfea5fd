//! All data about an experiment's results, as JSON.

use std::io::Write;

use serde::Serialize;
use spelrum_answers::{Comparisons, Overview, Phases};

use crate::answers::Answers;
use crate::data::write_json;
use crate::error::Result;
use crate::tables::rows::Rows;
use crate::tables::{
    accuracy, claims_json, comparisons, disturbance, engines, evolution, forfeits, json, overview,
    phases, ratings, runs, worker_effects,
};

/// All comparisons of an experiment.
#[derive(Serialize)]
struct Compared<'a> {
    /// The grid's axes: those of the report that are not a player's own.
    axes: &'a [String],
    gains: Rows<'a>,
    gains_truncated: bool,
    effects: Rows<'a>,
    replicates: Rows<'a>,
}

impl<'a> From<&'a Comparisons> for Compared<'a> {
    fn from(comparisons: &'a Comparisons) -> Self {
        Self {
            axes: &comparisons.axes,
            gains: comparisons::gain_rows(comparisons),
            gains_truncated: comparisons.differences_truncated,
            effects: comparisons::effect_rows(comparisons),
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

/// How the games were played.
#[derive(Serialize)]
struct Played<'a> {
    lengths: Rows<'a>,
    terminations: Rows<'a>,
    workers: Rows<'a>,
    worker_effects: Rows<'a>,
}

impl<'a> From<&'a Overview> for Played<'a> {
    fn from(answer: &'a Overview) -> Self {
        Self {
            lengths: overview::length_rows(answer),
            terminations: overview::termination_rows(answer),
            workers: overview::worker_rows(answer),
            worker_effects: worker_effects::rows(answer),
        }
    }
}

#[derive(Serialize)]
struct Everything<'a> {
    #[serde(flatten)]
    report: json::Report<'a>,
    ratings: Option<Vec<ratings::Group<'a>>>,
    comparisons: Option<Compared<'a>>,
    phases: Option<PhaseTimes<'a>>,
    claims: Vec<claims_json::Claim<'a>>,
    accuracy: Rows<'a>,
    runs: Rows<'a>,
    generations: Rows<'a>,
    families: Rows<'a>,
    disturbed: Rows<'a>,
    forfeits: Rows<'a>,
    engines: Rows<'a>,
    mixed_cells: Rows<'a>,
    #[serde(flatten)]
    overview: Option<Played<'a>>,
}

/// Writes all answers.
pub(super) fn write(answers: &Answers, out: &mut dyn Write) -> Result<()> {
    let report = answers.report()?;
    let everything = Everything {
        report: json::Report::from(report),
        ratings: answers.ratings.as_ref().map(ratings::groups),
        comparisons: answers.comparisons.as_ref().map(Compared::from),
        phases: answers.phases.as_ref().map(PhaseTimes::from),
        claims: claims_json::claims(report),
        accuracy: accuracy::rows(report, |_| true),
        runs: runs::rows(report),
        generations: evolution::generation_rows(report),
        families: evolution::family_rows(report),
        disturbed: disturbance::rows(report),
        forfeits: forfeits::rows(&report.engines.forfeits),
        engines: engines::rows(report),
        mixed_cells: engines::mixed_cells(report),
        overview: answers.overview.as_ref().map(Played::from),
    };
    write_json(out, &everything)?;
    Ok(())
}
