//! What a recount finds.

use std::fmt;

/// A rollup row that differs from the recount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The rollup's table.
    pub table: &'static str,
    /// The row's key.
    pub key: String,
    /// The stored values, column by column; `None` where the table has no row.
    pub stored: Option<String>,
    /// The recounted values; `None` where there should be no row.
    pub counted: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let none = "no row";
        write!(
            f,
            "{} {}: stored {}, counted {}",
            self.table,
            self.key,
            self.stored.as_deref().unwrap_or(none),
            self.counted.as_deref().unwrap_or(none)
        )
    }
}

/// Maximum number of differences listed for each table.
pub(crate) const DIFFERENCES_MAX: i64 = 100;
