//! Answers of the API: JSON in pieces as it is written, and refusals as problems.

use std::io::{self, Write};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::{Stream, stream};
use serde::Serialize;
use spelrum_proto::api::{JSON_CONTENT_TYPE, VERSION_HEADER};
use spelrum_proto::problem::{PROBLEM_CONTENT_TYPE, Problem};
use spelrum_proto::{Reason, Refusal};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// Bytes of a piece.
const PIECE_BYTES: usize = 64 << 10;

/// A sign of life is given when an answer has had nothing to send for this long: an answer without progress is treated as
/// one that its client does not read (`server/answer.rs`).
pub(super) const QUIET: Duration = Duration::from_secs(5);

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

/// An answer of pieces that come one after another, as slowly as it may be.
pub(super) fn streamed(
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    content_type: &'static str,
) -> Response {
    named(Body::from_stream(with_signs_of_life(pieces, QUIET)), content_type)
}

/// An empty piece is a sign of life, of which nothing is sent.
fn with_signs_of_life(
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    quiet: Duration,
) -> impl Stream<Item = io::Result<Bytes>> {
    stream::unfold(pieces, move |mut pieces| async move {
        let piece = tokio::time::timeout(quiet, pieces.recv()).await;
        Some((piece.unwrap_or(Some(Ok(Bytes::new())))?, pieces))
    })
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

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use futures_util::StreamExt as _;

    use super::*;

    /// A query that finds rows after a long time is not taken for one that its client does not read.
    #[tokio::test]
    async fn an_answer_that_has_nothing_to_send_gives_signs_of_life() {
        const QUIET: Duration = Duration::from_millis(10);
        let (sender, pieces) = mpsc::channel(1);
        let begun = Instant::now();
        tokio::spawn(async move {
            tokio::time::sleep(20 * QUIET).await;
            sender.send(Ok(Bytes::from_static(b"1\r\n"))).await
        });
        let pieces = with_signs_of_life(pieces, QUIET).map(Result::unwrap);
        let pieces: Vec<Bytes> = pieces.collect().await;
        let (last, signs) = pieces.split_last().unwrap();
        assert_eq!(&**last, b"1\r\n");
        assert!(!signs.is_empty() && signs.iter().all(Bytes::is_empty), "{signs:?}");
        assert!(signs.len() <= (begun.elapsed().as_millis() / QUIET.as_millis()) as usize);
    }
}
