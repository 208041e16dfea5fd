//! Changes and bases as they are sent and stored: compressed.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use crate::error::JournalError;

/// Compresses fast rather than well: an owner waits for it at each commit.
pub(crate) fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    let compressed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    // Nothing that writes to memory fails.
    compressed.unwrap_or_default()
}

/// Expands what [`compress`] returned.
pub(crate) fn expand(bytes: &[u8]) -> Result<Vec<u8>, JournalError> {
    let mut expanded = Vec::new();
    let done = DeflateDecoder::new(bytes).read_to_end(&mut expanded);
    match done {
        Ok(_) => Ok(expanded),
        Err(error) => Err(JournalError::DamagedBase { problem: error.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compressed_comes_back() {
        for bytes in [vec![], vec![0; 100_000], (0..=255).collect()] {
            assert_eq!(expand(&compress(&bytes)).unwrap(), bytes);
        }
        assert!(compress(&[0; 100_000]).len() < 1_000);
        let damaged = &compress(&[7; 1_000])[..5];
        assert!(expand(damaged).is_err());
    }
}
