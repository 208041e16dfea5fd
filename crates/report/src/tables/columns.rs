//! Objects as columns: keys in their order, values with the digits of their JSON.

use std::fmt;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::data::CsvField;

/// A column of one row.
pub(crate) type Named = (String, CsvField);

/// The columns of one row.
pub(crate) type Columns = Vec<Named>;

/// Returns an object's keys and values as columns, in its order.
pub(crate) fn columns<T: Serialize>(object: &T) -> Result<Columns, serde_json::Error> {
    let mut named = Vec::new();
    for (key, value) in fields(object)? {
        flatten(&key, &value, &mut named)?;
    }
    Ok(named)
}

/// Adds a value as a column, or an object as a column for each of its keys.
pub(crate) fn flatten(
    key: &str,
    value: &RawValue,
    to: &mut Vec<Named>,
) -> Result<(), serde_json::Error> {
    let json = value.get();
    let field = match json.bytes().next() {
        Some(b'{') => {
            let inner: Fields = serde_json::from_str(json)?;
            for (inner_key, value) in inner.0 {
                flatten(&format!("{key}_{inner_key}"), &value, to)?;
            }
            return Ok(());
        }
        Some(b'n') => CsvField::Unknown,
        Some(b'"') => CsvField::Text(serde_json::from_str(json)?),
        Some(_) | None => CsvField::Plain(json.to_owned()),
    };
    to.push((key.to_owned(), field));
    Ok(())
}

/// Returns an object's keys and values, as serialized.
pub(crate) fn fields<T: Serialize>(
    object: &T,
) -> Result<Vec<(String, Box<RawValue>)>, serde_json::Error> {
    let json = serde_json::to_string(object)?;
    let fields: Fields = serde_json::from_str(&json)?;
    Ok(fields.0)
}

/// An object's keys and values, in their order and as serialized.
struct Fields(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Fields, M::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}
