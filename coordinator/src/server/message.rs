//! A call's message, received as a whole before any work is done for the call.
//!
//! Every call of ours has one message. In gRPC its first bytes state its length (five bytes before each message), and
//! in HTTP its head does. So room can be reserved before the message arrives.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use spelrum_proto::limits::MESSAGE_BYTES_MAX;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Time limits for receiving a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Time within which the next bytes of the message must arrive.
    next: Duration,
    /// Time for the whole message, extended for each [`UNIT_BYTES`] of it.
    whole: Duration,
    unit: Duration,
    /// Time a large message waits for room before its client gets a busy refusal.
    room: Duration,
}

pub(super) const PATIENCE: Patience = Patience {
    next: Duration::from_secs(10),
    whole: Duration::from_secs(20),
    unit: Duration::from_millis(15),
    room: Duration::from_secs(10),
};

/// The unit of room.
const UNIT_BYTES: usize = 1 << 10;

/// Messages up to this size need no room: almost all but reports and sweeps.
const SMALL_BYTES: usize = 16 << 10;

/// The room for all messages that are not small.
pub(super) const UNITS_MAX: usize = (64 << 20) / UNIT_BYTES;

/// One connection's share of the room: the largest message.
pub(super) const UNITS_PER_CONNECTION_MAX: usize = MESSAGE_BYTES_MAX / UNIT_BYTES + 1;

const PREFIX_BYTES: usize = 5;

/// A whole message, or enough to show that it is too long.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) bytes: Bytes,
    /// Held as long as the bytes are.
    pub(super) room: Option<[OwnedSemaphorePermit; 2]>,
}

/// Why there is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoMessage {
    /// The message was too slow.
    Late,
    /// There was no room for the message.
    NoRoom,
    /// The client has gone, or is not sending what it announced.
    Broken,
}

/// Receives a message of this length, or of the length that its first bytes state, within the room of all and that of
/// its connection.
pub(super) async fn receive(
    body: Body,
    stated: Option<usize>,
    rooms: [&Arc<Semaphore>; 2],
    patience: Patience,
) -> Result<Message, NoMessage> {
    let mut incoming = Incoming { body, bytes: Vec::new(), patience: patience.next };
    let mut has_ended = false;
    let prefix = if stated.is_some() { 0 } else { PREFIX_BYTES };
    while incoming.bytes.len() < prefix && !has_ended {
        has_ended = !incoming.more().await?;
    }
    let length = stated.or_else(|| incoming.length());
    let Some(length) = length.filter(|&length| length <= MESSAGE_BYTES_MAX) else {
        // The service reports the error.
        return Ok(Message { bytes: incoming.bytes.into(), room: None });
    };
    let units = length.div_ceil(UNIT_BYTES);
    let room =
        if length > SMALL_BYTES { Some(room(rooms, units, patience.room).await?) } else { None };
    let time_max = patience.whole + patience.unit * u32::try_from(units).unwrap_or(u32::MAX);
    let rest = async {
        // To the end, so that the client has no more to send.
        while !has_ended && incoming.bytes.len() <= prefix + length {
            has_ended = !incoming.more().await?;
        }
        Ok(())
    };
    timeout(time_max, rest).await.map_err(|_| NoMessage::Late)??;
    Ok(Message { bytes: incoming.bytes.into(), room })
}

async fn room(
    [shared, of_connection]: [&Arc<Semaphore>; 2],
    units: usize,
    patience: Duration,
) -> Result<[OwnedSemaphorePermit; 2], NoMessage> {
    let units = u32::try_from(units).unwrap_or(u32::MAX);
    let both = async {
        // Its own room first: no other connection waits for one that wants too much.
        let of_connection = Arc::clone(of_connection).acquire_many_owned(units).await.ok()?;
        Some([Arc::clone(shared).acquire_many_owned(units).await.ok()?, of_connection])
    };
    timeout(patience, both).await.ok().flatten().ok_or(NoMessage::NoRoom)
}

struct Incoming {
    body: Body,
    bytes: Vec<u8>,
    patience: Duration,
}

impl Incoming {
    /// Waits for more bytes; returns whether more may follow.
    async fn more(&mut self) -> Result<bool, NoMessage> {
        if self.body.is_end_stream() {
            return Ok(false);
        }
        let frame = std::future::poll_fn(|cx| Pin::new(&mut self.body).poll_frame(cx));
        match timeout(self.patience, frame).await {
            Err(_) => Err(NoMessage::Late),
            Ok(None) => Ok(false),
            Ok(Some(Err(_))) => Err(NoMessage::Broken),
            Ok(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    self.bytes.extend_from_slice(&data);
                }
                Ok(true)
            }
        }
    }

    /// The length of the message that begins, if enough of it has arrived.
    fn length(&self) -> Option<usize> {
        let prefix = self.bytes.first_chunk::<PREFIX_BYTES>()?;
        let [_is_compressed, length @ ..] = *prefix;
        usize::try_from(u32::from_be_bytes(length)).ok()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{StreamExt as _, stream};

    use super::*;

    fn message(length: usize) -> Vec<u8> {
        let mut bytes = vec![0];
        bytes.extend((length as u32).to_be_bytes());
        bytes.extend((0..length).map(|index| index as u8));
        bytes
    }

    fn rooms(units: usize) -> [Arc<Semaphore>; 2] {
        [Arc::new(Semaphore::new(UNITS_MAX)), Arc::new(Semaphore::new(units))]
    }

    fn in_pieces(bytes: &[u8], size: usize) -> Body {
        let pieces: Vec<_> =
            bytes.chunks(size).map(|piece| Ok::<_, std::io::Error>(piece.to_vec())).collect();
        Body::from_stream(stream::iter(pieces))
    }

    #[tokio::test]
    async fn a_message_is_whole_however_it_comes() {
        for length in [0, 1, 100, SMALL_BYTES, SMALL_BYTES + 1, 100_000] {
            for size in [1, 3, 5, 1_000, usize::MAX] {
                let sent = message(length);
                let [all, own] = rooms(UNITS_PER_CONNECTION_MAX);
                let got =
                    receive(in_pieces(&sent, size), None, [&all, &own], PATIENCE).await.unwrap();
                assert_eq!(got.bytes, sent);
                let taken = if length > SMALL_BYTES { length.div_ceil(UNIT_BYTES) } else { 0 };
                assert_eq!(all.available_permits(), UNITS_MAX - taken);
                drop(got);
                assert_eq!(own.available_permits(), UNITS_PER_CONNECTION_MAX);
            }
        }
    }

    #[tokio::test]
    async fn what_is_no_message_goes_on_to_the_service_that_says_so() {
        for sent in [vec![], vec![0; 3], message(MESSAGE_BYTES_MAX + 1)[..70_000].to_vec()] {
            let [all, own] = rooms(1);
            let got =
                receive(in_pieces(&sent, 16_384), None, [&all, &own], PATIENCE).await.unwrap();
            assert!(sent.starts_with(&got.bytes) && got.bytes.len() <= 16_384);
        }
        // An endless message is not received in full.
        let endless = stream::repeat(0).map(|_| Ok::<_, std::io::Error>(vec![0; 10_000]));
        let [all, own] = rooms(1);
        let got = receive(Body::from_stream(endless), None, [&all, &own], PATIENCE).await.unwrap();
        assert_eq!(got.bytes.len(), 10_000);
    }

    #[tokio::test]
    async fn what_does_not_come_is_not_waited_for() {
        let little = Duration::from_millis(50);
        let patience = Patience { next: little, whole: little, unit: Duration::ZERO, room: little };
        let [all, own] = rooms(UNITS_PER_CONNECTION_MAX);
        for begun in [0, 4, 5, 50_000] {
            let begun = message(100_000)[..begun].to_vec();
            let first = stream::iter([Ok::<_, std::io::Error>(begun)]);
            let body = Body::from_stream(first.chain(stream::pending()));
            assert_eq!(
                receive(body, None, [&all, &own], patience).await.unwrap_err(),
                NoMessage::Late
            );
        }
        // Nor for bytes that trickle in one at a time, each within its limit.
        let patience = Patience { next: Duration::from_secs(3_600), ..patience };
        let slowly = stream::iter(message(100_000)).then(async |byte| {
            tokio::time::sleep(Duration::from_millis(1)).await;
            Ok::<_, std::io::Error>(vec![byte])
        });
        let late =
            receive(Body::from_stream(slowly), None, [&all, &own], patience).await.unwrap_err();
        assert_eq!(late, NoMessage::Late);
        assert_eq!(all.available_permits(), UNITS_MAX);
        // One connection gets no more than its share.
        let _others = Arc::clone(&own).acquire_many_owned(4_000).await.unwrap();
        let body = in_pieces(&message(200_000), 16_384);
        assert_eq!(
            receive(body, None, [&all, &own], patience).await.unwrap_err(),
            NoMessage::NoRoom
        );
    }
}
