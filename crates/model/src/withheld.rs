//! Reasons why a worker gets no games.

use crate::demands::Unmet;

/// Why a worker gets no games although some wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// Somebody has excluded it.
    Excluded,
    /// It fails much more than others.
    Quarantined {
        /// How many of its last games failed and were then played by others.
        faults: u64,
        /// Of so many.
        games: u64,
        /// For how much longer, in milliseconds.
        left_ms: u64,
    },
    /// Games with this engine wait, which it forfeits and others do not.
    Barred(Barred),
    /// Nothing waits but what asks for more than it has: what it lacks, not engines, each once.
    Unmet(Vec<Unmet>),
}

/// An engine that a worker gets no games of, since it forfeits them and others do not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Barred {
    /// The engine, by its name in sweeps.
    pub engine: String,
    /// Games that it had forfeited at the worker, when that was seen.
    pub forfeits: u64,
    /// Of so many.
    pub games: u64,
    /// The same of all other workers.
    pub of_others: [u64; 2],
}
