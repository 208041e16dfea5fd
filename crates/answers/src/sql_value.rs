//! Values of a query's result, as stored in a database.

/// A value in a query's result.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlValue {
    /// NULL.
    Null,
    /// An integer.
    Integer(i64),
    /// A real.
    Real(f64),
    /// A text.
    Text(String),
    /// A blob.
    Blob(Vec<u8>),
}
