//! Values of a query's result, as stored in a database.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value in a query's result.
///
/// In JSON it is null, a number or a text; a number with a fraction or an exponent is a real. A blob is an object
/// `{"blob": "00ff"}` of hexadecimal digits, and a real that JSON lacks is `{"real": "inf"}`, `"-inf"` or `"nan"`.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlValue {
    /// NULL.
    Null,
    /// An integer.
    Integer(i64),
    /// A real.
    Real(f64),
    /// A text.
    Text(String),
    /// A blob.
    Blob(Vec<u8>),
}

impl Serialize for SqlValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Integer(integer) => serializer.serialize_i64(*integer),
            Self::Real(real) if real.is_finite() => serializer.serialize_f64(*real),
            Self::Real(real) => {
                let text = match real {
                    _ if real.is_nan() => "nan",
                    _ if *real > 0.0 => "inf",
                    _ => "-inf",
                };
                serialize_pair(serializer, "real", text)
            }
            Self::Text(text) => serializer.serialize_str(text),
            Self::Blob(bytes) => serialize_pair(serializer, "blob", &hexadecimal(bytes)),
        }
    }
}

impl JsonSchema for SqlValue {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("SqlValue")
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A value in a query's result. A blob is an object of hexadecimal digits; a real is an object \
                            if JSON lacks its value.",
            "anyOf": [
                { "type": ["null", "number", "string"] },
                {
                    "type": "object",
                    "required": ["blob"],
                    "properties": { "blob": { "type": "string", "pattern": "^([0-9a-f]{2})*$" } },
                    "additionalProperties": false,
                },
                {
                    "type": "object",
                    "required": ["real"],
                    "properties": { "real": { "enum": ["inf", "-inf", "nan"] } },
                    "additionalProperties": false,
                },
            ],
        })
    }
}

fn serialize_pair<S: Serializer>(serializer: S, key: &str, value: &str) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(key, value)?;
    map.end()
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).flatten().collect()
}

fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?)).collect()
}

impl<'de> Deserialize<'de> for SqlValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = SqlValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, a number, a text, a blob or a special real")
    }

    fn visit_unit<E: de::Error>(self) -> Result<SqlValue, E> {
        Ok(SqlValue::Null)
    }

    fn visit_i64<E: de::Error>(self, integer: i64) -> Result<SqlValue, E> {
        Ok(SqlValue::Integer(integer))
    }

    fn visit_u64<E: de::Error>(self, integer: u64) -> Result<SqlValue, E> {
        let is_large = || E::invalid_value(de::Unexpected::Unsigned(integer), &"a 64-bit integer");
        i64::try_from(integer).map(SqlValue::Integer).map_err(|_| is_large())
    }

    fn visit_f64<E: de::Error>(self, real: f64) -> Result<SqlValue, E> {
        Ok(SqlValue::Real(real))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<SqlValue, E> {
        Ok(SqlValue::Text(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<SqlValue, E> {
        Ok(SqlValue::Text(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SqlValue, A::Error> {
        let wrong = |problem| Err(de::Error::custom(problem));
        let Some((key, text)) = map.next_entry::<String, String>()? else {
            return wrong("an object of a value has one key");
        };
        if map.next_key::<de::IgnoredAny>()?.is_some() {
            return wrong("an object of a value has one key");
        }
        match (&*key, &*text) {
            ("blob", digits) => match bytes_of(digits) {
                Some(bytes) => Ok(SqlValue::Blob(bytes)),
                None => wrong("a blob is pairs of hexadecimal digits"),
            },
            ("real", "inf") => Ok(SqlValue::Real(f64::INFINITY)),
            ("real", "-inf") => Ok(SqlValue::Real(f64::NEG_INFINITY)),
            ("real", "nan") => Ok(SqlValue::Real(f64::NAN)),
            (_, _) => wrong("a value is an unknown object"),
        }
    }
}
