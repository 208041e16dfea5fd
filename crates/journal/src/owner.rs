//! A coordinator, as the others see it.

/// A coordinator, as the others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its name, for people.
    pub name: String,
    /// Where the others connect to it: `host:port`.
    pub address: String,
}
