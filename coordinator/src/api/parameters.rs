//! A call's parameters, from its path, its query string and its body.

use std::fmt;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::Uri;
use axum::http::request::Parts;
use axum::response::Response;
use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use spelrum_answers::Call;
use spelrum_proto::{Reason, Refusal};

use super::problem;

/// The parameters in a call's path, with their names.
pub(super) struct PathParameters(pub(super) Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for PathParameters {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        match RawPathParams::from_request_parts(parts, state).await {
            Ok(path) => {
                let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
                Ok(Self(path.iter().map(owned).collect()))
            }
            // It is not UTF-8.
            Err(rejection) => Err(problem(malformed(rejection.body_text()))),
        }
    }
}

/// Reads a call from the parameters of its path, and either the query string or the body.
///
/// # Errors
/// A refusal that names the parameter that is missing, unknown, given twice, or of the wrong form.
pub(super) fn read<C: Call>(
    path: &[(String, String)],
    uri: &Uri,
    body: &[u8],
) -> Result<C, Refusal> {
    if C::METHOD.has_body() {
        if uri.query().is_some_and(|query| !query.is_empty()) {
            return Err(malformed(
                "this call has no parameters in its query string; they are in its body",
            ));
        }
        from_body(path, body)
    } else if body.is_empty() {
        from_query(path, uri.query().unwrap_or_default())
    } else {
        Err(malformed("this call has no body; its parameters are in its query string"))
    }
}

/// Reads parameters that have no structure.
///
/// # Errors
/// As [`read`].
pub(crate) fn from_query<C: DeserializeOwned>(
    path: &[(String, String)],
    query: &str,
) -> Result<C, Refusal> {
    let mut all = form_urlencoded::Serializer::new(String::new());
    all.extend_pairs(path).extend_pairs(form_urlencoded::parse(query.as_bytes()));
    let all = all.finish();
    let all = serde_urlencoded::Deserializer::new(form_urlencoded::parse(all.as_bytes()));
    serde_path_to_error::deserialize(all)
        .map_err(|error| malformed(format!("the call's parameters cannot be read: {error}")))
}

/// Reads parameters of a JSON object.
///
/// # Errors
/// As [`read`].
pub(super) fn from_body<C: DeserializeOwned>(
    path: &[(String, String)],
    body: &[u8],
) -> Result<C, Refusal> {
    let unreadable = |error: &dyn std::fmt::Display| {
        malformed(format!("the call's body cannot be read: {error}"))
    };
    let Fields(mut fields) = serde_json::from_slice(body).map_err(|error| unreadable(&error))?;
    for (name, value) in path {
        if fields.insert(name.clone(), Value::String(value.clone())).is_some() {
            return Err(malformed(format!("{name} is given in the path and in the body")));
        }
    }
    serde_path_to_error::deserialize(Value::Object(fields)).map_err(|error| unreadable(&error))
}

/// The members of an object, each given once.
struct Fields(Map<String, Value>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if fields.contains_key(&name) {
                return Err(A::Error::custom(format_args!("duplicate field `{name}`")));
            }
            fields.insert(name, map.next_value()?);
        }
        Ok(Fields(fields))
    }
}

fn malformed(problem: impl Into<String>) -> Refusal {
    Refusal::new(Reason::Malformed, problem, "docs/api.md has every call with its parameters")
}

#[cfg(test)]
mod tests {
    use spelrum_answers::{Detail, GetCellGame, GetReport, SteerExperiment};
    use spelrum_model::CellId;

    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn query<C: Call>(path: &[(&str, &str)], query: &str) -> Result<C, String> {
        let uri = format!("/x?{query}").parse().unwrap();
        read(&pairs(path), &uri, b"").map_err(|refusal| refusal.problem)
    }

    fn body<C: Call>(path: &[(&str, &str)], body: &str) -> Result<C, String> {
        let read = read(&pairs(path), &Uri::from_static("/x"), body.as_bytes());
        read.map_err(|refusal| refusal.problem)
    }

    #[test]
    fn parameters_are_read_and_wrong_ones_named() {
        let report = GetReport { experiment: "a b&é".to_owned(), detail: Detail::Depths };
        assert_eq!(query(&[("experiment", "a b&é")], "detail=depths"), Ok(report));
        let game = GetCellGame { cell: CellId(3), number: 5 };
        assert_eq!(query(&[("cell", "3"), ("number", "5")], ""), Ok(game));
        let problems = [
            query::<GetReport>(&[("experiment", "nim")], "detail=everything").unwrap_err(),
            query::<GetReport>(&[("experiment", "nim")], "details=depths").unwrap_err(),
            query::<GetReport>(&[("experiment", "nim")], "experiment=chess").unwrap_err(),
            query::<GetReport>(&[], "").unwrap_err(),
            query::<GetCellGame>(&[("cell", "x"), ("number", "5")], "").unwrap_err(),
            query::<GetCellGame>(&[("cell", "3"), ("number", "-5")], "").unwrap_err(),
            query::<GetCellGame>(&[("cell", "3"), ("number", "99999999999999999999")], "")
                .unwrap_err(),
            body::<SteerExperiment>(&[("experiment", "nim")], "").unwrap_err(),
            body::<SteerExperiment>(&[("experiment", "nim")], "[]").unwrap_err(),
            body::<SteerExperiment>(&[("experiment", "nim")], "{").unwrap_err(),
            body::<SteerExperiment>(&[("experiment", "nim")], "{}").unwrap_err(),
            body::<SteerExperiment>(&[("experiment", "nim")], r#"{"action": 3}"#).unwrap_err(),
            body::<SteerExperiment>(&[("experiment", "nim")], r#"{"action": "stop"}"#).unwrap_err(),
            body::<SteerExperiment>(
                &[("experiment", "nim")],
                r#"{"action": "priority", "priority": 3000000000}"#,
            )
            .unwrap_err(),
            body::<SteerExperiment>(
                &[("experiment", "nim")],
                r#"{"action": "pause", "experiment": "chess"}"#,
            )
            .unwrap_err(),
            body::<SteerExperiment>(&[("experiment", "nim")], r#"{"action": "pause", "why": 1}"#)
                .unwrap_err(),
        ];
        insta::assert_snapshot!(problems.join("\n"));
    }

    #[test]
    fn a_member_given_twice_is_refused() {
        let twice = r#"{"action": "pause", "action": "cancel"}"#;
        let problem = body::<SteerExperiment>(&[("experiment", "nim")], twice).unwrap_err();
        let place = "at line 1 column 28";
        let expected = format!("the call's body cannot be read: duplicate field `action` {place}");
        assert_eq!(problem, expected);
    }
}
