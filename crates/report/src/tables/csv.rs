//! A table for programs and spreadsheets: JSON's contents as rows, with the same names and all digits.

use serde::Serialize;
use spelrum_answers::Ratings;

use super::columns::{Named, fields, flatten};
use super::ratings_json::{GroupRows, groups};
use super::rows::CsvRows;
use super::side_by_side;
use crate::data::CsvField;

/// Returns the cells that two experiments share.
pub(crate) fn pair_rows(pair: &side_by_side::Json<'_>) -> Result<CsvRows, serde_json::Error> {
    rows(pair.experiments[0].experiment, pair.axes, &pair.cells)
}

/// Returns a table of ratings. Each row has its group's number, from 1: groups cannot be compared.
pub(crate) fn rating_rows(
    ratings: &Ratings,
    kind: GroupRows,
) -> Result<CsvRows, serde_json::Error> {
    let (experiment, groups) = (&ratings.experiment.name, groups(ratings));
    let mut all = Vec::new();
    for (group, number) in groups.iter().zip(1_u64..) {
        let rows = group.rows(kind)?;
        for row in rows {
            let mut named = first(experiment);
            named.push(("group".to_owned(), CsvField::Plain(number.to_string())));
            let keys: Vec<_> = row.iter().map(|(key, _)| key.clone()).collect();
            named.extend(group.axes.iter().map(|(axis, value)| {
                (axis_heading(axis, &keys), text_or_unknown(value.map(ToOwned::to_owned)))
            }));
            named.extend(row);
            all.push(named);
        }
    }
    Ok(CsvRows::new(all))
}

/// Returns a row for each of these, with a value on each axis.
pub(crate) fn rows<T: Serialize>(
    experiment: &str,
    axes: &[String],
    objects: &[T],
) -> Result<CsvRows, serde_json::Error> {
    let mut all = Vec::with_capacity(objects.len());
    for row in objects {
        let fields = fields(row)?;
        let keys: Vec<_> = fields.iter().map(|(key, _)| key.clone()).collect();
        let mut named = first(experiment);
        for (key, value) in fields {
            match &*key {
                "axes" => {
                    let values: Vec<Option<String>> = serde_json::from_str(value.get())?;
                    named.extend(
                        axes.iter().zip(values).map(|(axis, value)| {
                            (axis_heading(axis, &keys), text_or_unknown(value))
                        }),
                    );
                }
                "pairs" => {
                    let pairs: Vec<u64> = serde_json::from_str(value.get())?;
                    let field = |(name, pairs): (&&str, u64)| {
                        (format!("pairs_{name}"), CsvField::Plain(pairs.to_string()))
                    };
                    named.extend(["0", "half", "1", "1_half", "2"].iter().zip(pairs).map(field));
                }
                _ => flatten(&key, &value, &mut named)?,
            }
        }
        all.push(named);
    }
    Ok(CsvRows::new(all))
}

fn first(experiment: &str) -> Vec<Named> {
    vec![("experiment".to_owned(), CsvField::Text(experiment.to_owned()))]
}

/// Returns an axis's heading: its name, unless a built-in column has the same name.
fn axis_heading(axis: &str, keys: &[String]) -> String {
    let is_taken = axis == "experiment" || axis == "group" || keys.iter().any(|key| key == axis);
    if is_taken { format!("axis.{axis}") } else { axis.to_owned() }
}

fn text_or_unknown(text: Option<String>) -> CsvField {
    text.map_or(CsvField::Unknown, CsvField::Text)
}
