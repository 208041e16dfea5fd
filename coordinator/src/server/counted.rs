//! An answer whose outcome is counted when it ends: gRPC sends the status last.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;
use http_body::{Frame, SizeHint};
use tonic::Code;

use super::form::Form;
use crate::metrics::UnderWay;

/// The answer to a call.
pub(super) struct Counted {
    body: Body,
    call: UnderWay,
    form: Form,
}

impl Counted {
    /// Wraps the body of an answer that begins now, and whose head may say how the call went.
    pub(super) fn new(mut call: UnderWay, form: Form, outcome: Option<Code>, body: Body) -> Self {
        call.answered();
        // A refusal is complete with its head.
        if let Some(code) = outcome {
            call.ended(code);
        }
        Self { body, call, form }
    }
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
                let trailers = frame.trailers_ref();
                let code =
                    trailers.and_then(|trailers| self.form.outcome(StatusCode::OK, trailers));
                if let Some(code) = code {
                    self.call.ended(code);
                }
                // A body whose length is known is not polled for its end.
                if self.form != Form::Grpc && self.body.is_end_stream() {
                    self.call.ended(Code::Ok);
                }
            }
            Poll::Ready(None) if self.form != Form::Grpc => self.call.ended(Code::Ok),
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
