//! Changes from cell to cell.

use spelrum_answers::CellDifference as Difference;
use spelrum_answers::{CellReplicates, Comparisons, ExperimentSummary, GetComparisons};
use spelrum_statistics::Interval;
use spelrum_statistics::comparisons::{Changed, Contrast, DIFFERENCES_MAX, Effect, Effects};

use super::column::Columns;
use super::entry::{TableEntry, View, parts};
use super::rows::Rows;
use super::value::{Form, Value, ends};
use crate::answers::TableAnswer;
use crate::document::TitledTable;
use crate::text::count;

pub(crate) const GAINS: TableEntry = TableEntry::new(
    "gains",
    "What is gained from cell to cell",
    &View::<Comparisons> {
        parts: |compared| parts((!compared.differences.is_empty()).then(|| gains(compared))),
        rows: gain_rows,
    },
);

pub(crate) const EFFECTS: TableEntry = TableEntry::new(
    "effects",
    "What each axis does over all cells",
    &View::<Comparisons> {
        parts: |compared| parts((!compared.effects.is_empty()).then(|| effects(compared))),
        rows: effect_rows,
    },
);

pub(crate) const REPLICATES: TableEntry = TableEntry::new(
    "replicates",
    "Cells that were done again with other seeds",
    &View::<Comparisons> {
        parts: |compared| parts((!compared.replicates.is_empty()).then(|| replicates(compared))),
        rows: replicate_rows,
    },
);

impl TableAnswer for Comparisons {
    type Question = GetComparisons;
    const ACTION: &'static str = "compare the cells of";

    fn experiment(&self) -> &ExperimentSummary {
        &self.experiment
    }

    fn words_if_empty(&self) -> Option<&'static str> {
        let is_empty =
            self.differences.is_empty() && self.effects.is_empty() && self.replicates.is_empty();
        is_empty.then_some(
            "There is nothing to compare: no two cells with games differ in exactly one setting.",
        )
    }
}

fn gain_columns(comparisons: &Comparisons) -> Columns<'_, &Difference> {
    let axes = &comparisons.axes;
    let mut columns = Columns::<&Difference>::new()
        .key("cell_id", |gain| gain.cells[0].0)
        .key("from_cell_id", |gain| gain.cells[1].0)
        // Values that both cells have.
        .key("axes", |gain| Value::places(&gain.place));
    for (index, axis) in axes.iter().enumerate() {
        columns = columns.text(axis, Form::Words, move |gain| match &gain.changed {
            Changed::Axis { axis, from, to } if *axis == index => Some(step(from, to)),
            Changed::Axis { .. } | Changed::Player { .. } => gain.place[index].clone(),
        });
    }
    columns
        .column("player", "player", Form::Words, |gain| &gain.player)
        .shown_as(|gain| match &gain.changed {
            Changed::Axis { .. } => gain.player.clone(),
            Changed::Player { from } => step(from, &gain.player),
        })
        .column("opponent", "opponent", Form::Words, |gain| &gain.opponent)
        .keys(["changed", "from", "to"], |gain| match &gain.changed {
            Changed::Axis { axis, from, to } => [&axes[*axis], from, to].map(String::as_str),
            Changed::Player { from } => ["player", from, &gain.player],
        })
        .column("openings_shared", "openings", Form::Count, |gain| gain.openings_shared)
        .column("gain", "gain", Form::Points, |gain| gain.score)
        .keys(["gain_low", "gain_high"], |gain| ends(gain.interval))
        .text("95% interval", Form::Words, |gain| gain.interval.map(interval))
        .text("scores", Form::Words, |gain| match gain.interval {
            Some(interval) if interval.low > 0.0 => "more",
            Some(interval) if interval.high < 0.0 => "less",
            Some(_) | None => "unclear",
        })
}

pub(crate) fn gain_rows(comparisons: &Comparisons) -> Rows<'_> {
    let gains = comparisons.differences.iter().collect();
    Rows::new(&comparisons.axes, gain_columns(comparisons), gains)
}

fn gains(comparisons: &Comparisons) -> TitledTable {
    let (columns, rows) = (gain_columns(comparisons), &comparisons.differences);
    let table = columns.table(GAINS.name, "What each step gains", rows);
    let mut notes = vec![
        "Gain: how many points per game the player scores more than in the cell before the arrow, opening\n\
         by opening where both have the same."
            .to_owned(),
    ];
    if comparisons.differences_truncated {
        notes.push(format!("There are more than these {}.", count(DIFFERENCES_MAX as u64)));
    }
    notes.push("One interval in twenty misses the truth.".to_owned());
    table.with_notes(notes)
}

/// An effect of an axis over all cells of a pairing, or of two axes together.
type EffectRow<'a> = (&'a Effects, &'a Effect);

fn effect_columns(comparisons: &Comparisons) -> Columns<'_, EffectRow<'_>> {
    let texts = |contrast: Option<&'_ Contrast>| match contrast {
        Some(Contrast { axis, from, to }) => {
            [&comparisons.axes[*axis], from, to].map(|text| Some(text.clone()))
        }
        None => [const { None }; 3],
    };
    let name = |contrast: &Contrast| {
        let axis = comparisons.axes.get(contrast.axis).map_or("", String::as_str);
        format!("{axis} {}", step(&contrast.from, &contrast.to))
    };
    Columns::<EffectRow<'_>>::new()
        .column("player", "player", Form::Words, |(pairing, _)| &pairing.player)
        .column("opponent", "opponent", Form::Words, |(pairing, _)| &pairing.opponent)
        .key("cells", |(pairing, _)| pairing.cells)
        .keys(["axis", "from", "to"], move |(_, effect)| texts(effect.contrasts.first()))
        .text("axis", Form::Words, move |(_, effect)| effect.contrasts.first().map(name))
        .keys(["with_axis", "with_from", "with_to"], move |(_, effect)| {
            texts(effect.contrasts.get(1))
        })
        .text("with", Form::Words, move |(_, effect)| effect.contrasts.get(1).map(name))
        .column("gain", "gain", Form::Points, |(_, effect)| effect.score)
        .keys(["gain_low", "gain_high"], |(_, effect)| ends(effect.interval))
        .text("95% interval", Form::Words, |(_, effect)| effect.interval.map(interval))
        // Of the pairing's model.
        .key("residual_deviation", |(pairing, _)| pairing.residual)
}

fn all_effects(comparisons: &Comparisons) -> Vec<EffectRow<'_>> {
    let by_pairing = comparisons
        .effects
        .iter()
        .flat_map(|pairing| pairing.effects.iter().map(move |effect| (pairing, effect)));
    by_pairing.collect()
}

pub(crate) fn effect_rows(comparisons: &Comparisons) -> Rows<'_> {
    Rows::new(&comparisons.axes, effect_columns(comparisons), all_effects(comparisons))
}

fn effects(comparisons: &Comparisons) -> TitledTable {
    let (columns, rows) = (effect_columns(comparisons), all_effects(comparisons));
    let table = columns.table(EFFECTS.name, "What each axis does, over all cells", rows);
    let mut notes = vec![
        "From the first value to the last, in the middle of the other axes; with another axis: how much\n\
         larger that gain is at its end than at its beginning."
            .to_owned(),
    ];
    let missed =
        comparisons.effects.iter().filter_map(|effects| effects.residual).fold(None, maximum_of);
    notes.extend(missed.map(|missed| {
        format!(
            "What these leave unexplained of a cell's score is {missed:.3} (standard deviation)."
        )
    }));
    if comparisons.effects.iter().any(|effects| !effects.has_interactions) {
        notes.push("There are too few cells to tell what two axes do together.".to_owned());
    }
    table.with_notes(notes)
}

fn maximum_of(maximum: Option<f64>, next: f64) -> Option<f64> {
    Some(maximum.map_or(next, |maximum| maximum.max(next)))
}

fn replicate_columns(comparisons: &Comparisons) -> Columns<'_, &CellReplicates> {
    let mut columns = Columns::<&CellReplicates>::new()
        .key("cell_id", |row| row.cell.0)
        .key("axes", |row| Value::places(&row.place));
    for (index, axis) in comparisons.axes.iter().enumerate() {
        // The axis of the seeds has no value here.
        columns = columns
            .text(axis, Form::Digits, move |row| row.place[index].as_deref())
            .shown_if(comparisons.replicates.iter().any(|row| row.place[index].is_some()));
    }
    columns
        .column("player", "player", Form::Words, |row| &row.player)
        .column("opponent", "opponent", Form::Words, |row| &row.opponent)
        .column("seeds", "seeds", Form::Count, |row| row.seeds)
        .column("score", "score", Form::Decimals(3), |row| row.score)
        .keys(["score_low", "score_high"], |row| ends(row.interval))
        .text("95% interval", Form::Words, |row| {
            row.interval.map(|bounds| format!("{:.3}–{:.3}", bounds.low, bounds.high))
        })
        .column("deviation", "deviation", Form::Decimals(3), |row| row.deviation)
        .column("deviation_beyond_openings", "beyond openings", Form::Decimals(3), |row| {
            row.deviation_between
        })
}

pub(crate) fn replicate_rows(comparisons: &Comparisons) -> Rows<'_> {
    let rows = comparisons.replicates.iter().collect();
    Rows::new(&comparisons.axes, replicate_columns(comparisons), rows)
}

fn replicates(comparisons: &Comparisons) -> TitledTable {
    let (columns, rows) = (replicate_columns(comparisons), &comparisons.replicates);
    let table = columns.table(REPLICATES.name, "Repeats with other seeds", rows);
    table.with_notes(vec![
        "Score: the mean over seeds, with an interval by how much they differ; deviation: the standard\n\
         deviation from seed to seed, and as much of it as openings do not explain."
            .to_owned(),
    ])
}

fn step(from: &str, to: &str) -> String {
    format!("{from} → {to}")
}

fn interval(bounds: Interval) -> String {
    let points = |points: f64| Form::Points.text(&points.into());
    format!("{} to {}", points(bounds.low), points(bounds.high))
}

#[cfg(test)]
pub(crate) mod tests {
    use spelrum_answers::{CellHistory, ExperimentSummary};
    use spelrum_model::CellId;
    use spelrum_model::ExperimentId;
    use spelrum_model::ExperimentState;

    use spelrum_statistics::comparisons::{BuildScore, Gain};

    use super::*;
    use crate::answers::Answers;
    use crate::document::Part;
    use crate::tables::curves;
    use crate::tables::history::HISTORY;
    use crate::tables::text::document;

    fn answers(comparisons: &Comparisons) -> Answers {
        Answers::default().with(comparisons.clone())
    }

    fn page(comparisons: &Comparisons) -> Vec<Part> {
        let tables =
            [HISTORY, GAINS, EFFECTS, curves::CROSSINGS, curves::CURVES, REPLICATES].into_iter();
        tables.flat_map(|table| table.source.parts(&answers(comparisons)).unwrap()).collect()
    }

    /// A comparison of each kind.
    pub(crate) fn comparisons() -> Comparisons {
        let figure =
            |value: f64, error: f64| Interval { value, low: value - error, high: value + error };
        let gain =
            |changed, place: [Option<&str>; 2], score, interval: Option<Interval>| Difference {
                cells: [CellId(2), CellId(1)],
                changed,
                place: place.map(|value| value.map(str::to_owned)).into(),
                player: "alphabeta".to_owned(),
                opponent: "genetic".to_owned(),
                openings_shared: 1_250,
                score,
                interval,
            };
        let axis = |axis, from: &str, to: &str| Changed::Axis {
            axis,
            from: from.to_owned(),
            to: to.to_owned(),
        };
        let contrast = |axis, from: &str, to: &str| Contrast {
            axis,
            from: from.to_owned(),
            to: to.to_owned(),
        };
        let build = |build: Option<&str>, score, gain: Option<(f64, bool)>| BuildScore {
            cell: CellId(1),
            build: build.map(str::to_owned),
            score,
            interval: Some(figure(score, 0.04)),
            gain: gain.map(|(score, is_clear)| Gain {
                score,
                interval: Some(figure(score, 0.06)),
                is_clear,
            }),
        };
        Comparisons {
            experiment: ExperimentSummary {
                experiment: ExperimentId(1),
                uuid: "00000000-0000-4000-8000-000000000000".to_owned(),
                name: "pentago-depth".to_owned(),
                game: "pentago".to_owned(),
                task: spelrum_model::Task::Game,
                state: ExperimentState::Finished,
                priority: 0,
                cells: 4,
                games_planned: 300,
                games_settled: 300,
                games_failed: 0,
                submitted_unix_us: 0,
            },
            axes: ["depth", "time"].map(str::to_owned).into(),
            differences: vec![
                gain(axis(0, "1", "2"), [None, Some("5ms")], 0.083, Some(figure(0.083, 0.05))),
                gain(axis(1, "5ms", "10ms"), [Some("2"), None], -0.05, Some(figure(-0.05, 0.01))),
                gain(axis(1, "10ms", "20ms"), [Some("2"), None], -0.0, Some(figure(0.0, 0.02))),
                gain(
                    Changed::Player { from: "random".to_owned() },
                    [Some("2"), Some("5ms")],
                    0.4,
                    None,
                ),
            ],
            differences_truncated: true,
            effects: vec![Effects {
                player: "alphabeta".to_owned(),
                opponent: "genetic".to_owned(),
                cells: 6,
                effects: vec![
                    Effect {
                        contrasts: vec![contrast(0, "1", "3")],
                        score: 0.2,
                        interval: Some(figure(0.2, 0.03)),
                    },
                    Effect {
                        contrasts: vec![contrast(0, "1", "3"), contrast(1, "5ms", "20ms")],
                        score: -0.02,
                        interval: None,
                    },
                ],
                has_interactions: true,
                residual: Some(0.0312),
            }],
            curves: vec![curves::tests::curve()],
            curves_truncated: true,
            replicates: vec![CellReplicates {
                cell: CellId(1),
                place: vec![Some("1".to_owned()), None],
                player: "alphabeta".to_owned(),
                opponent: "genetic".to_owned(),
                seeds: 5,
                score: 0.613,
                interval: Some(figure(0.613, 0.04)),
                deviation: Some(0.0322),
                p_value: Some(0.5),
                deviation_between: Some(0.0),
            }],
            histories: vec![CellHistory {
                player: "dev".to_owned(),
                opponent: "base".to_owned(),
                place: vec![Some("1".to_owned()), None],
                builds: vec![
                    build(Some("1f0c8a3e5b7d92468ace013579bdf02468ace135"), 0.45, None),
                    build(
                        Some("9e8d7c6b5a49382716059483726150fedcba9876"),
                        0.55,
                        Some((0.1, true)),
                    ),
                    build(None, 0.5, Some((-0.05, false))),
                ],
            }],
        }
    }

    #[test]
    fn comparisons_are_readable_in_100_columns() {
        let comparisons = comparisons();
        let mut out = Vec::new();
        document(&comparisons.experiment, page(&comparisons)).write_text(&mut out).unwrap();
        let text = anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_note_says_that_nothing_can_be_compared() {
        let none = Comparisons {
            differences: Vec::new(),
            effects: Vec::new(),
            curves: Vec::new(),
            curves_truncated: false,
            replicates: Vec::new(),
            histories: Vec::new(),
            ..comparisons()
        };
        assert!(page(&none).is_empty());
        let words = GAINS.source.words_if_empty(&answers(&none)).unwrap();
        assert!(words.is_some_and(|words| words.contains("nothing to compare")));
    }
}
