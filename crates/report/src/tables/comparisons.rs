//! Changes from cell to cell, for people.

use spelrum_answers::CellDifference as Difference;
use spelrum_answers::Comparisons;
use spelrum_statistics::Interval;
use spelrum_statistics::comparisons::{Changed, Contrast, DIFFERENCES_MAX, Effects};

use super::comparisons_json::Compared;
use super::csv::rows;
use super::entry::{Source, TableEntry, View, parts};
use crate::document::TitledTable;
use crate::text::{Column, count, optional};

pub(crate) const GAINS: TableEntry = TableEntry::new(
    "gains",
    "What is gained from cell to cell",
    Source::Comparisons(View {
        parts: |compared| parts((!compared.differences.is_empty()).then(|| gains(compared))),
        rows: |compared| {
            let Compared { experiment, axes, gains, .. } = &Compared::from(compared);
            rows(experiment, axes, gains)
        },
    }),
);

pub(crate) const EFFECTS: TableEntry = TableEntry::new(
    "effects",
    "What each axis does over all cells",
    Source::Comparisons(View {
        parts: |compared| parts((!compared.effects.is_empty()).then(|| effects(compared))),
        rows: |compared| {
            let Compared { experiment, axes, effects, .. } = &Compared::from(compared);
            rows(experiment, axes, effects)
        },
    }),
);

pub(crate) const REPLICATES: TableEntry = TableEntry::new(
    "replicates",
    "Cells that were done again with other seeds",
    Source::Comparisons(View {
        parts: |compared| parts((!compared.replicates.is_empty()).then(|| replicates(compared))),
        rows: |compared| {
            let Compared { experiment, axes, replicates, .. } = &Compared::from(compared);
            rows(experiment, axes, replicates)
        },
    }),
);

fn gains(comparisons: &Comparisons) -> TitledTable {
    let mut columns: Vec<Column> = comparisons.axes.iter().map(Column::words).collect();
    columns.extend([
        Column::words("player"),
        Column::words("opponent"),
        Column::numbers("openings"),
        Column::numbers("gain"),
        Column::words("95% interval"),
        Column::words("scores"),
    ]);
    let mut table = TitledTable::new(GAINS.name, "What each step gains", columns);
    for gain in &comparisons.differences {
        let value = |(axis, value): (usize, &Option<String>)| match &gain.changed {
            Changed::Axis { axis: changed, from, to } if *changed == axis => step(from, to),
            Changed::Axis { .. } | Changed::Player { .. } => {
                optional(value.as_deref(), ToOwned::to_owned)
            }
        };
        let player = match &gain.changed {
            Changed::Axis { .. } => gain.player.clone(),
            Changed::Player { from } => step(from, &gain.player),
        };
        let row = [
            player,
            gain.opponent.clone(),
            count(gain.openings_shared),
            points(gain.score),
            interval(gain.interval),
            gain_verdict(gain).to_owned(),
        ];
        table.row(gain.place.iter().enumerate().map(value).chain(row));
    }
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

fn effects(comparisons: &Comparisons) -> TitledTable {
    let columns = vec![
        Column::words("player"),
        Column::words("opponent"),
        Column::words("axis"),
        Column::words("with"),
        Column::numbers("gain"),
        Column::words("95% interval"),
    ];
    let mut table = TitledTable::new(EFFECTS.name, "What each axis does, over all cells", columns);
    let name = |contrast: &Contrast| {
        let axis = comparisons.axes.get(contrast.axis).map_or("", String::as_str);
        format!("{axis} {}", step(&contrast.from, &contrast.to))
    };
    for Effects { player, opponent, effects, .. } in &comparisons.effects {
        for effect in effects {
            table.row([
                player.clone(),
                opponent.clone(),
                optional(effect.contrasts.first(), name),
                optional(effect.contrasts.get(1), name),
                points(effect.score),
                interval(effect.interval),
            ]);
        }
    }
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

fn replicates(comparisons: &Comparisons) -> TitledTable {
    // The axis of the seeds has no value here.
    let is_given =
        |axis: &usize| comparisons.replicates.iter().any(|row| row.place[*axis].is_some());
    let axes: Vec<usize> = (0..comparisons.axes.len()).filter(is_given).collect();
    let mut columns: Vec<Column> =
        axes.iter().map(|&axis| Column::numbers(&comparisons.axes[axis])).collect();
    columns.extend([
        Column::words("player"),
        Column::words("opponent"),
        Column::numbers("seeds"),
        Column::numbers("score"),
        Column::words("95% interval"),
        Column::numbers("deviation"),
        Column::numbers("beyond openings"),
    ]);
    let mut table = TitledTable::new(REPLICATES.name, "Repeats with other seeds", columns);
    for row in &comparisons.replicates {
        let figure = |figure: Option<f64>| optional(figure, |figure| format!("{figure:.3}"));
        let within = |bounds: Interval| format!("{:.3}–{:.3}", bounds.low, bounds.high);
        let places =
            axes.iter().map(|&axis| optional(row.place[axis].as_deref(), ToOwned::to_owned));
        table.row(places.chain([
            row.player.clone(),
            row.opponent.clone(),
            count(row.seeds),
            format!("{:.3}", row.score),
            optional(row.interval, within),
            figure(row.deviation),
            figure(row.deviation_between),
        ]));
    }
    table.with_notes(vec![
        "Score: the mean over seeds, with an interval by how much they differ; deviation: the standard\n\
         deviation from seed to seed, and as much of it as openings do not explain."
            .to_owned(),
    ])
}

fn step(from: &str, to: &str) -> String {
    format!("{from} → {to}")
}

/// Formats points per game, with their sign.
fn points(points: f64) -> String {
    format!("{:+.3}", points + 0.0)
}

fn interval(interval: Option<Interval>) -> String {
    optional(interval, |bounds| format!("{} to {}", points(bounds.low), points(bounds.high)))
}

fn gain_verdict(gain: &Difference) -> &'static str {
    match gain.interval {
        Some(interval) if interval.low > 0.0 => "more",
        Some(interval) if interval.high < 0.0 => "less",
        Some(_) | None => "unclear",
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use spelrum_answers::CellReplicates as Replicates;
    use spelrum_answers::ExperimentSummary;
    use spelrum_model::CellId;
    use spelrum_model::ExperimentId;
    use spelrum_model::ExperimentState;
    use spelrum_statistics::comparisons::Effect;

    use super::*;
    use crate::answers::Answers;
    use crate::document::Part;
    use crate::tables::registry;
    use crate::tables::text::document;

    fn page(comparisons: &Comparisons) -> Vec<Part> {
        let comparisons = Some(comparisons.clone());
        registry::page(&GAINS, &Answers { comparisons, ..Answers::default() }).unwrap()
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
            replicates: vec![Replicates {
                cell: CellId(1),
                place: vec![Some("1".to_owned()), None],
                player: "alphabeta".to_owned(),
                opponent: "genetic".to_owned(),
                seeds: 5,
                score: 0.613,
                interval: Some(figure(0.613, 0.04)),
                deviation: Some(0.0322),
                deviation_between: Some(0.0),
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
            replicates: Vec::new(),
            ..comparisons()
        };
        assert!(
            matches!(&page(&none)[..], [Part::Words(words)] if words.contains("nothing to compare"))
        );
    }
}
