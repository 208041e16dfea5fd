//! Rows of a table for programs: JSON, and CSV with the same names and all digits.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::column::Columns;
use super::value::{Value, serialize_object};
use crate::data::CsvField;
use crate::document::chosen_columns;

/// The rows of a table. Keys are only ever added.
pub(crate) struct Rows<'a> {
    /// The names of the axes on which rows have places.
    axes: Vec<&'a str>,
    keys: Vec<&'static str>,
    length: usize,
    values: Box<dyn Fn(usize) -> Vec<Value<'a>> + 'a>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new<R: Copy + 'a>(
        axes: impl IntoIterator<Item = &'a (impl AsRef<str> + ?Sized + 'a)>,
        columns: Columns<'a, R>,
        rows: Vec<R>,
    ) -> Self {
        Self {
            axes: axes.into_iter().map(AsRef::as_ref).collect(),
            keys: columns.programs_keys(),
            length: rows.len(),
            values: Box::new(move |row| columns.values(rows[row])),
        }
    }

    /// Rows that have no places on axes.
    pub(crate) fn without_places<R: Copy + 'a>(columns: Columns<'a, R>, rows: Vec<R>) -> Self {
        Self::new([""; 0], columns, rows)
    }

    /// Returns a row's values by their keys.
    fn object(&self, row: usize) -> Vec<(&'static str, Value<'a>)> {
        self.keys.iter().copied().zip((self.values)(row)).collect()
    }

    /// Returns the rows as fields, each headed by the experiment's name.
    pub(crate) fn csv(&self, experiment: &str) -> CsvRows {
        let rows = (0..self.length).map(|row| {
            let experiment = CsvField::Text(experiment.to_owned());
            let mut fields = vec![("experiment".to_owned(), experiment)];
            for (key, value) in self.object(row) {
                if let Value::Places(places) = value {
                    let text =
                        |place: Option<&str>| place.map(|place| CsvField::Text(place.to_owned()));
                    fields.extend(self.axes.iter().zip(places).map(|(axis, place)| {
                        (self.axis_heading(axis), text(place).unwrap_or_default())
                    }));
                } else {
                    flatten(key.to_owned(), value, &mut fields);
                }
            }
            fields
        });
        CsvRows::new(rows.collect())
    }

    /// Returns an axis's heading: its name, unless a built-in column has the same name.
    fn axis_heading(&self, axis: &str) -> String {
        let is_taken = ["experiment", "group"].contains(&axis) || self.keys.contains(&axis);
        if is_taken { format!("axis.{axis}") } else { axis.to_owned() }
    }
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Row<'a>(Vec<(&'static str, Value<'a>)>);
        impl Serialize for Row<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serialize_object(&self.0, serializer)
            }
        }
        serializer.collect_seq((0..self.length).map(|row| Row(self.object(row))))
    }
}

/// Adds a value as a field, or an object as a field for each of its keys.
fn flatten(key: String, value: Value<'_>, fields: &mut Vec<(String, CsvField)>) {
    let field = match value {
        Value::Absent => return,
        Value::Object(object) => {
            for (inner_key, value) in object {
                flatten(format!("{key}_{inner_key}"), value, fields);
            }
            return;
        }
        Value::Pairs(pairs) => {
            let names = ["0", "half", "1", "1_half", "2"];
            fields.extend(names.iter().zip(pairs).map(|(name, pairs)| {
                (format!("{key}_{name}"), CsvField::Plain(pairs.to_string()))
            }));
            return;
        }
        Value::Null => CsvField::Unknown,
        Value::Text(text) => CsvField::Text(text.into_owned()),
        // Values have no keys that JSON cannot hold.
        Value::List(_) | Value::Places(_) => {
            CsvField::Text(serde_json::to_string(&value).unwrap_or_default())
        }
        Value::Bool(_) | Value::Count(_) | Value::Id(_) | Value::Real(_) => {
            CsvField::Plain(serde_json::to_string(&value).unwrap_or_default())
        }
    };
    fields.push((key, field));
}

/// Headings, and rows with a field for each.
#[derive(Debug, Default)]
pub(crate) struct CsvRows {
    pub(crate) headings: Vec<String>,
    pub(crate) rows: Vec<Vec<CsvField>>,
}

impl CsvRows {
    /// Aligns rows under the headings of the longest of them.
    pub(super) fn new(rows: Vec<Vec<(String, CsvField)>>) -> Self {
        // A value that is an object in one row and null in another has the columns of the object.
        let longest = rows.iter().max_by_key(|row| row.len());
        let keys = |row: &Vec<(String, CsvField)>| row.iter().map(|(key, _)| key.clone()).collect();
        let headings: Vec<String> = longest.map_or_else(|| vec!["experiment".to_owned()], keys);
        let rows = rows.into_iter().map(|row| {
            let mut fields: BTreeMap<String, CsvField> = row.into_iter().collect();
            headings.iter().map(|heading| fields.remove(heading).unwrap_or_default()).collect()
        });
        Self { rows: rows.collect(), headings }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(rows: &CsvRows) -> String {
        let mut out = Vec::new();
        crate::data::write_csv(&mut out, &rows.headings, &rows.rows).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_row_has_what_its_columns_have_in_their_order() {
        let axes = ["depth", "score"].map(str::to_owned);
        let columns = Columns::<Option<f64>>::new()
            .key("axes", |_| Value::Places(vec![Some("2"), None]))
            .key("player", |_| "ab")
            .key("score", |score| score)
            .key("sprt", |score| {
                score.map(|_| [("elo0", Value::from(-0.5)), ("llr", Value::from(0.1 + 0.2))])
            })
            .key("margin", |_| Value::Absent)
            .key("pairs", |_| Value::Pairs([0, 1, 2, 3, 4]))
            .key("timed", |_| false);
        let rows = Rows::new(&axes, columns, vec![None, Some(1.0 / 3.0)]);
        assert_eq!(
            shown(&rows.csv("=x,y")),
            "experiment,depth,axis.score,player,score,sprt_elo0,sprt_llr,\
             pairs_0,pairs_half,pairs_1,pairs_1_half,pairs_2,timed\r\n\
             \"'=x,y\",2,,ab,,,,0,1,2,3,4,false\r\n\
             \"'=x,y\",2,,ab,0.3333333333333333,-0.5,0.30000000000000004,0,1,2,3,4,false\r\n"
        );
        assert_eq!(
            serde_json::to_string(&rows).unwrap(),
            r#"[{"axes":["2",null],"player":"ab","score":null,"sprt":null,"pairs":[0,1,2,3,4],"timed":false},"#
                .to_owned()
                + r#"{"axes":["2",null],"player":"ab","score":0.3333333333333333,"#
                + r#""sprt":{"elo0":-0.5,"llr":0.30000000000000004},"pairs":[0,1,2,3,4],"timed":false}]"#
        );
    }

    #[test]
    fn no_rows_are_no_rows() {
        let columns = Columns::<u64>::new().key("games", |games| games);
        assert_eq!(shown(&Rows::without_places(columns, Vec::new()).csv("x")), "experiment\r\n");
    }
}
