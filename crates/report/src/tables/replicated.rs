//! Mean results over replicates: the cells of a sweep that names an axis of them.

use std::rc::Rc;

use spelrum_answers::{CellReplicates, CellResult, Replicated, Report, Stronger};
use spelrum_statistics::ScoreInterval;

use super::cells;
use super::column::Columns;
use super::entry::{TableEntry, View, parts};
use super::rows::Rows;
use super::value::{Form, Value, ends};
use crate::document::TitledTable;
use crate::text::optional;

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "replicated",
    "Who is stronger in the mean over replicates",
    &View { parts: |report| parts(table(report)), rows },
)
.in_json("replicated");

fn columns(replicated: &Replicated) -> Columns<'_, &CellReplicates> {
    let adjusted = Rc::new(replicated.adjusted_verdicts());
    let p_values = Rc::clone(&adjusted);
    let mut columns = Columns::<&CellReplicates>::new()
        .key("cell_id", |row| row.cell.0)
        .key("axes", |row| Value::places(&row.place));
    for (index, axis) in replicated.axes.iter().enumerate() {
        // The axis of the replicates has no value here.
        columns = columns
            .text(axis, Form::Digits, move |row| row.place[index].as_deref())
            .shown_if(replicated.groups.iter().any(|row| row.place[index].is_some()));
    }
    columns
        .column("player", "player", Form::Words, |row| &row.player)
        .column("opponent", "opponent", Form::Words, |row| &row.opponent)
        .column("replicates", "replicates", Form::Count, |row| row.seeds)
        .column("score", "score", Form::Decimals(3), |row| row.score)
        .keys(["score_low", "score_high"], |row| ends(row.interval))
        .text("95% interval", Form::Words, |row| {
            row.interval.map(|bounds| format!("{:.3}–{:.3}", bounds.low, bounds.high))
        })
        .column("deviation", "deviation", Form::Decimals(3), |row| row.deviation)
        .key("deviation_beyond_openings", |row| row.deviation_between)
        .column("stronger", "stronger", Form::Words, |row| stronger(row).map(Stronger::name))
        .shown_as(move |row| {
            optional(stronger(row), |stronger| {
                let name = match stronger {
                    Stronger::Player => &row.player,
                    Stronger::Opponent => &row.opponent,
                    Stronger::Unclear => "unclear",
                };
                match cells::is_single(row.cell, stronger, &adjusted) {
                    true => format!("{name} †"),
                    false => name.to_owned(),
                }
            })
        })
        .key("p", |row| row.p_value)
        .key("p_adjusted", move |row| p_values.p_value(row.cell))
}

/// Returns the stronger player by the interval over replicates; `None` without one.
fn stronger(row: &CellReplicates) -> Option<Stronger> {
    let interval = row.interval?;
    let score = ScoreInterval { score: row.score, low: interval.low, high: interval.high };
    Some(Stronger::from_score(Some(score)))
}

fn rows(report: &Report) -> Rows<'_> {
    match &report.replicated {
        Some(replicated) => {
            let groups = replicated.groups.iter().collect();
            Rows::new(&replicated.axes, columns(replicated), groups)
        }
        None => Rows::new(&report.axes, Columns::new(), Vec::<&CellReplicates>::new()),
    }
}

/// Whether a report shows mean results over replicates in place of its cells.
pub(crate) fn are_shown(report: &Report) -> bool {
    report.replicated.as_ref().is_some_and(|replicated| !replicated.groups.is_empty())
}

fn table(report: &Report) -> Option<TitledTable> {
    let replicated = report.replicated.as_ref().filter(|_| are_shown(report))?;
    let (columns, rows) = (columns(replicated), &replicated.groups);
    let title = format!("Who is stronger, in the mean over {}", replicated.axis);
    let table = columns.table(TABLE.name, title, rows);
    let mut notes = vec![
        "Each row is a mean over replicates, with Student's interval by how much they differ and by the\n\
         openings that they share. Deviation: the standard deviation from replicate to replicate."
            .to_owned(),
    ];
    if replicated.groups.iter().any(|row| row.interval.is_none()) {
        notes.push(
            "A single replicate has no interval: nothing shows how others differ.".to_owned(),
        );
    }
    let replicates = || replicated.groups.iter().map(|row| row.seeds);
    if replicates().min() != replicates().max() {
        notes.push(
            "Some rows have fewer replicates than others: where two players or replicates are equal, they\n\
             share a cell, which counts once, under the name that comes first."
                .to_owned(),
        );
    }
    if !report.cells.iter().all(CellResult::is_complete) {
        notes.push(
            "These intervals hold at the planned end, and games are left to play.".to_owned(),
        );
    }
    notes.push("The single cells: spelrum report --table cells.".to_owned());
    notes.extend(cells::notes_of_games(report));
    let verdicts = replicated.groups.iter().filter_map(|row| Some((row.cell, stronger(row)?)));
    notes.extend(cells::many(&replicated.adjusted_verdicts(), verdicts));
    Some(table.with_notes(notes))
}

#[cfg(test)]
pub(crate) mod tests {
    use spelrum_model::CellId;
    use spelrum_statistics::Interval;

    use super::*;
    use crate::tables::text::tests::{report, shown};

    /// Means over networks: one that is clearly ahead, one that is not, and one of a single network.
    pub(crate) fn replicated() -> Replicated {
        let group = |cell, inputs: &str, seeds, score: f64, error: Option<f64>| CellReplicates {
            cell: CellId(cell),
            place: vec![Some(inputs.to_owned()), None],
            player: "network".to_owned(),
            opponent: "table".to_owned(),
            seeds,
            score,
            interval: error.map(|error| Interval {
                value: score,
                low: score - error,
                high: score + error,
            }),
            p_value: error.map(|error| if (score - 0.5).abs() > error { 0.01 } else { 0.5 }),
            deviation: error.map(|error| error * 2.0),
            deviation_between: error,
        };
        Replicated {
            axis: "number".to_owned(),
            axes: ["inputs", "number"].map(str::to_owned).into(),
            groups: vec![
                group(1, "distances", 10, 0.625, Some(0.0625)),
                group(11, "coordinates", 10, 0.4375, Some(0.125)),
                group(21, "all", 10, 0.25, Some(0.125)),
                group(31, "none", 1, 0.75, None),
            ],
        }
    }

    #[test]
    fn replicates_are_shown_as_their_mean() {
        let text = shown(&Report { replicated: Some(replicated()), ..report() });
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let table: Vec<&str> =
            text.lines().skip_while(|line| !line.contains("mean over number")).take(16).collect();
        insta::assert_snapshot!(table.join("\n"));
    }

    #[test]
    fn a_verdict_is_by_the_interval_over_replicates() {
        let verdicts: Vec<_> = replicated().groups.iter().map(stronger).collect();
        let [ahead, even, behind] = [Stronger::Player, Stronger::Unclear, Stronger::Opponent];
        assert_eq!(verdicts, [Some(ahead), Some(even), Some(behind), None]);
    }
}
