//! An answer that ends once its caller's token or certificate is revoked: a running query or export would otherwise
//! continue to its end.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use futures_util::future::BoxFuture;
use http_body::{Frame, SizeHint};
use spelrum_proto::Refusal;

use super::form::Form;

/// The answer to a call.
pub(super) struct UntilRevoked {
    /// `None` once ended. Everything that the body holds, such as a query, ends with it.
    body: Option<Body>,
    revoked: BoxFuture<'static, Refusal>,
    form: Form,
}

impl UntilRevoked {
    /// Wraps an answer that lasts as long as its caller has access.
    pub(super) fn new(form: Form, body: Body, revoked: BoxFuture<'static, Refusal>) -> Self {
        Self { body: Some(body), revoked, form }
    }
}

impl HttpBody for UntilRevoked {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { body: open_body, revoked, form } = &mut *self;
        let Some(body) = open_body else { return Poll::Ready(None) };
        if let Poll::Ready(refusal) = revoked.as_mut().poll(cx) {
            *open_body = None;
            return Poll::Ready(form.broken_off(refusal.into()));
        }
        let polled = Pin::new(body).poll_frame(cx);
        if let Poll::Ready(None | Some(Err(_))) = polled {
            *open_body = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        // An answer that is cut off is shorter.
        SizeHint::default()
    }
}
