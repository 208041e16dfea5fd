//! Claims that a sweep states about its results, and their judgement, for people.

use spelrum_answers::{ClaimAnswer, Report, places_text};
use spelrum_statistics::claims::{Judgement, NotJudged};

use super::axes::cells_by_id;
use super::claims_json;
use super::csv::rows;
use super::entry::{Source, TableEntry, View};
use crate::document::{Part, TitledTable};
use crate::text::{Column, optional};

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "claims",
    "What the sweep claimed of its results, and what came of it",
    Source::Cells(View {
        parts,
        rows: |report| {
            let claims = claims_json::claims(report);
            rows(&report.experiment.name, &report.axes, &claims_json::rows(report, &claims))
        },
    }),
);

/// Name of the table of claims' cells.
const CELLS: &str = "claimed-cells";

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
            verdict(entry.judged.judgement).to_owned(),
            optional(p, p_value),
        ];
        table.row(row.into_iter().chain(is_adjusted.then(|| optional(adjusted, p_value))));
    }
    table
}

/// Returns each cell of each claim, with its band.
fn cells(report: &Report, title: &str, entries: &[Numbered<'_>]) -> TitledTable {
    let columns = vec![
        Column::numbers("claim"),
        Column::words("at"),
        Column::words("player"),
        Column::words("opponent"),
        Column::numbers("score"),
        Column::words("band"),
        Column::numbers("p"),
    ];
    let mut table = TitledTable::new(CELLS, title, columns);
    let cells_by_id = cells_by_id(report);
    for (number, entry) in entries {
        for (stated, judged) in entry.claim.cells.iter().zip(&entry.judged.cells) {
            let cell = cells_by_id.get(&stated.cell);
            let at = cell.and_then(|cell| places_text(&report.axes, &cell.axes));
            let names = cell.map(|cell| cell.sides(stated.player));
            table.row([
                number.to_string(),
                optional(at, |at| at),
                optional(names, |[player, _]| player.to_owned()),
                optional(names, |[_, opponent]| opponent.to_owned()),
                optional(judged.band, |band| format!("{:.3}", band.score)),
                optional(judged.band, |band| format!("{:.3}–{:.3}", band.low, band.high)),
                optional(judged.p, p_value),
            ]);
        }
    }
    table
}

/// Formats each claim: `1: alphabeta against random, score above 0.5 in every one of 4 cells.`
fn statements<'c>(entries: &'c [Numbered<'c>]) -> impl Iterator<Item = String> + 'c {
    entries.iter().map(|(number, entry)| {
        let statement = &entry.claim.statement;
        let predicate = statement.predicate(entry.claim.cells.len());
        format!("{number}: {}, {predicate}.", statement.subject())
    })
}

fn notes(entries: &[Numbered<'_>]) -> Vec<String> {
    let rate = entries.first().map_or(0.05, |(_, entry)| entry.claim.statement.error_rate);
    let percent = format!("{}%", 100.0 * rate);
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
        NotJudged::Repeats | NotJudged::Gone => why.reason().to_owned(),
    }
}

fn verdict(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Supported => "supported",
        Judgement::NotShown => "not shown",
        Judgement::Open => "open",
        Judgement::Exploratory => "exploratory",
        Judgement::NotJudged(_) => "not judged",
    }
}

/// Formats a p-value with its significant digits.
fn p_value(p: f64) -> String {
    if p < 0.0001 { "<0.0001".to_owned() } else { format!("{p:.4}") }
}
