//! Scores as curves along an axis, and where they cross one half.

use std::collections::BTreeSet;

use spelrum_answers::{CellCurve, Comparisons};
use spelrum_model::CellId;
use spelrum_statistics::comparisons::{CURVES_MAX, PointOfCurve};
use spelrum_statistics::curves::{CURVE_POINTS_MAX, Crossing};

use super::column::Columns;
use super::entry::{TableEntry, View, parts};
use super::rows::Rows;
use super::value::{Form, Value};
use crate::document::TitledTable;
use crate::text::{count, duration_us};

pub(crate) const CROSSINGS: TableEntry = TableEntry::new(
    "crossings",
    "At which value of an axis two players are even",
    &View::<Comparisons> {
        parts: |compared| parts((!compared.curves.is_empty()).then(|| crossings(compared))),
        rows: crossing_rows,
    },
);

pub(crate) const CURVES: TableEntry = TableEntry::new(
    "curves",
    "Scores as a curve along an axis",
    &View::<Comparisons> {
        parts: |compared| parts((!compared.curves.is_empty()).then(|| curves(compared))),
        rows: curve_rows,
    },
);

/// A point with its curve.
type PointRow<'a> = (&'a CellCurve, &'a PointOfCurve<CellId>);

fn crossing_columns(comparisons: &Comparisons) -> Columns<'_, &CellCurve> {
    let axes = &comparisons.axes;
    let mut columns = Columns::<&CellCurve>::new()
        .key("cell_id", |curve| curve.points.first().map(|point| point.cell.0))
        .key("axes", |curve| Value::places(&curve.place));
    for (index, axis) in axes.iter().enumerate() {
        columns = columns.text(axis, Form::Words, move |curve| curve.place[index].clone());
    }
    columns
        .column("player", "player", Form::Words, |curve| &curve.player)
        .column("opponent", "opponent", Form::Words, |curve| &curve.opponent)
        .column("along", "along", Form::Words, |curve| &axes[curve.axis])
        .key("even_at", |curve| curve.crossing.at)
        .key("even_between", |curve| {
            Value::list(curve.crossing.between.iter().map(|&ends| Value::list(ends)))
        })
        .key("may_be_below", |curve| curve.crossing.is_open_below)
        .key("may_be_above", |curve| curve.crossing.is_open_above)
        .text("even at", Form::Words, |curve| {
            curve.crossing.at.map(|at| value_text(at, is_time(curve)))
        })
        .text("95%", Form::Words, |curve| set_text(&curve.crossing, curve))
}

pub(crate) fn crossing_rows(comparisons: &Comparisons) -> Rows<'_> {
    let curves = comparisons.curves.iter().collect();
    Rows::new(&comparisons.axes, crossing_columns(comparisons), curves)
}

fn crossings(comparisons: &Comparisons) -> TitledTable {
    let (columns, rows) = (crossing_columns(comparisons), &comparisons.curves);
    let table = columns.table(CROSSINGS.name, "Where they are even", rows);
    let mut notes = vec![
        "Even at: where the curve of the player's score crosses one half. 95%: where the curve's band holds\n\
         one half; nothing is known below the first value and beyond the last."
            .to_owned(),
    ];
    if comparisons.curves.iter().any(|curve| curve.is_monotone) {
        notes.push(format!(
            "Only rises or only falls, by `monotone`: along {}.",
            monotone(comparisons)
        ));
    }
    if comparisons.curves.iter().any(|curve| curve.is_cut) {
        let most = CURVE_POINTS_MAX;
        notes.push(format!("Of axes with more values, curves use the first {most}."));
    }
    if comparisons.curves_truncated {
        notes.push(format!("There are more than these {}.", count(CURVES_MAX as u64)));
    }
    table.with_notes(notes)
}

/// The axes along which curves only rise or only fall.
fn monotone(comparisons: &Comparisons) -> String {
    let curves = comparisons.curves.iter().filter(|curve| curve.is_monotone);
    let axes: BTreeSet<&str> = curves.map(|curve| &*comparisons.axes[curve.axis]).collect();
    axes.into_iter().collect::<Vec<_>>().join(", ")
}

fn curve_columns(comparisons: &Comparisons) -> Columns<'_, PointRow<'_>> {
    let axes = &comparisons.axes;
    let mut columns = Columns::<PointRow<'_>>::new()
        .key("cell_id", |(_, point)| point.cell.0)
        .key("axes", |(curve, _)| Value::places(&curve.place));
    for (index, axis) in axes.iter().enumerate() {
        columns = columns.text(axis, Form::Words, move |(curve, point)| {
            if curve.axis == index { Some(point.value.clone()) } else { curve.place[index].clone() }
        });
    }
    columns
        .column("player", "player", Form::Words, |(curve, _)| &curve.player)
        .column("opponent", "opponent", Form::Words, |(curve, _)| &curve.opponent)
        .keys(["along", "value"], |(curve, point)| [&axes[curve.axis], &point.value])
        .column("score", "score", Form::Decimals(3), |(_, point)| point.score)
        .column("fitted", "fitted", Form::Decimals(3), |(_, point)| point.fitted.value)
        .keys(["fitted_low", "fitted_high"], |(_, point)| [point.fitted.low, point.fitted.high])
        .text("95% band", Form::Words, |(_, point)| {
            format!("{:.3}–{:.3}", point.fitted.low, point.fitted.high)
        })
}

fn point_rows(comparisons: &Comparisons) -> Vec<PointRow<'_>> {
    let points = |curve| move |point| (curve, point);
    comparisons.curves.iter().flat_map(|curve| curve.points.iter().map(points(curve))).collect()
}

pub(crate) fn curve_rows(comparisons: &Comparisons) -> Rows<'_> {
    Rows::new(&comparisons.axes, curve_columns(comparisons), point_rows(comparisons))
}

fn curves(comparisons: &Comparisons) -> TitledTable {
    let table = curve_columns(comparisons).table(
        CURVES.name,
        "Scores along each axis",
        point_rows(comparisons),
    );
    table.with_notes(vec![
        "Fitted: the score by a smooth curve through all cells of the axis, which pools those near each\n\
         other as far as they agree, with its band at this value."
            .to_owned(),
    ])
}

/// Whether the axis is one of times.
pub(crate) fn is_time(curve: &CellCurve) -> bool {
    curve.points.iter().any(|point| point.value.parse::<f64>().is_err())
}

/// A value between those of the axis, to three digits.
fn value_text(number: f64, is_time: bool) -> String {
    if is_time {
        return duration_us(number * 1e3);
    }
    if number.abs() >= 100.0 {
        let unit = 10_f64.powf((number.abs().log10().floor() - 2.0).max(0.0));
        return count(((number / unit).round() * unit).max(0.0) as u64);
    }
    format!("{number:.2}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The values at which the players may be even, in words.
fn set_text(crossing: &Crossing, curve: &CellCurve) -> String {
    let is_time = is_time(curve);
    let value = |at: f64| value_text(at, is_time);
    let [Some(first), Some(last)] =
        [curve.points.first(), curve.points.last()].map(|point| point.map(|point| point.number))
    else {
        return String::new();
    };
    if crossing.between.is_empty() {
        return format!("not from {} to {}", value(first), value(last));
    }
    let sets = crossing.between.len();
    let set = |(index, [from, to]): (usize, &[f64; 2])| {
        let is_open_below = index == 0 && crossing.is_open_below;
        let is_open_above = index + 1 == sets && crossing.is_open_above;
        match (is_open_below, is_open_above) {
            (true, true) => "anywhere".to_owned(),
            (true, false) => format!("below {}", value(*to)),
            (false, true) => format!("beyond {}", value(*from)),
            (false, false) => format!("{} to {}", value(*from), value(*to)),
        }
    };
    crossing.between.iter().enumerate().map(set).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A curve along the first of two axes.
    pub(crate) fn curve() -> CellCurve {
        with(&[("1", 1.0), ("2", 2.0), ("3", 3.0), ("4", 4.0)], &[[2.25, 3.125]], false, false)
    }

    fn with(
        values: &[(&str, f64)],
        between: &[[f64; 2]],
        is_open_below: bool,
        is_open_above: bool,
    ) -> CellCurve {
        let fitted = spelrum_statistics::Interval { value: 0.52, low: 0.45, high: 0.59 };
        let point = |(cell, &(value, number)): (i64, &(&str, f64))| PointOfCurve {
            cell: CellId(cell),
            value: value.to_owned(),
            number,
            score: 0.5,
            fitted,
        };
        CellCurve {
            axis: 0,
            place: vec![None, Some("5ms".to_owned())],
            player: "alphabeta".to_owned(),
            opponent: "genetic".to_owned(),
            points: (1..).zip(values).map(point).collect(),
            is_cut: false,
            is_monotone: false,
            drawn: values.iter().map(|&(_, number)| (number, fitted)).collect(),
            crossing: Crossing {
                at: between.first().map(|[from, to]| (from + to) / 2.0),
                between: between.into(),
                is_open_below,
                is_open_above,
            },
        }
    }

    #[test]
    fn sets_are_said_in_words() {
        let words = |between: &[[f64; 2]], is_open_below, is_open_above| {
            let curve = with(
                &[("125", 125.0), ("256000", 256_000.0)],
                between,
                is_open_below,
                is_open_above,
            );
            set_text(&curve.crossing, &curve)
        };
        assert_eq!(words(&[], false, false), "not from 125 to 256,000");
        assert_eq!(words(&[[7_444.0, 18_321.0]], false, false), "7,440 to 18,300");
        assert_eq!(words(&[[125.0, 18_321.0]], true, false), "below 18,300");
        assert_eq!(words(&[[125.0, 256_000.0]], true, true), "anywhere");
        assert_eq!(
            words(&[[125.0, 300.0], [90_000.0, 256_000.0]], true, true),
            "below 300 or beyond 90,000"
        );
        let times = with(&[("200us", 0.2), ("1ms", 1.0)], &[[0.4, 0.6]], false, false);
        assert_eq!(set_text(&times.crossing, &times), "400 µs to 600 µs");
        assert_eq!(value_text(2.5, false), "2.5");
    }
}
