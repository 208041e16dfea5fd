//! Digests of rows, which `spelrum check` uses to find values that a disk has changed.
//!
//! A row's digest is XXH3 (64 bits) of its values as SQLite returns them, in the order of the table's columns: for
//! each value that is not NULL a tag, which is XXH3 of `table.column`, its type, and the value. A column that a later
//! schema adds with NULL leaves the digests of older rows unchanged. Digests of several rows are combined by exclusive
//! or, so rows can come in any order, and one row's digest can be removed again. 53 bits of a digest are stored.

use twox_hash::XxHash3_64;

/// The tables of a game's record. Each has the game's id in the column `game_id`, and is read in the order of that
/// column without sorting.
pub(crate) const GAME_TABLES: [&str; 7] =
    ["games", "moves", "move_notes", "game_sides", "game_depths", "game_engines", "forfeits"];

/// Columns of `games` outside the record: they follow from the record and from where the cell ends.
const LEFT_OUT: [&str; 2] = ["counted", "not_counted_reason"];

/// The tags of a table's columns; `None` for a column that is left out.
#[derive(Clone, Debug)]
pub(crate) struct Tags(Vec<Option<u32>>);

impl Tags {
    /// The tags of these columns, in their order in the table.
    pub(crate) fn new<'n>(table: &str, columns: impl IntoIterator<Item = &'n str>) -> Self {
        let tag = |column: &str| {
            let is_left_out = table == "games" && LEFT_OUT.contains(&column);
            let hash = XxHash3_64::oneshot(format!("{table}.{column}").as_bytes());
            #[expect(clippy::cast_possible_truncation, reason = "32 bits tell columns apart")]
            (!is_left_out).then_some(hash as u32)
        };
        Self(columns.into_iter().map(tag).collect())
    }

    /// The number of columns.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The tag of a column by its place.
    pub(crate) fn get(&self, column: usize) -> Option<u32> {
        self.0.get(column).copied().flatten()
    }
}

/// Encodes the values of one row after the other.
#[derive(Debug, Default)]
pub(crate) struct RowEncoder {
    bytes: Vec<u8>,
}

impl RowEncoder {
    pub(crate) fn integer(&mut self, tag: u32, value: i64) {
        self.begin(tag, 1, value.to_le_bytes());
    }

    pub(crate) fn real(&mut self, tag: u32, value: f64) {
        // SQLite stores a zero without its sign.
        self.begin(tag, 2, (value + 0.0).to_bits().to_le_bytes());
    }

    pub(crate) fn text(&mut self, tag: u32, value: &[u8]) {
        self.begin(tag, 3, (value.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(value);
    }

    pub(crate) fn blob(&mut self, tag: u32, value: &[u8]) {
        self.begin(tag, 4, (value.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(value);
    }

    /// Returns the row's digest and begins the next row.
    pub(crate) fn finish(&mut self) -> u64 {
        let digest = XxHash3_64::oneshot(&self.bytes);
        self.bytes.clear();
        digest
    }

    /// Writes a tag, a type, and a number or a length; at once, since this is done for every value that is checked.
    fn begin(&mut self, tag: u32, kind: u8, number: [u8; 8]) {
        let mut bytes = [kind; 13];
        bytes[..4].copy_from_slice(&tag.to_le_bytes());
        bytes[5..].copy_from_slice(&number);
        self.bytes.extend_from_slice(&bytes);
    }
}

/// A value stored in a column.
pub(crate) trait Stored {
    /// Encodes the value as SQLite will return it.
    fn encode_into(&self, tag: u32, into: &mut RowEncoder);
}

macro_rules! stored_as_integer {
    ($($stored:ty),*) => {
        $(impl Stored for $stored {
            fn encode_into(&self, tag: u32, into: &mut RowEncoder) {
                into.integer(tag, i64::from(*self));
            }
        })*
    };
}

stored_as_integer!(i64, i32, u32, u8, bool);

impl Stored for f64 {
    fn encode_into(&self, tag: u32, into: &mut RowEncoder) {
        into.real(tag, *self);
    }
}

impl Stored for &str {
    fn encode_into(&self, tag: u32, into: &mut RowEncoder) {
        into.text(tag, self.as_bytes());
    }
}

impl Stored for String {
    fn encode_into(&self, tag: u32, into: &mut RowEncoder) {
        into.text(tag, self.as_bytes());
    }
}

impl<T: Stored> Stored for Option<T> {
    fn encode_into(&self, tag: u32, into: &mut RowEncoder) {
        if let Some(value) = self {
            value.encode_into(tag, into);
        }
    }
}

/// The stored part of a digest: below 2^53.
pub(crate) fn stored(digest: u64) -> i64 {
    (digest >> 11).cast_signed()
}
