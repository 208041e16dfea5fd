//! A table as bytes: a header that describes it, the values, and a hash of both.
//!
//! ```text
//! 8    `SPELTBL\n`
//! 2    the version of all this, little-endian as what follows
//! 2    n, the length of the name
//! n    the endgame's name, with " conversion" behind it if the distances lead there
//! 8    the number of values
//! …    the values, a byte each: plies to mate (odd a win, even a loss), 253 a stalemate, 254 another
//!      draw, 255 not a legal position
//! 32   the SHA-256 of all before it
//! ```

use sha2::{Digest, Sha256};

use super::{Endgame, EndgameTable, Metric};

const MAGIC: &[u8; 8] = b"SPELTBL\n";

/// Increases when anything in the format changes, including the order of the values.
const VERSION: u16 = 1;

const HASH_BYTES: usize = 32;

/// Bytes that are not the requested table. The table can be made again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableBytesError {
    /// They lack a table's header.
    #[error("it is not a table")]
    NotATable,
    /// Another version of the format.
    #[error("it is a table of version {found}, and this is version {VERSION}")]
    Version {
        /// Its version.
        found: u16,
    },
    /// The table of another endgame.
    #[error("it is the table of another endgame than {asked}")]
    Endgame {
        /// The requested endgame.
        asked: String,
    },
    /// Truncated, or too long.
    #[error("it has {found} bytes, and should have {expected}")]
    Length {
        /// The actual number of bytes.
        found: usize,
        /// The expected number.
        expected: usize,
    },
    /// Corrupted: the hash differs.
    #[error("its content does not have the hash that it was written with")]
    Hash,
}

impl EndgameTable {
    /// The table as bytes, with a hash of them at the end.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = header(&self.endgame, self.metric);
        bytes.extend_from_slice(&self.codes);
        let hash = Sha256::digest(&bytes);
        bytes.extend_from_slice(&hash);
        bytes
    }

    /// Reads the table of this endgame and checks it completely.
    ///
    /// # Errors
    /// If [`EndgameTable::to_bytes`] of this endgame's table did not produce the bytes.
    pub fn from_bytes(endgame: &Endgame, bytes: &[u8]) -> Result<Self, TableBytesError> {
        Self::from_bytes_by(endgame, Metric::Mate, bytes)
    }

    /// The same of a table with distances by a metric.
    ///
    /// # Errors
    /// As [`EndgameTable::from_bytes`].
    pub fn from_bytes_by(
        endgame: &Endgame,
        metric: Metric,
        bytes: &[u8],
    ) -> Result<Self, TableBytesError> {
        let header = header(endgame, metric);
        let (version_at, name_at) = (MAGIC.len(), MAGIC.len() + 2);
        if !bytes.starts_with(MAGIC) {
            return Err(TableBytesError::NotATable);
        }
        let Some(version) = bytes.get(version_at..name_at) else {
            return Err(TableBytesError::NotATable);
        };
        let found = u16::from_le_bytes([version[0], version[1]]);
        if found != VERSION {
            return Err(TableBytesError::Version { found });
        }
        let places = endgame.layout().places();
        let expected = header.len() + places + HASH_BYTES;
        if !bytes.starts_with(&header) && bytes.len() >= header.len() {
            return Err(TableBytesError::Endgame { asked: endgame.name().to_owned() });
        }
        if bytes.len() != expected {
            return Err(TableBytesError::Length { found: bytes.len(), expected });
        }
        let (content, hash) = bytes.split_at(expected - HASH_BYTES);
        if Sha256::digest(content).as_slice() != hash {
            return Err(TableBytesError::Hash);
        }
        Ok(Self { endgame: endgame.clone(), metric, codes: content[header.len()..].to_vec() })
    }

    /// The SHA-256 at the end of the bytes: equal tables of an endgame have equal hashes.
    #[must_use]
    pub fn sha256(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(header(&self.endgame, self.metric));
        hash.update(&self.codes);
        hash.finalize().into()
    }
}

fn header(endgame: &Endgame, metric: Metric) -> Vec<u8> {
    let name = endgame.name().to_owned()
        + match metric {
            Metric::Mate => "",
            Metric::Conversion => " conversion",
        };
    let name = name.as_bytes();
    let places = endgame.layout().places() as u64;
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(&VERSION.to_le_bytes());
    header.extend_from_slice(&(name.len() as u16).to_le_bytes());
    header.extend_from_slice(name);
    header.extend_from_slice(&places.to_le_bytes());
    header
}
