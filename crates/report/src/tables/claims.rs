//! Claims that a sweep states about its results, and their judgement, for people.

use std::collections::BTreeMap;

use spelrum_answers::{
    CellResult, ClaimAnswer, MeanOverReplicates, RatedLead, Report, RunResult, StatedCell,
    StatedClaim, is_of_axis, places_text,
};
use spelrum_model::CellId;
use spelrum_model::course::Place;
use spelrum_statistics::claims::{About, ClaimFigures, JudgedCase, Judgement, NotJudged};

use super::axes::cells_by_id;
use super::column::Columns;
use super::entry::{TableEntry, View};
use super::rows::Rows;
use super::value::{Form, Value};
use crate::document::{Part, TitledTable};
use crate::text::{Column, optional, stated_rate};

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "claims",
    "What the sweep claimed of its results, and what came of it",
    &View { parts, rows },
)
.with_choices()
.shown_with_runs();

/// Name of the table of claims' cells.
pub(crate) const CELLS: &str = "claimed-cells";

/// A claim, and its number in tables and notes.
type Numbered<'c> = (usize, &'c ClaimAnswer<'c>);

/// Heading of all results that were not claimed beforehand.
const EXPLORATORY: &str = "Nobody claimed what follows before the first game: it shows where to look, and each of its\n\
                           intervals misses the truth once in twenty.";

/// Returns the claims, then the heading of the remaining results; empty without claims.
fn parts(report: &Report) -> Vec<Part> {
    let entries = report.judged_claims();
    if entries.is_empty() {
        return Vec::new();
    }
    let (late, stated): (Vec<Numbered<'_>>, Vec<_>) =
        (1..).zip(&entries).partition(|(_, entry)| entry.exploratory.is_some());
    let mut parts = Vec::new();
    if !stated.is_empty() {
        parts.push(Part::Table(claims("Claims", &stated).with_notes(notes(&stated))));
        parts.push(Part::Table(cells(report, "The cells of the claims", &stated)));
    }
    parts.push(Part::Heading("Exploratory".to_owned()));
    parts.push(Part::Words(EXPLORATORY.to_owned()));
    if !late.is_empty() {
        let title = "Exploratory claims";
        parts.push(Part::Table(claims(title, &late).with_notes(notes_on_exploratory(&late))));
        let title = "The cells of the exploratory claims";
        parts.push(Part::Table(cells(report, title, &late)));
    }
    parts
}

fn claims(title: &str, entries: &[Numbered<'_>]) -> TitledTable {
    let is_adjusted = entries.iter().any(|(_, entry)| entry.exploratory.is_none());
    let mut columns = vec![
        Column::numbers("no."),
        Column::words("claim"),
        Column::words("verdict"),
        Column::numbers("p"),
    ];
    columns.extend(is_adjusted.then(|| Column::numbers("p (Holm)")));
    let mut table = TitledTable::new(TABLE.name, title, columns);
    for (number, entry) in entries {
        let figures = entry.judged.figures;
        let p = figures.map(|figures| figures.p);
        let adjusted = figures.and_then(|figures| figures.p_adjusted);
        let row = [
            number.to_string(),
            entry.claim.text.clone(),
            verdict(entry.claim.statement.about, entry.judged.judgement),
            optional(p, p_value),
        ];
        table.row(row.into_iter().chain(is_adjusted.then(|| optional(adjusted, p_value))));
    }
    table
}

/// A cell of a claim, from the view of the claim's player.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    /// The claim's number in tables and notes.
    number: usize,
    claim: &'a StatedClaim,
    is_exploratory: bool,
    judgement: Judgement,
    figures: Option<ClaimFigures>,
    /// `None` for a claim about runs or ratings.
    stated: Option<StatedCell>,
    judged: JudgedCase,
    /// `None` if its sweep no longer names it.
    cell: Option<&'a CellResult>,
    /// The cell compared with, and its result.
    other: Option<(StatedCell, Option<&'a CellResult>)>,
    /// Of a claim about runs.
    run: Option<&'a RunResult>,
    /// Of a claim about ratings.
    lead: Option<&'a RatedLead>,
}

impl<'a> Row<'a> {
    /// Returns the names of the claim's player and of its opponent.
    fn names(self) -> [Option<&'a str>; 2] {
        if let Some(lead) = self.lead {
            return [&self.claim.statement.player, &lead.opponent].map(|name| Some(&**name));
        }
        match (self.cell, self.stated, self.run) {
            (Some(cell), Some(stated), _) => cell.sides(stated.player).map(Some),
            (_, _, Some(run)) => {
                [Some(&run.begun.player), run.begun.opponents.first().map(String::as_str)]
            }
            (_, _, None) => [None; 2],
        }
    }

    /// Returns its place on the axes, in words.
    fn place_text(self, axes: &[String]) -> Option<String> {
        if let Some(lead) = self.lead {
            return (!lead.at.is_empty()).then(|| lead.at.clone());
        }
        match self.run {
            Some(run) => {
                let place = |place: &Place| format!("{}={}", place.axis, place.value.text);
                let places: Vec<String> = run.begun.axes.iter().map(place).collect();
                (!places.is_empty()).then(|| places.join(", "))
            }
            None => {
                // A mean stands for all values on the axis of replicates.
                let values = axes.iter().zip(&self.cell?.axes).map(|(axis, value)| {
                    let is_mean = self
                        .claim
                        .statement
                        .over
                        .as_ref()
                        .is_some_and(|over| is_of_axis(axis, over));
                    value.clone().filter(|_| !is_mean)
                });
                places_text(axes, &values.collect::<Vec<_>>())
            }
        }
    }

    /// Returns the cell compared with, in words: its players and values.
    fn other_text(self, axes: &[String]) -> Option<String> {
        let (stated, cell) = self.other?;
        let cell = cell?;
        let [player, opponent] = cell.sides(stated.player);
        let at = places_text(axes, &cell.axes).map(|place| format!(" at {place}"));
        Some(format!("{player} against {opponent}{}", at.unwrap_or_default()))
    }

    /// Returns the figure, if it is a score, or if it is not.
    fn figure(self, is_score: bool) -> Option<f64> {
        let about = self.claim.statement.about;
        let value = self.judged.band?.value;
        (matches!(about, About::Score(_)) == is_score).then_some(value)
    }
}

/// Returns each cell of a claim.
pub(crate) fn claim_rows<'a>(
    (number, entry): (usize, &ClaimAnswer<'a>),
    report: &'a Report,
    cells: &BTreeMap<CellId, &'a CellResult>,
) -> Vec<Row<'a>> {
    let ClaimAnswer { claim, exploratory, judged } = entry;
    let row = |judged_case: &JudgedCase| Row {
        number,
        claim,
        is_exploratory: exploratory.is_some(),
        judgement: judged.judgement,
        figures: judged.figures,
        stated: None,
        judged: *judged_case,
        cell: None,
        other: None,
        run: None,
        lead: None,
    };
    if claim.statement.about.is_of_ratings() {
        let leads = claim.leads.iter().zip(&judged.cases);
        return leads.map(|(lead, case)| Row { lead: Some(lead), ..row(case) }).collect();
    }
    if claim.statement.about.is_of_runs() {
        let runs = claim.runs(&report.runs).zip(&judged.cases);
        return runs.map(|(run, case)| Row { run: Some(run), ..row(case) }).collect();
    }
    let cases: Vec<&'a [StatedCell]> = match claim.statement.over {
        None => claim.cases().collect(),
        Some(_) => {
            let all: Vec<&'a [StatedCell]> = claim.cases().collect();
            let first = |mean: &MeanOverReplicates| {
                let case = mean.cases.first().and_then(|&case| usize::try_from(case).ok());
                case.and_then(|case| all.get(case).copied()).unwrap_or_default()
            };
            claim.means.iter().map(first).collect()
        }
    };
    let of_cells = |(case, judged_case): (&'a [StatedCell], &JudgedCase)| Row {
        stated: case.first().copied(),
        cell: case.first().and_then(|stated| cells.get(&stated.cell).copied()),
        other: case.get(1).map(|other| (*other, cells.get(&other.cell).copied())),
        ..row(judged_case)
    };
    cases.into_iter().zip(&judged.cases).map(of_cells).collect()
}

/// Returns the columns of a claim's cells.
pub(crate) fn cell_columns(report: &Report) -> Columns<'_, Row<'_>> {
    let is_compared = report.claims.iter().any(|claim| claim.statement.than.is_some());
    let is_score = |claim: &StatedClaim| matches!(claim.statement.about, About::Score(_));
    let has_figures = !report.claims.iter().all(is_score);
    Columns::<Row<'_>>::new()
        .text("claim", Form::Digits, |row| row.number.to_string())
        .text("at", Form::Words, |row| row.place_text(&report.axes))
        .key("cell_id", |row| Some(row.stated?.cell.0))
        .column("player", "player", Form::Words, |row| row.names()[0])
        .column("opponent", "opponent", Form::Words, |row| row.names()[1])
        .key("than_cell_id", |row| Some(row.other?.0.cell.0))
        .column("than", "than", Form::Words, |row| row.other_text(&report.axes))
        .shown_if(is_compared)
        .column("score", "score", Form::Decimals(3), |row| row.figure(true))
        // Of claims about other figures.
        .column("figure", "figure", Form::Decimals(3), |row| row.figure(false))
        .shown_if(has_figures)
        // The simultaneous band.
        .key("band_low", |row| Some(row.judged.band?.low))
        .key("band_high", |row| Some(row.judged.band?.high))
        .text("band", Form::Words, |row| {
            row.judged.band.map(|band| format!("{:.3}–{:.3}", band.low, band.high))
        })
        // One-sided.
        .column("cell_p", "p", Form::Digits, |row| row.judged.p)
        .shown_as(|row| optional(row.judged.p, p_value))
}

/// Returns a row for each claim and cell.
fn rows(report: &Report) -> Rows<'_> {
    let columns = Columns::<Row<'_>>::new()
        .key("claim", |row| &row.claim.text)
        .key("in_sweep", |row| row.claim.in_sweep)
        .key("exploratory", |row| row.is_exploratory)
        .key("verdict", |row| row.judgement.name())
        .key("p", |row| Some(row.figures?.p))
        .key("p_adjusted", |row| row.figures?.p_adjusted)
        .keys(["score_above", "score_below"], |row| score_ends(row.claim.statement.about))
        .key("about", |row| row.claim.statement.about.figure())
        .keys(["above", "below"], |row| row.claim.statement.about.bound().ends())
        .key("in", |row| row.claim.statement.quantifier.name())
        .key("axes", |row| match row.cell {
            Some(cell) => Value::places(&cell.axes),
            None => Value::Places(vec![None; report.axes.len()]),
        })
        .and(cell_columns(report));
    let (entries, cells) = (report.judged_claims(), cells_by_id(report));
    let rows = (1..).zip(&entries).flat_map(|entry| claim_rows(entry, report, &cells));
    Rows::new(&report.axes, columns, rows.collect())
}

/// Returns the ends of a bound of a score; none for other figures.
pub(crate) fn score_ends(about: About) -> [Option<f64>; 2] {
    match about {
        About::Score(bound) => bound.ends(),
        About::Gain(_)
        | About::TimeRatio(_)
        | About::Accuracy(_)
        | About::Value(_)
        | About::RatingLead(_) => [None; 2],
    }
}

fn cells(report: &Report, title: &str, entries: &[Numbered<'_>]) -> TitledTable {
    let cells = cells_by_id(report);
    let rows = entries.iter().flat_map(|entry| claim_rows(*entry, report, &cells));
    cell_columns(report).table(CELLS, title, rows)
}

/// Formats each claim: `1: alphabeta against random, score above 0.5 in every one of 4 cells.`
fn statements<'c>(entries: &'c [Numbered<'c>]) -> impl Iterator<Item = String> + 'c {
    entries.iter().map(|(number, entry)| {
        let statement = &entry.claim.statement;
        let predicate = statement.predicate(entry.judged.cases.len());
        format!("{number}: {}, {predicate}.", statement.subject())
    })
}

fn notes(entries: &[Numbered<'_>]) -> Vec<String> {
    let rate = entries.first().map_or(0.05, |(_, entry)| entry.claim.statement.error_rate);
    let percent = stated_rate(rate);
    let mut notes: Vec<String> = statements(entries).collect();
    notes.push(format!(
        "Stated before the first game was settled, and judged together: with a chance of at most {percent} any\n\
         false one is called supported (Holm). The bands of all their cells hold together, but for {percent}."
    ));
    for (number, entry) in entries {
        if !entry.claim.in_sweep {
            notes.push(format!(
                "Claim {number} is no longer in the sweep. It stays: it was stated before the first game."
            ));
        }
        if let Judgement::NotJudged(why) = entry.judged.judgement {
            notes.push(format!("Claim {number} is not judged: {}.", not_judged(why)));
        }
    }
    let any_judged =
        |judgement| entries.iter().any(|(_, entry)| entry.judged.judgement == judgement);
    if any_judged(Judgement::Open) {
        notes.push(
            "Open: there are games to play, of the claim's cells or of others that it is judged with."
                .to_owned(),
        );
    }
    if any_judged(Judgement::NotShown) {
        notes.push(
            "Not shown: these games are inconclusive, which does not prove the contrary."
                .to_owned(),
        );
    }
    notes
}

fn notes_on_exploratory(entries: &[Numbered<'_>]) -> Vec<String> {
    let mut notes: Vec<String> = statements(entries).collect();
    notes.push(
        "Not judged: their p-values stand alone, and are not adjusted for each other.".to_owned(),
    );
    notes.extend(entries.iter().filter_map(|(number, entry)| {
        Some(format!("Claim {number} is exploratory: {}.", entry.exploratory?.reason()))
    }));
    notes
}

fn not_judged(why: NotJudged) -> String {
    match why {
        NotJudged::Sequential => format!("{}, after which a score has no p-value", why.reason()),
        NotJudged::Misfit => format!("{}: see --table misfits", why.reason()),
        NotJudged::Repeats | NotJudged::Gone => why.reason().to_owned(),
    }
}

/// Equivalence is a verdict of its own: `equal within ±0.05`.
fn verdict(about: About, judgement: Judgement) -> String {
    let word = match judgement {
        Judgement::Supported => return about.equivalence().unwrap_or("supported".to_owned()),
        Judgement::NotShown => "not shown",
        Judgement::Open => "open",
        Judgement::Exploratory => "exploratory",
        Judgement::NotJudged(_) => "not judged",
    };
    word.to_owned()
}

/// Formats a p-value with its significant digits.
fn p_value(p: f64) -> String {
    if p < 0.0001 { "<0.0001".to_owned() } else { format!("{p:.4}") }
}
