//! An answer whose outcome is counted when it ends: gRPC sends the status last.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::HeaderMap;
use http_body::{Frame, SizeHint};
use tonic::Code;

use crate::metrics::UnderWay;

/// The answer to a call.
pub(super) struct Counted {
    body: Body,
    call: UnderWay,
}

impl Counted {
    /// Wraps the body of an answer with these headers, which begins now.
    pub(super) fn new(mut call: UnderWay, headers: &HeaderMap, body: Body) -> Self {
        call.answered();
        // A refusal is complete with its headers.
        if let Some(code) = code(headers) {
            call.ended(code);
        }
        Self { body, call }
    }
}

/// A call's status code, if these headers or trailers contain it.
fn code(headers: &HeaderMap) -> Option<Code> {
    let code = headers.get("grpc-status")?;
    Some(Code::from_bytes(code.as_bytes()))
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(code) = frame.trailers_ref().and_then(code) {
                    self.call.ended(code);
                }
            }
            // The answer ended without a status.
            Poll::Ready(Some(Err(_)) | None) => self.call.ended(Code::Unknown),
            Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
