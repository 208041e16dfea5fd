//! The forms of guarded calls: gRPC, HTTP with JSON, and pages. They differ in how a refusal is said.

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use http_body::Frame;
use spelrum_proto::Refusal;
use tonic::{Code, Status};

use crate::{api, pages};

/// A form of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// gRPC: refusals are statuses in headers or trailers.
    Grpc,
    /// HTTP: refusals are problems; an answer that has begun breaks off.
    Json,
    /// HTTP for people: refusals are pages.
    Html,
}

impl Form {
    /// A refusal as an answer.
    pub(super) fn refused(self, refusal: Refusal) -> Response {
        match self {
            Self::Grpc => Status::from(refusal).into_http(),
            Self::Json => api::problem(refusal),
            Self::Html => pages::refused(&refusal),
        }
    }

    /// The end of an answer that has begun and does not go on.
    pub(super) fn broken_off(self, status: Status) -> Option<Result<Frame<Bytes>, axum::Error>> {
        match self {
            Self::Grpc => {
                let mut trailers = HeaderMap::new();
                let added = status.add_header(&mut trailers);
                added.is_ok().then(|| Ok(Frame::trailers(trailers)))
            }
            Self::Json | Self::Html => Some(Err(axum::Error::new(status))),
        }
    }

    /// How a call went, if an answer's head says it. JSON's does, unless the answer breaks off.
    pub(super) fn outcome(self, status: StatusCode, headers: &HeaderMap) -> Option<Code> {
        match self {
            Self::Grpc => {
                let code = headers.get("grpc-status")?;
                Some(Code::from_bytes(code.as_bytes()))
            }
            Self::Json | Self::Html if status == StatusCode::OK => None,
            Self::Json | Self::Html => Some(match status.as_u16() {
                400 | 415 | 422 => Code::InvalidArgument,
                401 => Code::Unauthenticated,
                403 | 421 => Code::PermissionDenied,
                404 => Code::NotFound,
                405 => Code::Unimplemented,
                409 => Code::FailedPrecondition,
                429 => Code::ResourceExhausted,
                503 => Code::Unavailable,
                _ => Code::Internal,
            }),
        }
    }
}
