//! A table for programs and spreadsheets: JSON's contents as rows, with the same names and all digits.

use std::collections::BTreeMap;

use serde::Serialize;
use spelrum_answers::Ratings;

use super::columns::{Columns, Named, fields, flatten};
use super::ratings_json::{GroupRows, groups};
use super::side_by_side;
use crate::data::CsvField;
use crate::document::chosen_columns;

/// Headings, and rows with a field for each.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) headings: Vec<String>,
    pub(crate) rows: Vec<Vec<CsvField>>,
}

impl Rows {
    /// Keeps these columns, in this order.
    ///
    /// # Errors
    /// If one is missing; the error lists the available headings.
    pub(crate) fn choose_columns(&mut self, names: &[String]) -> Result<(), Vec<String>> {
        let headings: Vec<&str> = self.headings.iter().map(String::as_str).collect();
        if !names
            .iter()
            .all(|name| headings.iter().any(|heading| heading.eq_ignore_ascii_case(name)))
        {
            return Err(std::mem::take(&mut self.headings));
        }
        let chosen = chosen_columns(names, &headings);
        for row in &mut self.rows {
            *row = chosen.iter().filter_map(|&column| row.get(column).cloned()).collect();
        }
        self.headings = chosen.iter().map(|&column| self.headings[column].clone()).collect();
        Ok(())
    }
}

/// Returns the cells that two experiments share.
pub(crate) fn pair_rows(pair: &side_by_side::Json<'_>) -> Result<Rows, serde_json::Error> {
    rows(pair.experiments[0].experiment, pair.axes, &pair.cells)
}

/// Returns a table of ratings. Each row has its group's number, from 1: groups cannot be compared.
pub(crate) fn rating_rows(ratings: &Ratings, kind: GroupRows) -> Result<Rows, serde_json::Error> {
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
    Ok(aligned(all))
}

/// Returns a row for each of these, with a value on each axis.
pub(crate) fn rows<T: Serialize>(
    experiment: &str,
    axes: &[String],
    objects: &[T],
) -> Result<Rows, serde_json::Error> {
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
    Ok(aligned(all))
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

/// Aligns all rows under the same headings: the union of the rows' headings, in their order.
fn aligned(rows: Vec<Vec<Named>>) -> Rows {
    // A value that is an object in one row and null in another has the columns of the object.
    let longest = rows.iter().max_by_key(|row| row.len());
    let keys = |row: &Columns| row.iter().map(|(key, _)| key.clone()).collect();
    let headings: Vec<String> = longest.map_or_else(|| vec!["experiment".to_owned()], keys);
    let rows = rows.into_iter().map(|row| {
        let mut fields: BTreeMap<String, CsvField> = row.into_iter().collect();
        headings.iter().map(|heading| fields.remove(heading).unwrap_or_default()).collect()
    });
    Rows { rows: rows.collect(), headings }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::tables::columns::columns;

    #[derive(Serialize)]
    struct Test {
        elo0: f64,
        llr: f64,
    }

    #[derive(Serialize)]
    struct Row {
        axes: Vec<Option<String>>,
        player: &'static str,
        score: Option<f64>,
        sprt: Option<Test>,
        pairs: [u64; 5],
        timed: bool,
    }

    fn shown(rows: &Rows) -> String {
        let mut out = Vec::new();
        crate::data::write_csv(&mut out, &rows.headings, &rows.rows).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_row_has_what_its_object_has_in_its_order() {
        let row = |score, sprt| Row {
            axes: vec![Some("2".to_owned()), None],
            player: "ab",
            score,
            sprt,
            pairs: [0, 1, 2, 3, 4],
            timed: false,
        };
        let axes = ["depth".to_owned(), "score".to_owned()];
        let test = Test { elo0: -0.5, llr: 0.1 + 0.2 };
        let objects = [row(None, None), row(Some(1.0 / 3.0), Some(test))];
        assert_eq!(
            shown(&rows("=x,y", &axes, &objects).unwrap()),
            "experiment,depth,axis.score,player,score,sprt_elo0,sprt_llr,\
             pairs_0,pairs_half,pairs_1,pairs_1_half,pairs_2,timed\r\n\
             \"'=x,y\",2,,ab,,,,0,1,2,3,4,false\r\n\
             \"'=x,y\",2,,ab,0.3333333333333333,-0.5,0.30000000000000004,0,1,2,3,4,false\r\n"
        );
        // No name is lost or new.
        let Value::Object(json) = serde_json::to_value(row(Some(0.5), None)).unwrap() else {
            panic!("a row is an object");
        };
        let named = columns(&row(Some(0.5), None)).unwrap();
        assert_eq!(named.len(), json.len());
        assert!(named.iter().all(|(name, _)| json.contains_key(name)));
    }

    #[test]
    fn no_rows_are_no_rows() {
        assert_eq!(shown(&rows::<Row>("x", &[], &[]).unwrap()), "experiment\r\n");
    }
}
