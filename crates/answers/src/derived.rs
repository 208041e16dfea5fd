//! Figures that follow from an answer. They are written with it, so that no client has to work them out, and are not
//! read: whoever has the answer computes them again.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::Value;

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

/// What came of a report's claims.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ReportFigures {
    /// A verdict for each claim.
    pub(crate) claim_verdicts: Vec<ClaimVerdict>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ClaimVerdict {
    /// Such as `supported`.
    pub(crate) judgement: &'static str,
    /// Why it is not among the claims that are judged together.
    pub(crate) exploratory_because: Option<&'static str>,
    /// Probability of such results if the claim is false.
    pub(crate) p: Option<f64>,
    /// The same, corrected for the number of claims.
    pub(crate) p_adjusted: Option<f64>,
}

/// What a single look at the progress says.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ProgressFigures {
    /// The time left, from this look alone; two looks tell more.
    pub(crate) time_left: Option<TimeLeft>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct TimeLeft {
    /// The expected time, in microseconds.
    pub(crate) expected_us: f64,
    /// The lower end of a range that contains it about four times out of five, in microseconds.
    pub(crate) low_us: f64,
    /// The upper end.
    pub(crate) high_us: f64,
}
