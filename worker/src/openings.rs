//! Openings that cells share, as the coordinator sends them.

use std::io::Read as _;

use flate2::read::GzDecoder;
use spelrum_model::ListedPositions;

/// The most bytes of positions in JSON: more than a sweep can have.
const JSON_BYTES_MAX: u64 = 16 << 20;

/// Parses positions; `None` if they are damaged, or their hash differs.
pub(crate) fn read(gzip: &[u8], hash: [u8; 32]) -> Option<ListedPositions> {
    let mut json = String::new();
    GzDecoder::new(gzip).take(JSON_BYTES_MAX).read_to_string(&mut json).ok()?;
    ListedPositions::from_json(&json).filter(|listed| listed.hash() == hash)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn only_the_positions_of_the_hash_are_read() {
        let json = "[\"1 2\",\"3 4\"]";
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(json.as_bytes()).unwrap();
        let gzip = gzip.finish().unwrap();
        let hash = ListedPositions::from_json(json).unwrap().hash();
        assert_eq!(read(&gzip, hash).unwrap().json(), json);
        assert!(read(&gzip, [0; 32]).is_none());
        assert!(read(&gzip[..gzip.len() / 2], hash).is_none());
        assert!(read(json.as_bytes(), hash).is_none());
    }
}
