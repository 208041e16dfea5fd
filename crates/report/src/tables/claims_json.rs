//! Claims for programs. Keys are only ever added.

use serde::Serialize;
use spelrum_answers as results;
use spelrum_answers::Report;
use spelrum_model::claims::Than;
use spelrum_statistics::claims::Judgement;

use super::axes::cells_by_id;
use super::claims::{cell_columns, claim_rows, score_ends};
use super::rows::Rows;

/// A claim that a sweep states about its results, with its judgement.
#[derive(Serialize)]
pub(crate) struct Claim<'a> {
    claim: String,
    player: String,
    opponent: Option<String>,
    /// In words.
    at: Option<String>,
    score_above: Option<f64>,
    score_below: Option<f64>,
    /// The figure, with the bounds claimed for it: "score", "gain", "time_ratio", "accuracy",
    /// "value" or "rating_lead".
    about: &'static str,
    above: Option<f64>,
    below: Option<f64>,
    /// What each cell is compared with, in words.
    than: Option<String>,
    /// "every" or "some".
    #[serde(rename = "in")]
    quantifier: &'static str,
    error_rate: f64,
    /// Whether the claim is outside the family, and why; or why it is not judged.
    exploratory: bool,
    in_sweep: bool,
    verdict: &'static str,
    reason: Option<&'static str>,
    p: Option<f64>,
    p_adjusted: Option<f64>,
    hash: String,
    cells: Rows<'a>,
}

/// Returns a report's claims.
pub(crate) fn claims(report: &Report) -> Vec<Claim<'_>> {
    let (entries, cells) = (report.judged_claims(), cells_by_id(report));
    let claims = (1..).zip(&entries).map(|(number, entry)| {
        let rows = claim_rows((number, entry), report, &cells);
        Claim::new(entry, Rows::without_places(cell_columns(report), rows))
    });
    claims.collect()
}

impl<'a> Claim<'a> {
    fn new(entry: &results::ClaimAnswer<'_>, cells: Rows<'a>) -> Self {
        let results::ClaimAnswer { claim, exploratory, judged } = entry;
        let statement = &claim.statement;
        let at = |(axis, values): &(String, Vec<String>)| format!("{axis}={}", values.join(", "));
        let at: Vec<String> = statement.at.iter().map(at).collect();
        let [score_above, score_below] = score_ends(statement.about);
        let [above, below] = statement.about.bound().ends();
        let reason = match judged.judgement {
            Judgement::NotJudged(why) => Some(why.reason()),
            Judgement::Supported
            | Judgement::NotShown
            | Judgement::Open
            | Judgement::Exploratory => exploratory.map(results::WhyExploratory::reason),
        };
        Self {
            claim: claim.text.clone(),
            player: statement.player.clone(),
            opponent: statement.opponent.clone(),
            at: (!at.is_empty()).then(|| at.join("; ")),
            score_above,
            score_below,
            about: statement.about.figure(),
            above,
            below,
            than: statement.than.as_ref().map(Than::text),
            quantifier: statement.quantifier.name(),
            error_rate: statement.error_rate,
            exploratory: exploratory.is_some(),
            in_sweep: claim.in_sweep,
            verdict: judged.judgement.name(),
            reason,
            p: judged.figures.map(|figures| figures.p),
            p_adjusted: judged.figures.and_then(|figures| figures.p_adjusted),
            hash: claim.hash.to_string(),
            cells,
        }
    }
}
