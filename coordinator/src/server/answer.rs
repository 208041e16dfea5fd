//! Answers on their way to clients, which may read them slowly, or not at all.
//!
//! HTTP/2 polls for an answer's next piece when its client has room for it, and never if the client does not read. So
//! an answer's resources, such as a query's rows and its place, are kept where they can be dropped without being
//! polled; and the answer is passed on in small pieces, so that little of it waits where it cannot be dropped.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};
use tonic::Status;

use super::crowd::{ConnectionId, Crowd, Member};
use super::form::Form;

/// Largest piece: a frame of HTTP/2, as large as clients accept by default.
const PIECE_BYTES: usize = 16 << 10;

/// An answer's weight, beside its waiting bytes.
const WEIGHT: u64 = PIECE_BYTES as u64;

/// A body that can be taken away.
#[derive(Debug)]
pub(super) struct Answer {
    inside: Arc<Mutex<Inside>>,
    member: Member,
}

#[derive(Debug)]
struct Inside {
    /// `None` once taken away.
    body: Option<Body>,
    /// Bytes read from the body and not yet passed on.
    rest: Bytes,
    is_over: bool,
    waker: Option<Waker>,
    form: Form,
}

impl Answer {
    /// Adds a body to a crowd; also returns how many others were evicted for it.
    pub(super) fn enter(
        crowd: &Arc<Crowd>,
        connection: ConnectionId,
        form: Form,
        body: Body,
    ) -> (Self, usize) {
        let (body, rest) = (Some(body), Bytes::new());
        let inside = Inside { body, rest, is_over: false, waker: None, form };
        let inside = Arc::new(Mutex::new(inside));
        let taken = Arc::clone(&inside);
        let (member, gone) = crowd.enter(connection, WEIGHT, move || discard(&taken));
        (Self { inside, member }, gone)
    }
}

fn discard(inside: &Mutex<Inside>) {
    let mut inside = inside.lock().unwrap_or_else(PoisonError::into_inner);
    let content = (inside.body.take(), std::mem::take(&mut inside.rest));
    let waker = inside.waker.take();
    drop(inside);
    // The body may hold much memory, and places.
    drop(content);
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl Inside {
    /// The next piece.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let Some(body) = &mut self.body else {
            self.is_over = true;
            let status = Status::deadline_exceeded("the answer was not read in time");
            return Poll::Ready(self.form.broken_off(status));
        };
        while self.rest.is_empty() {
            match Pin::new(&mut *body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                Poll::Ready(ended) => {
                    self.is_over = true;
                    return Poll::Ready(ended);
                }
                Poll::Pending => {
                    self.waker = Some(cx.waker().clone());
                    return Poll::Pending;
                }
            }
        }
        let piece = self.rest.split_to(self.rest.len().min(PIECE_BYTES));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        let polled = inside.poll(cx);
        let weight = WEIGHT + inside.rest.len() as u64;
        drop(inside);
        // Not with the lock held: the update may evict this very member.
        self.member.record_progress(weight);
        polled
    }

    fn is_end_stream(&self) -> bool {
        let inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        let body_has_ended = inside.body.as_ref().is_some_and(HttpBody::is_end_stream);
        inside.is_over || (inside.rest.is_empty() && body_has_ended)
    }

    fn size_hint(&self) -> SizeHint {
        // A body that is taken away ends early.
        SizeHint::default()
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use super::*;

    async fn next(answer: &mut Answer) -> Option<Frame<Bytes>> {
        poll_fn(|cx| Pin::new(&mut *answer).poll_frame(cx)).await.map(Result::unwrap)
    }

    fn all(bytes: usize) -> Body {
        Body::from((0..bytes).map(|index| index as u8).collect::<Vec<_>>())
    }

    #[tokio::test]
    async fn it_comes_in_small_pieces() {
        let crowd = Crowd::with_room(1 << 20);
        let (mut answer, _) = Answer::enter(&crowd, ConnectionId(1), Form::Grpc, all(100_000));
        let mut bytes = Vec::new();
        while let Some(frame) = next(&mut answer).await {
            let piece = frame.into_data().unwrap();
            assert!(!piece.is_empty() && piece.len() <= PIECE_BYTES);
            bytes.extend(piece);
        }
        assert!(bytes.into_iter().eq((0..100_000).map(|index: usize| index as u8)));
        assert!(answer.is_end_stream());
    }

    #[tokio::test]
    async fn what_is_not_read_is_taken_away_and_says_so() {
        let crowd = Crowd::with_room(1 << 20);
        let (mut answer, _) = Answer::enter(&crowd, ConnectionId(1), Form::Grpc, all(100_000));
        assert!(next(&mut answer).await.unwrap().is_data());
        assert_eq!(crowd.expire(Duration::ZERO), 1);
        assert!(answer.inside.lock().unwrap().body.is_none());
        let trailers = next(&mut answer).await.unwrap().into_trailers().unwrap();
        let status = Status::from_header_map(&trailers).unwrap();
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded);
        assert!(next(&mut answer).await.is_none());
    }

    #[tokio::test]
    async fn one_that_waits_hears_that_it_was_taken_away() {
        let crowd = Crowd::with_room(1 << 20);
        let never = futures_util::stream::pending::<Result<Bytes, std::convert::Infallible>>();
        let (mut answer, _) =
            Answer::enter(&crowd, ConnectionId(1), Form::Grpc, Body::from_stream(never));
        let waiting = tokio::spawn(async move { next(&mut answer).await.unwrap().is_trailers() });
        while crowd.expire(Duration::from_millis(1)) == 0 {
            tokio::task::yield_now().await;
        }
        assert!(waiting.await.unwrap());
    }

    #[tokio::test]
    async fn an_empty_piece_is_progress_and_is_not_passed_on() {
        const PATIENCE: Duration = Duration::from_millis(100);
        let crowd = Crowd::with_room(1 << 20);
        let (sender, pieces) = tokio::sync::mpsc::channel::<Bytes>(1);
        let pieces = futures_util::stream::unfold(pieces, async |mut pieces| {
            Some((Ok::<_, std::convert::Infallible>(pieces.recv().await?), pieces))
        });
        let (mut answer, _) =
            Answer::enter(&crowd, ConnectionId(1), Form::Html, Body::from_stream(pieces));
        let reading = tokio::spawn(async move { next(&mut answer).await.unwrap().into_data() });
        for _ in 0..8 {
            tokio::time::sleep(PATIENCE / 4).await;
            sender.send(Bytes::new()).await.unwrap();
            tokio::task::yield_now().await;
            assert_eq!(crowd.expire(PATIENCE), 0);
        }
        sender.send(Bytes::from_static(b"late")).await.unwrap();
        assert_eq!(&reading.await.unwrap().unwrap()[..], b"late");
    }

    #[tokio::test]
    async fn the_heaviest_makes_room() {
        let crowd = Crowd::with_room(150_000);
        let (mut large, _) = Answer::enter(&crowd, ConnectionId(1), Form::Grpc, all(100_000));
        assert!(next(&mut large).await.unwrap().is_data());
        let (mut others, mut gone) = (Vec::new(), 0);
        for connection in 2..6 {
            let (answer, more) =
                Answer::enter(&crowd, ConnectionId(connection), Form::Grpc, all(10));
            others.push(answer);
            gone += more;
        }
        assert_eq!(gone, 1);
        assert!(next(&mut large).await.unwrap().is_trailers());
        assert!(next(&mut others[0]).await.unwrap().is_data());
    }
}
