//! Tables written and read again.

use spelrum_engine::tables::{Endgame, EndgameTable, TableBytesError};

use super::table;

fn endgame(name: &str) -> Endgame {
    name.parse().unwrap()
}

#[test]
fn a_table_is_read_as_it_was_written() {
    let table = table("KRK");
    let bytes = table.to_bytes();
    let read = EndgameTable::from_bytes(&endgame("KRK"), &bytes).unwrap();
    assert_eq!(read, table);
    assert_eq!(bytes[bytes.len() - 32..], table.sha256());
    assert_eq!(bytes.len(), 8 + 2 + 2 + 3 + 8 + 2 * 462 * 64 + 32);
}

/// All machines and builds make the same bytes: another hash needs another version of the format.
#[test]
fn the_bytes_are_the_same_for_all_time() {
    let hash = table("KRK").sha256().map(|byte| format!("{byte:02x}")).concat();
    insta::assert_snapshot!(hash);
}

#[test]
fn any_byte_that_changed_is_noticed() {
    let bytes = table("KBK").to_bytes();
    let read = |bytes: &[u8]| EndgameTable::from_bytes(&endgame("KBK"), bytes);
    for at in (0..64).chain((64..bytes.len()).step_by(501)).chain(bytes.len() - 32..bytes.len()) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        read(&damaged).unwrap_err();
    }
}

#[test]
fn other_bytes_are_refused_with_the_reason() {
    let bytes = table("KBK").to_bytes();
    let error =
        |name: &str, bytes: &[u8]| EndgameTable::from_bytes(&endgame(name), bytes).unwrap_err();
    let (len, last) = (bytes.len(), bytes.len() - 1);
    let at = |index: usize| {
        let mut damaged = bytes.clone();
        damaged[index] ^= 0x40;
        damaged
    };
    assert_eq!(error("KBK", &[]), TableBytesError::NotATable);
    assert_eq!(error("KBK", b"SQLite format 3\0"), TableBytesError::NotATable);
    assert_eq!(error("KBK", &bytes[..9]), TableBytesError::NotATable);
    assert_eq!(error("KBK", &at(8)), TableBytesError::Version { found: 0x41 });
    assert_eq!(error("KNK", &bytes), TableBytesError::Endgame { asked: "KNK".to_owned() });
    let cut = TableBytesError::Length { found: last, expected: len };
    assert_eq!(error("KBK", &bytes[..last]), cut);
    assert_eq!(error("KBK", &bytes[..12]), TableBytesError::Length { found: 12, expected: len });
    let longer = [bytes.as_slice(), &[0]].concat();
    assert_eq!(error("KBK", &longer), TableBytesError::Length { found: len + 1, expected: len });
    assert_eq!(error("KBK", &at(5_000)), TableBytesError::Hash);
    assert_eq!(error("KBK", &at(last)), TableBytesError::Hash);
    assert!(error("KBK", &at(5_000)).to_string().contains("hash"));
}
