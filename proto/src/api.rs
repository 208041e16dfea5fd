//! A client of the coordinator's JSON API, on the connection that gRPC has.

use std::fmt::Write as _;

use http::{Request, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};
use spelrum_answers::Call;
use tonic::body::Body;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tower::{Service as _, ServiceExt as _};

use crate::Bearer;
use crate::problem::{PROBLEM_CONTENT_TYPE, Problem};
use crate::v1::programs_client::ProgramsClient;

/// The header in which a coordinator names its version.
pub const VERSION_HEADER: &str = "spelrum-version";

/// The content type of requests and of most answers.
pub const JSON_CONTENT_TYPE: &str = "application/json";

/// Characters that stand for themselves in a path or a query string.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b',');

/// The body of an answer.
pub type AnswerBody = Body;

/// A coordinator's API.
#[derive(Clone, Debug)]
pub struct Api {
    channel: InterceptedService<Channel, Bearer>,
}

impl Api {
    /// A client on this connection, with the coordinator's token, if there is one.
    #[must_use]
    pub fn new(channel: Channel, bearer: Bearer) -> Self {
        Self { channel: InterceptedService::new(channel, bearer) }
    }

    /// A client of the service that takes pushed programs, on the same connection.
    #[must_use]
    pub fn programs(&self) -> ProgramsClient<InterceptedService<Channel, Bearer>> {
        ProgramsClient::new(self.channel.clone())
    }

    /// Makes a call.
    ///
    /// # Errors
    /// A status with the [`Refusal`](crate::Refusal), or without one if the connection failed or the answer is not the coordinator's.
    pub async fn call<C: Call>(&self, call: &C) -> Result<C::Answer, Status> {
        let (target, body) = request_of(C::METHOD.name(), C::PATH, C::METHOD.has_body(), call)?;
        let answer = self.send(C::METHOD.name(), &target, body).await?;
        let version = version_of(&answer);
        let bytes = answer.into_body().collect().await?.to_bytes();
        serde_json::from_slice(&bytes).map_err(|error| unreadable(&error, version.as_deref()))
    }

    /// Sends a request and returns the answer, whose body is still to be read.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub async fn send(
        &self,
        method: &str,
        target: &str,
        body: Option<String>,
    ) -> Result<Response<AnswerBody>, Status> {
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header(header::ACCEPT, "application/json, application/problem+json");
        let request = match body {
            None => request.body(Body::empty()),
            Some(body) => request
                .header(header::CONTENT_TYPE, JSON_CONTENT_TYPE)
                .body(Body::new(http_body_util::Full::from(body))),
        };
        let request = request.map_err(|error| Status::invalid_argument(error.to_string()))?;
        let mut channel = self.channel.clone();
        let channel = channel.ready().await.map_err(|error| Status::from_error(error.into()))?;
        let sent = channel.call(request).await;
        let answer = sent.map_err(|error| Status::from_error(error.into()))?.map(Body::new);
        if answer.status() == StatusCode::OK {
            return Ok(answer);
        }
        Err(refusal_of(answer).await)
    }
}

/// A call's target, and its body if it has one.
///
/// # Errors
/// If the call is not a flat object: the program was built wrong.
pub fn request_of<C: serde::Serialize>(
    method: &str,
    path: &str,
    has_body: bool,
    call: &C,
) -> Result<(String, Option<String>), Status> {
    let wrong = |why: String| Status::internal(format!("{method} {path} cannot be sent: {why}"));
    let fields = serde_json::to_value(call).map_err(|error| wrong(error.to_string()))?;
    let Value::Object(mut fields) = fields else {
        return Err(wrong(format!("{fields} is not an object")));
    };
    let mut target = String::new();
    for part in path.split('/').skip(1) {
        target.push('/');
        match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            None => target.push_str(part),
            Some(name) => {
                let value = fields.remove(name).and_then(|value| scalar(&value));
                let value = value.ok_or_else(|| wrong(format!("it has no {name}")))?;
                target.extend(utf8_percent_encode(&value, ESCAPED));
            }
        }
    }
    if has_body {
        return Ok((target, Some(Value::Object(fields).to_string())));
    }
    append_query(&mut target, &fields);
    Ok((target, None))
}

fn append_query(target: &mut String, fields: &Map<String, Value>) {
    let mut separator = '?';
    for (name, value) in fields {
        let Some(value) = scalar(value) else { continue };
        let value = utf8_percent_encode(&value, ESCAPED);
        // Writing to a string does not fail.
        let _written = write!(target, "{separator}{name}={value}");
        separator = '&';
    }
}

/// A parameter's text; `None` where it is not given.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Some(value.to_string())
        }
    }
}

/// The version of the coordinator that an answer comes from.
#[must_use]
pub fn version_of<B>(answer: &Response<B>) -> Option<String> {
    let version = answer.headers().get(VERSION_HEADER)?.to_str().ok()?;
    Some(version.to_owned())
}

/// A request's body.
///
/// # Errors
/// If it cannot be written as JSON: the program was built wrong.
pub fn json(body: &impl serde::Serialize) -> Result<String, Status> {
    serde_json::to_string(body).map_err(|error| Status::internal(error.to_string()))
}

/// How long an answer is, if it says so.
#[must_use]
pub fn content_length(answer: &Response<AnswerBody>) -> Option<u64> {
    answer.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The status of an answer that this version cannot read.
#[must_use]
pub fn unreadable(error: &serde_json::Error, version: Option<&str>) -> Status {
    let ours = env!("CARGO_PKG_VERSION");
    let whose = match version {
        Some(version) if version == ours => format!("both have version {ours}"),
        Some(version) => format!("the coordinator has version {version}, this program {ours}"),
        None => "it does not say that it is a coordinator".to_owned(),
    };
    Status::new(Code::Unimplemented, format!("the answer cannot be read ({whose}): {error}"))
}

/// The status of an answer that is not the one to the call.
async fn refusal_of(answer: Response<AnswerBody>) -> Status {
    /// Longest problem that is read.
    const PROBLEM_BYTES_MAX: usize = 64 << 10;
    let status = answer.status();
    let version = version_of(&answer);
    // A layer of gRPC below, such as the interceptor, answers in headers.
    if let Some(grpc) = Status::from_header_map(answer.headers()) {
        return grpc;
    }
    let kind = answer.headers().get(header::CONTENT_TYPE).cloned();
    let is_problem =
        kind.is_some_and(|kind| kind.as_bytes().starts_with(PROBLEM_CONTENT_TYPE.as_bytes()));
    let body = http_body_util::Limited::new(answer.into_body(), PROBLEM_BYTES_MAX);
    let problem = match body.collect().await {
        Ok(body) if is_problem => serde_json::from_slice::<Problem>(&body.to_bytes()).ok(),
        Ok(_) | Err(_) => None,
    };
    let problem = problem.filter(|problem| !problem.is_unknown_call());
    match (problem, version) {
        (Some(problem), _) => problem.into(),
        (None, Some(version)) => Status::new(
            Code::Unimplemented,
            format!(
                "the coordinator of version {version} does not know this call (HTTP {status}); this program has \
                 version {}",
                env!("CARGO_PKG_VERSION")
            ),
        ),
        (None, None) => {
            // As tonic says it of an answer that is not gRPC's.
            Status::unknown(format!("error while receiving response with status {status}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use spelrum_answers::{Detail, GetCellGame, GetReport};
    use spelrum_model::CellId;

    use super::*;

    fn target<C: Call>(call: &C) -> String {
        request_of("GET", C::PATH, false, call).unwrap().0
    }

    #[test]
    fn parameters_go_into_the_path_and_the_query() {
        let report = |experiment: &str| {
            target(&GetReport { experiment: experiment.to_owned(), detail: Detail::Depths })
        };
        assert_eq!(report("nim-7.2"), "/api/v1/experiments/nim-7.2/report?detail=depths");
        assert_eq!(
            report("a/b ?&=é%"),
            "/api/v1/experiments/a%2Fb%20%3F%26%3D%C3%A9%25/report?detail=depths"
        );
        assert_eq!(target(&GetCellGame { cell: CellId(3), number: 5 }), "/api/v1/cells/3/games/5");
    }

    /// The message of an answer with this status, content type, version and body.
    async fn message(status: u16, kind: &str, version: Option<&str>, body: &'static str) -> String {
        let mut answer = Response::builder().status(status).header(header::CONTENT_TYPE, kind);
        if let Some(version) = version {
            answer = answer.header(VERSION_HEADER, version);
        }
        let body = Body::new(http_body_util::Full::from(body));
        refusal_of(answer.body(body).unwrap()).await.message().to_owned()
    }

    #[tokio::test]
    async fn what_a_server_answers_is_told_as_what_it_is() {
        let problem =
            r#"{"type":"urn:spelrum:problem:busy","title":"","status":503,"detail":"full"}"#;
        let later =
            r#"{"type":"urn:spelrum:problem:tired","title":"","status":503,"detail":"zzz"}"#;
        let unknown =
            r#"{"type":"urn:spelrum:problem:unknown-call","title":"","status":404,"detail":"?"}"#;
        let messages = [
            message(503, PROBLEM_CONTENT_TYPE, Some("0.1.0"), problem).await,
            message(503, PROBLEM_CONTENT_TYPE, Some("9.0.0"), later).await,
            message(404, PROBLEM_CONTENT_TYPE, Some("9.0.0"), unknown).await,
            message(404, "text/plain", Some("9.0.0"), "no such page").await,
            message(404, "text/html", None, "<html>").await,
            message(502, PROBLEM_CONTENT_TYPE, None, "not JSON").await,
            unreadable(&serde_json::from_str::<u8>("{}").unwrap_err(), Some("9.0.0"))
                .message()
                .to_owned(),
        ];
        insta::assert_snapshot!(messages.join("\n").replace(env!("CARGO_PKG_VERSION"), "OURS"), @"
        full
        zzz
        the coordinator of version 9.0.0 does not know this call (HTTP 404 Not Found); this program has version OURS
        the coordinator of version 9.0.0 does not know this call (HTTP 404 Not Found); this program has version OURS
        error while receiving response with status 404 Not Found
        error while receiving response with status 502 Bad Gateway
        the answer cannot be read (the coordinator has version 9.0.0, this program OURS): invalid type: map, expected u8 at line 1 column 0
        ");
    }
}
