//! Answers of the API: JSON in pieces as it is written, and refusals as problems.

use std::io::{self, Write};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::stream;
use serde::Serialize;
use spelrum_proto::api::{JSON_CONTENT_TYPE, VERSION_HEADER};
use spelrum_proto::problem::{PROBLEM_CONTENT_TYPE, Problem};
use spelrum_proto::{Reason, Refusal};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// Bytes of a piece.
const PIECE_BYTES: usize = 64 << 10;

/// Most pieces that wait for their reader.
const PIECES_MAX: usize = 2;

/// An answer of at most some megabytes.
pub(super) fn json<T: Serialize>(answer: &T) -> Response {
    match serde_json::to_vec(answer) {
        Ok(text) => named(Body::from(text), JSON_CONTENT_TYPE),
        Err(error) => {
            tracing::error!(%error, "failed to write an answer as JSON");
            problem(Refusal::new(Reason::Internal, error.to_string(), "report this as a fault"))
        }
    }
}

/// An answer of any size. It is written by a thread of its own as its client reads, so that neither its text nor a
/// sent part of it is kept; the place is held until then.
pub(super) fn large_json<T: Serialize + Send + 'static>(
    answer: T,
    place: OwnedSemaphorePermit,
) -> Response {
    let (mut writer, pieces) = pieces();
    let write = move || {
        let _place = place;
        let written = serde_json::to_writer(&mut writer, &answer).map_err(io::Error::from);
        // A client that has gone away is sent nothing more.
        if let Err(error) = written.and_then(|()| writer.flush())
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            writer.break_off(&error.to_string());
        }
    };
    drop(tokio::task::spawn_blocking(write));
    streamed(pieces, JSON_CONTENT_TYPE)
}

/// An answer of pieces that come one after another.
pub(super) fn streamed(
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    content_type: &'static str,
) -> Response {
    let pieces = stream::unfold(pieces, async |mut pieces| Some((pieces.recv().await?, pieces)));
    named(Body::from_stream(pieces), content_type)
}

/// An answer with its content type, from a coordinator of this version.
pub(super) fn named(body: Body, content_type: &'static str) -> Response {
    let mut answer = Response::new(body);
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(VERSION_HEADER, HeaderValue::from_static(env!("CARGO_PKG_VERSION")));
    // Answers change from moment to moment, and are for their asker alone.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}

/// A value as a line of JSON.
pub(super) fn line(value: &impl Serialize) -> String {
    // The types of answers are written without fail.
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.push('\n');
    line
}

/// When a caller that was refused may come again, in whole seconds.
pub(crate) fn retry_after(refusal: &Refusal) -> Option<HeaderValue> {
    let seconds = |wait: Duration| wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    refusal.retry_after.map(|wait| HeaderValue::from(seconds(wait)))
}

/// A refusal as an answer.
pub(crate) fn problem(refusal: Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.reason.http_status());
    let retry_after = retry_after(&refusal);
    let needs_token = refusal.reason == Reason::BadToken;
    let body = serde_json::to_vec(&Problem::from(refusal)).unwrap_or_default();
    let mut answer = named(Body::from(body), PROBLEM_CONTENT_TYPE);
    *answer.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = answer.headers_mut();
    if let Some(seconds) = retry_after {
        headers.insert(header::RETRY_AFTER, seconds);
    }
    if needs_token {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    answer
}

/// What an answer is written into, by a thread of its own, and what its client reads.
pub(super) fn pieces() -> (Pieces, mpsc::Receiver<io::Result<Bytes>>) {
    let (sender, pieces) = mpsc::channel(PIECES_MAX);
    (Pieces { piece: Vec::new(), sender }, pieces)
}

/// Writes into a channel, in pieces.
pub(super) struct Pieces {
    piece: Vec<u8>,
    sender: mpsc::Sender<io::Result<Bytes>>,
}

impl Pieces {
    /// Waits until the client has gone.
    pub(super) fn gone(&self) -> impl Future<Output = ()> + use<> {
        let sender = self.sender.clone();
        async move { sender.closed().await }
    }

    /// Ends an answer that cannot be written to its end.
    pub(super) fn break_off(&self, problem: &str) {
        if self.sender.is_closed() {
            return;
        }
        tracing::error!(problem, "failed to write an answer");
        let _gone = self.sender.blocking_send(Err(io::Error::other(problem.to_owned())));
    }
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE_BYTES));
        self.sender
            .blocking_send(Ok(piece.into()))
            .map_err(|_gone| io::ErrorKind::BrokenPipe.into())
    }
}
