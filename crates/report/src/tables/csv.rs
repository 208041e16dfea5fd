//! A table for programs and spreadsheets: JSON's contents as rows, with the same names and all digits.

use serde::Serialize;

use super::columns::{Named, fields, flatten};
use super::rows::CsvRows;
use super::side_by_side;
use crate::data::CsvField;

/// Returns the cells that two experiments share.
pub(crate) fn pair_rows(pair: &side_by_side::Json<'_>) -> Result<CsvRows, serde_json::Error> {
    rows(pair.experiments[0].experiment, pair.axes, &pair.cells)
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
