//! Messages between a worker and its playing process: length-prefixed, over a pair of sockets. Both ends are
//! always the same program, so there are no versions.

use std::io::{self, Read, Write};

use prost::Message;
use spelrum_proto::v1;

/// The most bytes of results in one message, apart from a single larger result.
pub(super) const RESULTS_BYTES_MAX: usize = 4 << 20;

/// A message from the worker.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Order {
    #[prost(oneof = "What", tags = "1, 2, 3, 4, 5, 6, 7, 8")]
    pub(super) what: Option<What>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum What {
    /// A cell, before its first games.
    #[prost(message, tag = "1")]
    Cell(CellSent),
    /// The cell with this key is no longer needed.
    #[prost(uint64, tag = "2")]
    Forget(u64),
    #[prost(message, tag = "3")]
    Play(Play),
    #[prost(message, tag = "4")]
    Stop(Stop),
    /// End in good order. Closing the socket ends it at once.
    #[prost(message, tag = "5")]
    End(End),
    /// Engines are to be built, or to be started as they were fetched.
    #[prost(message, tag = "6")]
    Build(Builds),
    /// A program could not be fetched.
    #[prost(message, tag = "7")]
    Unfetched(v1::FailedBuild),
    /// The moves of this slot's game are wanted.
    #[prost(uint32, tag = "8")]
    TellMoves(u32),
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(super) struct Builds {
    #[prost(string, repeated, tag = "1")]
    pub(super) engines: Vec<String>,
}

/// A cell as the coordinator defined it.
#[derive(Clone, PartialEq, Message)]
pub(super) struct CellSent {
    /// Its key in later messages.
    #[prost(uint64, tag = "1")]
    pub(super) key: u64,
    #[prost(string, tag = "2")]
    pub(super) definition_json: String,
    /// Its players' networks that need no training.
    #[prost(message, repeated, tag = "3")]
    pub(super) networks: Vec<NetworkSent>,
    /// The hash of the positions that are separate from its definition; empty if none are.
    #[prost(bytes = "vec", tag = "4")]
    pub(super) openings_hash: Vec<u8>,
    /// Their JSON; empty if another cell of the process has them.
    #[prost(string, tag = "5")]
    pub(super) openings_json: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NetworkSent {
    /// The definition of its training.
    #[prost(string, tag = "1")]
    pub(super) training_json: String,
    #[prost(bytes = "vec", tag = "2")]
    pub(super) bytes: Vec<u8>,
}

/// Games for a slot that has none.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Play {
    #[prost(uint32, tag = "1")]
    pub(super) slot: u32,
    #[prost(uint64, tag = "2")]
    pub(super) cell_key: u64,
    #[prost(int64, tag = "3")]
    pub(super) lease_id: i64,
    #[prost(int64, tag = "4")]
    pub(super) cell_id: i64,
    #[prost(uint64, tag = "5")]
    pub(super) first_number: u64,
    #[prost(uint64, tag = "6")]
    pub(super) count: u64,
    /// The timeout of each, in milliseconds.
    #[prost(uint64, optional, tag = "7")]
    pub(super) game_timeout_ms: Option<u64>,
    /// The worker's id at its coordinator, for the log.
    #[prost(int64, tag = "8")]
    pub(super) worker_id: i64,
    /// Whether they are played on exclusive slots.
    #[prost(bool, tag = "9")]
    pub(super) in_quiet: bool,
    /// The scaling of their players' time limits, if any.
    #[prost(message, optional, tag = "10")]
    pub(super) scaled: Option<v1::ScaledTime>,
}

/// A slot is to stop after its game, or now.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(super) struct Stop {
    #[prost(uint32, tag = "1")]
    pub(super) slot: u32,
    #[prost(bool, tag = "2")]
    pub(super) now: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(super) struct End {}

/// A message from the playing process.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Said {
    #[prost(oneof = "News", tags = "1, 2, 3, 4")]
    pub(super) news: Option<News>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum News {
    /// The available external engines. Sent first, and after each change.
    #[prost(message, tag = "1")]
    Offers(Offers),
    #[prost(message, tag = "2")]
    Finished(Finished),
    #[prost(message, tag = "3")]
    Freed(Freed),
    /// The answer to [`What::TellMoves`].
    #[prost(message, tag = "4")]
    Moves(Moves),
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Offers {
    #[prost(message, repeated, tag = "1")]
    pub(super) engines: Vec<v1::OfferedEngine>,
    #[prost(string, repeated, tag = "2")]
    pub(super) built: Vec<String>,
    #[prost(message, repeated, tag = "3")]
    pub(super) failed: Vec<v1::FailedBuild>,
    #[prost(string, repeated, tag = "4")]
    pub(super) accepted: Vec<String>,
}

/// Games of a slot's batch are finished.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Finished {
    #[prost(uint32, tag = "1")]
    pub(super) slot: u32,
    #[prost(message, repeated, tag = "2")]
    pub(super) results: Vec<v1::Result>,
}

/// A slot is done with its batch, after this many games in this time.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(super) struct Freed {
    #[prost(uint32, tag = "1")]
    pub(super) slot: u32,
    #[prost(uint64, tag = "2")]
    pub(super) played: u64,
    #[prost(uint64, tag = "3")]
    pub(super) took_ns: u64,
}

/// The moves of a slot's game so far.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Moves {
    #[prost(uint32, tag = "1")]
    pub(super) slot: u32,
    #[prost(message, optional, tag = "2")]
    pub(super) game: Option<v1::GameUnderWay>,
}

/// Writes one message.
///
/// # Errors
/// If the other end is gone, or the message has 4 GiB.
pub(super) fn write(to: &mut impl Write, message: &impl Message) -> io::Result<()> {
    let length = u32::try_from(message.encoded_len()).map_err(io::Error::other)?;
    let mut bytes = Vec::with_capacity(4 + message.encoded_len());
    bytes.extend(length.to_le_bytes());
    message.encode(&mut bytes).map_err(io::Error::other)?;
    to.write_all(&bytes)
}

/// Reads one message; `None` if the other end was closed after the last.
///
/// # Errors
/// If the other end is gone within one, or it is malformed.
pub(super) fn read<M: Message + Default>(from: &mut impl Read) -> io::Result<Option<M>> {
    let mut length = [0; 4];
    match from.read(&mut length[..1])? {
        0 => return Ok(None),
        _ => from.read_exact(&mut length[1..])?,
    }
    let length = u32::from_le_bytes(length);
    let mut bytes = Vec::new();
    if from.take(length.into()).read_to_end(&mut bytes)? < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    M::decode(&*bytes).map(Some).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_round_trip() {
        let play = Play { slot: 3, first_number: 7, count: 2, ..Play::default() };
        let orders = [
            Order { what: Some(What::Play(play)) },
            Order { what: Some(What::End(End {})) },
            Order { what: Some(What::Stop(Stop { slot: 1, now: true })) },
        ];
        let mut bytes = Vec::new();
        orders.iter().for_each(|order| write(&mut bytes, order).unwrap());
        let mut from = &*bytes;
        for order in &orders {
            assert_eq!(read::<Order>(&mut from).unwrap().as_ref(), Some(order));
        }
        assert_eq!(read::<Order>(&mut from).unwrap(), None);
    }

    #[test]
    fn what_breaks_off_is_an_error() {
        let mut bytes = Vec::new();
        write(&mut bytes, &Order { what: Some(What::Forget(1 << 40)) }).unwrap();
        for length in 1..bytes.len() {
            assert!(read::<Order>(&mut &bytes[..length]).is_err(), "{length}");
        }
        // A length without its message allocates no memory.
        assert!(read::<Order>(&mut &[255, 255, 255, 255, 0][..]).is_err());
    }
}
