//! Evolution runs: each generation, the descent of the best individual, and the diagram of both.

use spelrum_answers::{ELITE, FAMILY_MAX, Relative, Report, RunResult};
use spelrum_model::course::Generation;

use super::axes::{grid_axes, run_places};
use super::column::Columns;
use super::entry::{TableEntry, View, parts};
use super::rows::Rows;
use super::value::{Form, Value};
use crate::document::TitledTable;
use crate::plot::{Axis, Chart, Curves, Estimate, Figure, Panel, Point};
use crate::text::{Column, count};

pub(crate) const GENERATIONS: TableEntry = TableEntry::new(
    "evolution",
    "Fitness by generation, where formulas were bred",
    &View { parts: |report| parts(table(report)), rows: generation_rows },
)
.shown_with_runs()
.in_json("generations");

pub(crate) const FAMILY: TableEntry = TableEntry::new(
    "family",
    "The best that were bred, and their ancestors",
    &View { parts: |report| parts(family(report)), rows: family_rows },
)
.in_json("families");

/// Maximum number of generations in a table for people.
const GENERATIONS_SHOWN: usize = 11;
/// Maximum number of relatives of each run in a table for people.
const RELATIVES_SHOWN: usize = 16;
/// Maximum number of adjacent plots.
const PANELS_MAX: usize = 12;

/// Returns all generations of all runs.
pub(crate) fn generation_rows(report: &Report) -> Rows<'_> {
    type Row<'a> = (&'a RunResult, u64, &'a Generation);
    let axes = grid_axes(report);
    let rows = evolved(report).flat_map(|(run, _, evolution)| {
        (0..).zip(&evolution.generations).map(move |(number, generation)| (run, number, generation))
    });
    let columns = Columns::<Row<'_>>::new()
        .key("run", |(run, ..)| run.run)
        .key("axes", move |(run, ..)| Value::Places(run_places(run, &axes)))
        .key("generation", |(_, number, _)| number)
        .key("individuals", |(.., generation)| generation.individuals)
        .key("measured", |(.., generation)| generation.measured)
        .key("best_individual", |(.., generation)| generation.best_individual)
        .key("best", |(.., generation)| generation.best)
        .key("mean", |(.., generation)| generation.mean)
        .key("least", |(.., generation)| generation.least)
        .key("sd", |(.., generation)| generation.sd)
        .key("distinct", |(.., generation)| generation.distinct)
        .key("mean_size", |(.., generation)| generation.mean_size)
        .key("mean_depth", |(.., generation)| generation.mean_depth);
    Rows::new(grid_axes(report), columns, rows.collect())
}

/// A run, and an individual of the family of its best.
type Kin<'a> = (&'a RunResult, &'a Relative);

fn family_columns(report: &Report) -> Columns<'_, Kin<'_>> {
    let axes = grid_axes(report);
    Columns::<Kin<'_>>::new()
        .column("run", "run", Form::Count, |(run, _)| run.run)
        .key("axes", move |(run, _)| Value::Places(run_places(run, &axes)))
        .column("generation", "generation", Form::Count, |(_, kin)| kin.generation)
        .column("individual", "individual", Form::Count, |(_, kin)| kin.index)
        .column("operator", "operator", Form::Words, |(_, kin)| &kin.individual.operator)
        .column("parents", "parents", Form::Words, |(_, kin)| {
            Value::list(kin.individual.parents.iter().copied())
        })
        .shown_as(|(_, kin)| {
            let parents: Vec<String> =
                kin.individual.parents.iter().map(|parent| count(*parent)).collect();
            or_dash((!parents.is_empty()).then(|| parents.join(", ")))
        })
        .column("fitness", "fitness", Form::Digits, |(_, kin)| kin.fitness)
        .shown_as(|(_, kin)| fitness_text(kin.fitness))
        .key("size", |(_, kin)| kin.individual.size)
        .key("depth", |(_, kin)| kin.individual.depth)
        .key("formula", |(_, kin)| &kin.individual.formula)
        .column("simplified", "simplified", Form::Words, |(_, kin)| &kin.individual.simplified)
}

/// Returns the families of the best individuals of all runs.
pub(crate) fn family_rows(report: &Report) -> Rows<'_> {
    let rows = evolved(report)
        .flat_map(|(run, _, evolution)| evolution.family.iter().map(move |kin| (run, kin)));
    Rows::new(grid_axes(report), family_columns(report), rows.collect())
}

type Evolved<'a> = (&'a RunResult, Vec<Option<&'a str>>, &'a spelrum_answers::Evolution);

fn evolved(report: &Report) -> impl Iterator<Item = Evolved<'_>> {
    let axes = grid_axes(report);
    report
        .runs
        .iter()
        .filter_map(move |run| Some((run, run_places(run, &axes), run.evolution.as_ref()?)))
}

/// Runs that differ only by chance, with their place on the axes.
struct Group<'a> {
    place: Vec<Option<&'a str>>,
    opponents: &'a [String],
    runs: Vec<&'a [Generation]>,
}

/// A figure of several runs: its mean, minimum and maximum.
#[derive(Clone, Copy)]
struct Spread {
    mean: f64,
    ends: [f64; 2],
}

impl Group<'_> {
    fn length(&self) -> usize {
        self.runs.iter().map(|run| run.len()).max().unwrap_or(0)
    }

    fn spread(
        &self,
        generation: usize,
        figure: impl Fn(&Generation) -> Option<f64>,
    ) -> Option<Spread> {
        let all: Vec<f64> =
            self.runs.iter().filter_map(|run| figure(run.get(generation)?)).collect();
        let least = all.iter().copied().reduce(f64::min)?;
        let most = all.iter().copied().reduce(f64::max)?;
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        Some(Spread { mean, ends: [least, most] })
    }

    fn heading(&self, axes: &[&str]) -> String {
        let places = axes.iter().zip(&self.place);
        let places: Vec<String> =
            places.filter_map(|(axis, value)| Some(format!("{axis} {}", (*value)?))).collect();
        match places.is_empty() {
            true => format!("against {}", self.opponents.join(", ")),
            false => places.join(", "),
        }
    }
}

fn groups(report: &Report) -> Vec<Group<'_>> {
    let mut groups = Vec::<Group<'_>>::new();
    for (run, place, evolution) in evolved(report) {
        let opponents = run.begun.opponents.as_slice();
        let same =
            groups.iter_mut().find(|group| group.place == place && group.opponents == opponents);
        match same {
            Some(group) => group.runs.push(&evolution.generations),
            None => groups.push(Group { place, opponents, runs: vec![&evolution.generations] }),
        }
    }
    groups
}

/// Returns the best of the latest generation of each run, for people, in a table with this name.
pub(crate) fn best(report: &Report, name: &'static str) -> TitledTable {
    let axes = grid_axes(report);
    let mut columns = vec![Column::numbers("run")];
    columns.extend(axes.iter().map(|axis| Column::words(*axis)));
    columns.extend([
        Column::words("player"),
        Column::words("against"),
        Column::numbers("generations"),
        Column::numbers("fitness"),
        Column::words("formula, simplified"),
    ]);
    let mut table = TitledTable::new(name, "The best of the latest generation", columns);
    for (run, place, evolution) in evolved(report) {
        let RunResult { begun, steps, ended, .. } = run;
        let best = evolution.family.first();
        let mut row = vec![count(run.run)];
        row.extend(place.iter().map(|value| value.unwrap_or("–").to_owned()));
        row.extend([
            begun.player.clone(),
            begun.opponents.join(", "),
            if *ended { count(*steps) } else { format!("{}…", count(*steps)) },
            fitness_text(best.and_then(|relative| relative.fitness)),
            or_dash(best.map(|relative| relative.individual.simplified.clone())),
        ]);
        table.row(row);
    }
    table
}

/// Returns the generations for people: a selection, over all runs that differ only by chance.
fn table(report: &Report) -> Option<TitledTable> {
    let axes = grid_axes(report);
    let groups = groups(report);
    groups.iter().find(|group| group.length() > 0)?;
    let mut columns: Vec<Column> = axes.iter().map(|axis| Column::words(*axis)).collect();
    columns.extend([
        Column::numbers("generation"),
        Column::numbers("best"),
        Column::numbers("mean"),
        Column::numbers("least"),
        Column::numbers("sd"),
        Column::numbers("distinct"),
        Column::numbers("size"),
    ]);
    let mut table = TitledTable::new(GENERATIONS.name, "Fitness by generation", columns);
    for group in &groups {
        let all = group.length();
        let shown = all.min(GENERATIONS_SHOWN);
        let at = |place: usize| if shown > 1 { place * (all - 1) / (shown - 1) } else { 0 };
        for generation in (0..shown).map(at) {
            let figure = |quantity: fn(&Generation) -> Option<f64>| {
                or_dash(
                    group
                        .spread(generation, quantity)
                        .map(|spread| spread_text(spread, group.runs.len())),
                )
            };
            let mut row: Vec<String> =
                group.place.iter().map(|value| value.unwrap_or("–").to_owned()).collect();
            row.extend([
                count(generation as u64),
                figure(|summary| summary.best),
                figure(|summary| summary.mean),
                figure(|summary| summary.least),
                figure(|summary| summary.sd),
                figure(|summary| Some(summary.distinct as f64)),
                figure(|summary| Some(summary.mean_size)),
            ]);
            table.row(row);
        }
    }
    let mut notes = Vec::new();
    if groups.iter().any(|group| group.runs.len() > 1) {
        notes.push(
            "Means over runs that differ in nothing but chance; in brackets the least and the greatest of them."
                .to_owned(),
        );
    }
    notes.push(
        "distinct: different formulas, simplified; size: nodes of a formula. Every generation of every run: \
         --format csv."
            .to_owned(),
    );
    Some(table.with_notes(notes))
}

/// Formats the fitness of one individual.
fn fitness_text(fitness: Option<f64>) -> String {
    or_dash(fitness.map(|mean| spread_text(Spread { mean, ends: [mean; 2] }, 1)))
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}

fn spread_text(Spread { mean, ends }: Spread, runs: usize) -> String {
    let number = |value: f64| match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    };
    match runs > 1 {
        true => format!("{} ({}–{})", number(mean), number(ends[0]), number(ends[1])),
        false => number(mean),
    }
}

/// Returns the descent of each run's best individual, for people.
fn family(report: &Report) -> Option<TitledTable> {
    let (mut rows, mut left_out) = (Vec::new(), 0);
    for (run, _, evolution) in evolved(report) {
        // Elite individuals are unchanged.
        let bred = evolution.family.iter().filter(|kin| kin.individual.operator != ELITE);
        let bred: Vec<Kin<'_>> = bred.map(|kin| (run, kin)).collect();
        left_out += bred.len().saturating_sub(RELATIVES_SHOWN) as u64;
        rows.extend(bred.into_iter().take(RELATIVES_SHOWN));
    }
    let is_cut = evolved(report).any(|(_, _, evolution)| evolution.family.len() >= FAMILY_MAX);
    let mut notes = vec![
        "Parents: individuals of the generation before. An elite individual is listed once."
            .to_owned(),
    ];
    if left_out > 0 {
        notes.push(format!(
            "{}{} earlier ancestors are left out: the view individuals has them.",
            if is_cut { "More than " } else { "" },
            count(left_out)
        ));
    }
    let title = "Ancestry of the best individuals";
    (!rows.is_empty())
        .then(|| family_columns(report).table(FAMILY.name, title, rows).with_notes(notes))
}

/// Draws the study's diagram: best, mean and least fitness by generation.
pub(crate) fn figure(report: &Report) -> Option<Figure> {
    type Quantity = fn(&Generation) -> Option<f64>;
    let lines: [(&str, Quantity); 3] = [
        ("best", |summary| summary.best),
        ("mean", |summary| summary.mean),
        ("least", |summary| summary.least),
    ];
    let axes = grid_axes(report);
    let groups = groups(report);
    let shown: Vec<&Group<'_>> = groups.iter().take(PANELS_MAX).collect();
    let length = shown.iter().map(|group| group.length()).max()?;
    let curve = |group: &Group<'_>, quantity: Quantity| -> Vec<Point> {
        let point = |generation: usize| {
            let Spread { mean, ends } = group.spread(generation, quantity)?;
            let interval = (group.runs.len() > 1).then_some(ends);
            Some(Point { at: generation as f64, estimate: Estimate { value: mean, interval } })
        };
        (0..group.length()).filter_map(point).collect()
    };
    let series = |group: &Group<'_>| -> Vec<(String, Vec<Point>)> {
        lines.iter().map(|(name, quantity)| ((*name).to_owned(), curve(group, *quantity))).collect()
    };
    let all: Vec<Vec<(String, Vec<Point>)>> = shown.iter().map(|group| series(group)).collect();
    let values = all.iter().flatten().flat_map(|(_, points)| points).flat_map(|point| {
        let Estimate { value, interval } = point.estimate;
        interval.unwrap_or([value; 2])
    });
    let y = Axis::from_values("fitness", values);
    if all.iter().flatten().all(|(_, points)| points.is_empty()) {
        return None;
    }
    let x = Axis::from_counts("generation", std::iter::once(length.saturating_sub(1) as f64));
    let mut rows = Vec::new();
    for (group, series) in shown.iter().zip(&all) {
        for (name, points) in series {
            for point in points {
                let [least, most] = point.estimate.interval.unwrap_or([point.estimate.value; 2]);
                rows.push(vec![
                    group.heading(&axes),
                    name.clone(),
                    count(point.at as u64),
                    format!("{:.3}", point.estimate.value),
                    format!("{least:.3}"),
                    format!("{most:.3}"),
                ]);
            }
        }
    }
    let panels = shown.iter().zip(all).map(|(group, series)| Panel {
        heading: (shown.len() > 1).then(|| group.heading(&axes)),
        chart: Chart::Curves(Curves {
            x: x.clone(),
            y: y.clone(),
            reference: None,
            series,
            fitted: Vec::new(),
        }),
    });
    let mut notes = Vec::new();
    if shown.iter().any(|group| group.runs.len() > 1) {
        notes.push("Means over runs; whiskers reach from the least to the greatest.".to_owned());
    }
    if groups.len() > PANELS_MAX {
        let left_out = groups.len() - PANELS_MAX;
        notes.push(format!("{left_out} more are left out: the table has them."));
    }
    Some(Figure {
        before: GENERATIONS.name,
        title: "Fitness by generation".to_owned(),
        notes,
        panels: panels.collect(),
        columns: vec![
            Column::words("of"),
            Column::words("line"),
            Column::numbers("generation"),
            Column::numbers("mean of runs"),
            Column::numbers("least"),
            Column::numbers("greatest"),
        ],
        rows,
    })
}
