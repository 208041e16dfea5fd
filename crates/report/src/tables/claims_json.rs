//! Claims for programs. Keys are only ever added.

use std::collections::BTreeMap;

use serde::Serialize;
use spelrum_answers as results;
use spelrum_answers::{CellResult, Report};
use spelrum_model::CellId;
use spelrum_statistics::claims::{Bound, JudgedCell, Judgement};

use super::axes::cells_by_id;

/// A claim that a sweep states about its results, with its judgement.
#[derive(Debug, Serialize)]
pub(crate) struct Claim {
    claim: String,
    player: String,
    opponent: Option<String>,
    /// In words.
    at: Option<String>,
    score_above: Option<f64>,
    score_below: Option<f64>,
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
    pub(crate) cells: Vec<ClaimedCell>,
}

/// A cell of a claim, from the view of the claim's player.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ClaimedCell {
    cell_id: i64,
    player: Option<String>,
    opponent: Option<String>,
    score: Option<f64>,
    /// The simultaneous band.
    band_low: Option<f64>,
    band_high: Option<f64>,
    /// One-sided.
    cell_p: Option<f64>,
}

/// A row for each claim and cell.
#[derive(Debug, Serialize)]
pub(crate) struct Row<'c> {
    claim: &'c str,
    in_sweep: bool,
    exploratory: bool,
    verdict: &'static str,
    p: Option<f64>,
    p_adjusted: Option<f64>,
    score_above: Option<f64>,
    score_below: Option<f64>,
    #[serde(rename = "in")]
    quantifier: &'static str,
    axes: Vec<Option<String>>,
    #[serde(flatten)]
    cell: ClaimedCell,
}

/// Returns a report's claims.
pub(crate) fn claims(report: &Report) -> Vec<Claim> {
    let cells = cells_by_id(report);
    report.judged_claims().iter().map(|entry| Claim::new(entry, &cells)).collect()
}

/// Returns the claims as rows.
pub(crate) fn rows<'c>(report: &Report, claims: &'c [Claim]) -> Vec<Row<'c>> {
    let cells = cells_by_id(report);
    let of_cell = |claim: &'c Claim, cell: &ClaimedCell| Row {
        claim: &claim.claim,
        in_sweep: claim.in_sweep,
        exploratory: claim.exploratory,
        verdict: claim.verdict,
        p: claim.p,
        p_adjusted: claim.p_adjusted,
        score_above: claim.score_above,
        score_below: claim.score_below,
        quantifier: claim.quantifier,
        axes: match cells.get(&CellId(cell.cell_id)) {
            Some(cell) => cell.axes.clone(),
            None => vec![None; report.axes.len()],
        },
        cell: cell.clone(),
    };
    let of_claim = |claim: &'c Claim| claim.cells.iter().map(move |cell| (claim, cell));
    claims.iter().flat_map(of_claim).map(|(claim, cell)| of_cell(claim, cell)).collect()
}

impl Claim {
    fn new(entry: &results::ClaimAnswer<'_>, cells: &BTreeMap<CellId, &CellResult>) -> Self {
        let results::ClaimAnswer { claim, exploratory, judged } = entry;
        let statement = &claim.statement;
        let at = |(axis, values): &(String, Vec<String>)| format!("{axis}={}", values.join(", "));
        let at: Vec<String> = statement.at.iter().map(at).collect();
        let (score_above, score_below) = match statement.score {
            Bound::Above(score) => (Some(score), None),
            Bound::Below(score) => (None, Some(score)),
        };
        let reason = match judged.judgement {
            Judgement::NotJudged(why) => Some(why.reason()),
            Judgement::Supported
            | Judgement::NotShown
            | Judgement::Open
            | Judgement::Exploratory => exploratory.map(results::WhyExploratory::reason),
        };
        let cell = |(stated, judged): (&results::StatedCell, &JudgedCell)| {
            ClaimedCell::new(stated, judged, cells.get(&stated.cell).copied())
        };
        Self {
            claim: claim.text.clone(),
            player: statement.player.clone(),
            opponent: statement.opponent.clone(),
            at: (!at.is_empty()).then(|| at.join("; ")),
            score_above,
            score_below,
            quantifier: statement.quantifier.name(),
            error_rate: statement.error_rate,
            exploratory: exploratory.is_some(),
            in_sweep: claim.in_sweep,
            verdict: judged.judgement.name(),
            reason,
            p: judged.figures.map(|figures| figures.p),
            p_adjusted: judged.figures.and_then(|figures| figures.p_adjusted),
            hash: claim.hash.to_string(),
            cells: claim.cells.iter().zip(&judged.cells).map(cell).collect(),
        }
    }
}

impl ClaimedCell {
    fn new(stated: &results::StatedCell, judged: &JudgedCell, cell: Option<&CellResult>) -> Self {
        let names = cell.map(|cell| cell.sides(stated.player));
        Self {
            cell_id: stated.cell.0,
            player: names.map(|[player, _]| player.to_owned()),
            opponent: names.map(|[_, opponent]| opponent.to_owned()),
            score: judged.band.map(|band| band.score),
            band_low: judged.band.map(|band| band.low),
            band_high: judged.band.map(|band| band.high),
            cell_p: judged.p,
        }
    }
}
