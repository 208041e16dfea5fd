//! Refusals as problem details (RFC 9457), as the API answers them.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tonic::Status;

use crate::{Place, Reason, Refusal};

/// The content type of a problem.
pub const PROBLEM_CONTENT_TYPE: &str = "application/problem+json";

/// What a problem's type begins with; the name of the [`Reason`] follows, in lower case and with hyphens.
const TYPE_PREFIX: &str = "urn:spelrum:problem:";

/// A refusal as the body of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// The kind, such as `urn:spelrum:problem:unknown-experiment`.
    #[serde(rename = "type")]
    kind: String,
    /// The kind in words.
    title: String,
    /// The answer's HTTP status.
    status: u16,
    /// What is wrong.
    detail: String,
    /// What to do about it; may be empty.
    #[serde(default)]
    remedy: String,
    /// After how many milliseconds to try again, if that can help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    /// The place in the sweep's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<Place>,
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let Refusal { reason, problem, remedy, retry_after, place } = refusal;
        let name = reason.name().to_ascii_lowercase();
        Self {
            kind: format!("{TYPE_PREFIX}{}", name.replace('_', "-")),
            title: name.replace('_', " "),
            status: reason.http_status(),
            detail: problem,
            remedy,
            retry_after_ms: retry_after
                .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
            place,
        }
    }
}

impl Problem {
    /// Whether the coordinator does not know the call.
    #[must_use]
    pub fn is_unknown_call(&self) -> bool {
        self.kind.strip_prefix(TYPE_PREFIX) == Some("unknown-call")
    }

    /// The refusal; `None` for a kind that this version does not know.
    #[must_use]
    pub fn refusal(self) -> Option<Refusal> {
        let name = self.kind.strip_prefix(TYPE_PREFIX)?.replace('-', "_").to_ascii_uppercase();
        Some(Refusal {
            reason: Reason::named(&name)?,
            problem: self.detail,
            remedy: self.remedy,
            retry_after: self.retry_after_ms.map(Duration::from_millis),
            place: self.place,
        })
    }
}

impl From<Problem> for Status {
    /// With the refusal, or of a kind that this version does not know with its words alone.
    fn from(problem: Problem) -> Self {
        match problem.clone().refusal() {
            Some(refusal) => refusal.into(),
            None if problem.remedy.is_empty() => Self::unknown(problem.detail),
            None => Self::unknown(format!("{}; {}", problem.detail, problem.remedy)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_read_back_from_its_problem() {
        for reason in Reason::ALL {
            let refusal = Refusal {
                retry_after: Some(Duration::from_millis(250)),
                place: Some(Place { line: Some(3), offset: 17, length: 4 }),
                ..Refusal::new(reason, "the cat sat on the cable", "move the cat")
            };
            let text = serde_json::to_string(&Problem::from(refusal.clone())).unwrap();
            let problem: Problem = serde_json::from_str(&text).unwrap();
            assert!((400..=599).contains(&problem.status), "{text}");
            assert_eq!(problem.refusal(), Some(refusal));
        }
        let foreign = r#"{"type":"about:blank","title":"","status":404,"detail":"no"}"#;
        assert_eq!(serde_json::from_str::<Problem>(foreign).unwrap().refusal(), None);
    }

    #[test]
    fn problems_are_written_as_documented() {
        let refusal = Refusal::new(
            Reason::UnknownExperiment,
            "there is no experiment \"nim\"",
            "list them: spelrum list",
        );
        let text = serde_json::to_string_pretty(&Problem::from(refusal)).unwrap();
        insta::assert_snapshot!(text, @r#"
        {
          "type": "urn:spelrum:problem:unknown-experiment",
          "title": "unknown experiment",
          "status": 404,
          "detail": "there is no experiment \"nim\"",
          "remedy": "list them: spelrum list"
        }
        "#);
    }
}
