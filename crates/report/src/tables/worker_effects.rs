//! Worker effects, for people and for programs.

use std::collections::BTreeMap;

use spelrum_answers::{Measure, Overview, WorkerEffects, WorkerShare};
use spelrum_model::WorkerId;
use spelrum_statistics::{Interval, WorkerEffect};

use super::column::Columns;
use super::entry::{TableEntry, View, parts};
use super::rows::Rows;
use super::value::ends;
use crate::document::TitledTable;
use crate::text::{Column, count, optional, ratio, relative_error};

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "worker-effects",
    "Effects of workers: what each adds to scores, times and nodes",
    &View { parts: |overview| parts(table(overview)), rows },
)
.in_json("worker_effects");

/// Returns a row for each measure and worker: figures of the whole measure, then the worker's.
pub(crate) fn rows(overview: &Overview) -> Rows<'_> {
    type Row<'a> = (&'a WorkerEffects, WorkerId, &'a WorkerEffect, Option<&'a WorkerShare>);
    let shares = &shares_by_worker(overview);
    let rows = overview.worker_effects.iter().flat_map(|measured| {
        let effects = measured.workers.iter().zip(&measured.between.effects);
        effects.map(move |(id, effect)| (measured, *id, effect, shares.get(id).copied()))
    });
    let columns = Columns::<Row<'_>>::new()
        .key("measure", |(measured, ..)| measured.measure.name())
        .key("units", |(measured, ..)| measured.units)
        .key("deviation", |(measured, ..)| measured.between.deviation.value)
        .keys(["deviation_low", "deviation_high"], |(measured, ..)| {
            ends(Some(measured.between.deviation))
        })
        .key("within", |(measured, ..)| measured.between.within)
        .key("p_value", |(measured, ..)| measured.between.p_value)
        .key("worker_id", |(_, worker, ..)| worker.0)
        .key("worker", |(.., share)| share.map(|share| &share.name))
        .key("host", |(.., share)| share.map(|share| &share.host))
        .key("effect", |(_, _, effect, _)| effect.effect)
        .key("error", |(_, _, effect, _)| effect.error);
    Rows::without_places(columns, rows.collect())
}

fn shares_by_worker(overview: &Overview) -> BTreeMap<WorkerId, &WorkerShare> {
    overview.workers.iter().map(|share| (share.worker, share)).collect()
}

/// Returns the effect of each worker on each measure, if several are compared.
fn table(overview: &Overview) -> Option<TitledTable> {
    if overview.worker_effects.is_empty() {
        return None;
    }
    let measures: Vec<&WorkerEffects> = overview.worker_effects.iter().collect();
    let mut columns = vec![Column::words("worker")];
    columns.extend(measures.iter().map(|effects| Column::numbers(heading(effects.measure))));
    let mut table = TitledTable::new(TABLE.name, "Effects of workers", columns);
    let shares = shares_by_worker(overview);
    let mut workers: Vec<WorkerId> =
        measures.iter().flat_map(|effects| effects.workers.iter().copied()).collect();
    workers.sort_unstable();
    workers.dedup();
    for worker in workers {
        let name = match shares.get(&worker) {
            Some(share) if share.name == share.host => share.name.clone(),
            Some(share) => format!("{} on {}", share.name, share.host),
            None => format!("worker {worker}"),
        };
        let figures = measures.iter().map(|effects| {
            let place = effects.workers.iter().position(|id| *id == worker);
            optional(place.map(|place| effects.between.effects[place]), |effect| {
                match effects.measure.is_logarithm() {
                    true => {
                        format!("{} {}", ratio(effect.effect.exp()), relative_error(effect.error))
                    }
                    false => format!("{:+.3} ±{:.3}", effect.effect + 0.0, effect.error),
                }
            })
        });
        table.row([name].into_iter().chain(figures));
    }
    let mut notes = vec![
        "Beside the mean of these workers, in the same cells; with the standard error.".to_owned(),
    ];
    notes.extend(measures.iter().map(|effects| between(effects)));
    notes.extend(warnings(overview));
    Some(table.with_notes(notes))
}

const fn heading(measure: Measure) -> &'static str {
    match measure {
        Measure::Score => "score",
        Measure::Time => "time of a move",
        Measure::Nodes => "nodes of a move",
    }
}

/// Describes the differences between workers in a measure.
fn between(measured: &WorkerEffects) -> String {
    let (Interval { value, low, high }, units) =
        (measured.between.deviation, count(measured.units));
    match measured.measure {
        Measure::Score => format!(
            "Score: between workers a standard deviation of {value:.3} (95%: {low:.3}–{}), over {units} pairs or games.",
            if high > 1.0 { "1".to_owned() } else { format!("{high:.3}") }
        ),
        Measure::Time | Measure::Nodes => {
            let quantity = if measured.measure == Measure::Time { "Time" } else { "Nodes" };
            let [value, low] = [value, low].map(|logarithm| ratio(logarithm.exp()));
            let high = match high < 10f64.ln() {
                true => ratio(high.exp()),
                false => "more than ×10".to_owned(),
            };
            format!(
                "{quantity} of a move: between workers a factor of {value} (95%: {low}–{high}), over {units} games."
            )
        }
    }
}

/// Warns if results depend on the worker.
pub(crate) fn warnings(overview: &Overview) -> Vec<String> {
    let warned = overview.worker_effects.iter().filter(|effects| effects.are_significant());
    let texts = warned.map(|effects| match effects.measure {
        Measure::Score => "Scores depend on the worker: no single machine would give these.".to_owned(),
        Measure::Time => {
            let factor = ratio(spread(effects));
            format!(
                "Times are of unlike workers, the slowest {factor} the fastest: only those of the same workers compare."
            )
        }
        Measure::Nodes => {
            let factor = ratio(spread(effects));
            format!(
                "In the same time workers search unlike numbers of nodes, the fastest {factor} the slowest: a time limit \
                 is not the same at each."
            )
        }
    });
    texts.collect()
}

/// Returns the greatest effect over the least, as a factor.
fn spread(measured: &WorkerEffects) -> f64 {
    let effects = measured.between.effects.iter().map(|effect| effect.effect);
    let (least, most) = effects
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), effect| {
            (least.min(effect), most.max(effect))
        });
    (most - least).max(0.0).exp()
}

#[cfg(test)]
pub(crate) mod tests {
    use spelrum_answers::{ExperimentSummary, Machine};
    use spelrum_model::ExperimentState;
    use spelrum_model::{ExperimentId, Task};
    use spelrum_statistics::BetweenWorkers;

    use super::*;
    use crate::document::Part;
    use crate::tables::text;

    pub(crate) fn overview(time_p_value: f64) -> Overview {
        let share = |id: i64, name: &str, host: &str| WorkerShare {
            worker: WorkerId(id),
            name: name.to_owned(),
            host: host.to_owned(),
            slots: 2,
            engine_revision: 2,
            version: "0.1.0".to_owned(),
            machine: Machine::default(),
            games: 100,
            plies: 1_000,
            wall_us: 1e6,
        };
        let effects = |measure, sizes: [f64; 2], deviation, p_value| WorkerEffects {
            measure,
            units: 1_234,
            between: BetweenWorkers {
                deviation,
                within: 0.3,
                p_value,
                effects: (0..2)
                    .map(|worker| WorkerEffect { worker, effect: sizes[worker], error: 0.004 })
                    .collect(),
            },
            workers: vec![WorkerId(1), WorkerId(3)],
        };
        let interval = |value, low, high| Interval { value, low, high };
        Overview {
            experiment: ExperimentSummary {
                experiment: ExperimentId(1),
                uuid: "00000000-0000-4000-8000-000000000000".to_owned(),
                name: "pentago-depth".to_owned(),
                game: "pentago".to_owned(),
                task: Task::Game,
                state: ExperimentState::Finished,
                priority: 0,
                cells: 2,
                games_planned: 5_000,
                games_settled: 5_000,
                games_failed: 0,
                submitted_unix_us: 0,
            },
            axes: Vec::new(),
            workers: vec![
                share(1, "fast", "rack-1"),
                share(2, "fast", "rack-1"),
                share(3, "old", "old"),
            ],
            worker_effects: vec![
                effects(Measure::Score, [-0.0, 0.0], interval(0.0, 0.0, 1.7), 0.6),
                effects(Measure::Time, [-0.35, 0.35], interval(0.49, 0.2, 15.6), time_p_value),
            ],
            cells: Vec::new(),
        }
    }

    #[test]
    fn who_adds_what_is_readable_in_100_columns() {
        let overview = overview(1e-30);
        let parts = vec![Part::Table(table(&overview).unwrap())];
        let mut out = Vec::new();
        text::document(&overview.experiment, parts).write_text(&mut out).unwrap();
        let text = anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn nobody_is_warned_of_chance() {
        assert_eq!(warnings(&overview(0.02)), [""; 0]);
        assert_eq!(warnings(&overview(0.001)).len(), 1);
        let none = Overview { worker_effects: Vec::new(), ..overview(0.02) };
        assert!(table(&none).is_none());
        assert_eq!(serde_json::to_string(&rows(&none)).unwrap(), "[]");
        let rows = serde_json::to_value(rows(&overview(0.02))).unwrap();
        assert_eq!(rows[1]["worker"], "old");
        assert_eq!(rows[2]["measure"], "time");
        assert_eq!(rows.as_array().unwrap().len(), 4);
    }
}
