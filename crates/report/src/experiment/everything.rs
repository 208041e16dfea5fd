//! All data about an experiment's results, as JSON.

use std::io::Write;

use serde::Serialize;

use crate::answers::Answers;
use crate::data::write_json;
use crate::error::Result;
use crate::tables::comparisons_json::Compared;
use crate::tables::rows::Rows;
use crate::tables::{
    accuracy_json, claims_json, disturbance, engines, evolution, forfeits, json, overview, phases,
    ratings_json, runs,
};

#[derive(Serialize)]
struct Everything<'a> {
    #[serde(flatten)]
    report: json::Report<'a>,
    ratings: Option<Vec<ratings_json::Group<'a>>>,
    comparisons: Option<Compared<'a>>,
    phases: Option<phases::Phases<'a>>,
    claims: Vec<claims_json::Claim>,
    accuracy: Vec<accuracy_json::Accuracy<'a>>,
    runs: Vec<runs::Run<'a>>,
    generations: Vec<evolution::GenerationRow<'a>>,
    families: Vec<evolution::RelativeRow<'a>>,
    disturbed: Rows<'a>,
    forfeits: Rows<'a>,
    engines: Rows<'a>,
    mixed_cells: Rows<'a>,
    #[serde(flatten)]
    overview: Option<overview::Overview<'a>>,
}

/// Writes all answers.
pub(super) fn write(answers: &Answers, out: &mut dyn Write) -> Result<()> {
    let report = answers.report()?;
    let everything = Everything {
        report: json::Report::from(report),
        ratings: answers.ratings.as_ref().map(ratings_json::groups),
        comparisons: answers.comparisons.as_ref().map(Compared::from),
        phases: answers.phases.as_ref().map(phases::Phases::from),
        claims: claims_json::claims(report),
        accuracy: accuracy_json::accuracy(report),
        runs: runs::runs(report),
        generations: evolution::generations(report),
        families: evolution::families(report),
        disturbed: disturbance::rows(report),
        forfeits: forfeits::rows(&report.engines.forfeits),
        engines: engines::rows(report),
        mixed_cells: engines::mixed_cells(report),
        overview: answers.overview.as_ref().map(overview::Overview::from),
    };
    write_json(out, &everything)?;
    Ok(())
}
