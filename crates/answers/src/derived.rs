//! Figures that follow from an answer. They are written with it, so that no client has to work them out, and are not
//! read: whoever has the answer computes them again.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::Value;

use crate::cell_result::{CellResult, CellStrength, SprtStanding, Stronger};
use crate::claims::ClaimAnswer;
use crate::pace::Pace;
use crate::progress::Progress;
use crate::report::Report;

/// Adds these figures to the schema of their answer.
pub(crate) fn with_figures<F: JsonSchema>(schema: &mut Schema) {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.inline_subschemas = true;
    let mut figures = settings.into_generator().into_root_schema_for::<F>();
    for key in ["properties", "required"] {
        match (schema.get_mut(key), figures.remove(key)) {
            (Some(Value::Object(members)), Some(Value::Object(more))) => members.extend(more),
            (Some(Value::Array(names)), Some(Value::Array(more))) => names.extend(more),
            (_, _) => {}
        }
    }
}

/// What a cell's result says.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CellFigures {
    /// Which player is stronger.
    stronger: Stronger,
    #[serde(flatten)]
    strength: CellStrength,
    /// State of the cell's SPRT, if that is its stop rule.
    sprt: Option<SprtStanding>,
    /// The score over all games if the player had lost, or won, each that finally failed.
    score_bounds: Option<[f64; 2]>,
}

impl From<&CellResult> for CellFigures {
    fn from(cell: &CellResult) -> Self {
        Self {
            stronger: cell.stronger(),
            strength: cell.strength(),
            sprt: cell.sprt(),
            score_bounds: cell.score_bounds(),
        }
    }
}

/// What came of a report's claims.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ReportFigures {
    /// A verdict for each claim.
    claim_verdicts: Vec<ClaimVerdict>,
}

#[derive(Serialize, JsonSchema)]
struct ClaimVerdict {
    /// Such as `supported`.
    judgement: &'static str,
    /// Why it is not among the claims that are judged together.
    exploratory_because: Option<&'static str>,
    /// Probability of such results if the claim is false.
    p: Option<f64>,
    /// The same, corrected for the number of claims.
    p_adjusted: Option<f64>,
}

impl From<&Report> for ReportFigures {
    fn from(report: &Report) -> Self {
        let verdict = |ClaimAnswer { exploratory, judged, .. }: ClaimAnswer<'_>| ClaimVerdict {
            judgement: judged.judgement.name(),
            exploratory_because: exploratory.map(|why| why.reason()),
            p: judged.figures.map(|figures| figures.p),
            p_adjusted: judged.figures.and_then(|figures| figures.p_adjusted),
        };
        Self { claim_verdicts: report.judged_claims().into_iter().map(verdict).collect() }
    }
}

/// What a single look at the progress says.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ProgressFigures {
    /// The time left, from this look alone; two looks tell more.
    time_left: Option<TimeLeft>,
}

#[derive(Serialize, JsonSchema)]
struct TimeLeft {
    /// The expected time, in microseconds.
    expected_us: f64,
    /// The lower end of a range that contains it about four times out of five, in microseconds.
    low_us: f64,
    /// The upper end.
    high_us: f64,
}

impl From<&Progress> for ProgressFigures {
    fn from(progress: &Progress) -> Self {
        let time_left = Pace::forecast_at_first(progress).map(|forecast| TimeLeft {
            expected_us: forecast.left_us,
            low_us: forecast.low_us,
            high_us: forecast.high_us,
        });
        Self { time_left }
    }
}
