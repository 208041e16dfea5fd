//! Reasons why a worker gets no games.

use crate::demands::Unmet;

/// Why a worker gets no games although some are waiting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// The worker was excluded by hand.
    Excluded,
    /// The worker fails far more often than others.
    Quarantined {
        /// Its recent games that failed and then succeeded on other workers.
        faults: u64,
        /// The number of recent games counted.
        games: u64,
        /// The remaining quarantine, in milliseconds.
        left_ms: u64,
    },
    /// Games with this engine wait, which forfeits on this worker and not on others.
    Barred(Barred),
    /// All waiting games demand more than the worker has: its unmet demands except engines, each once.
    Unmet(Vec<Unmet>),
}

/// An engine whose games are withheld from a worker, because it forfeits there and not elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Barred {
    /// The engine, by its name in sweeps.
    pub engine: String,
    /// Forfeits on the worker when this was detected.
    pub forfeits: u64,
    /// The number of games counted.
    pub games: u64,
    /// Forfeits and games on all other workers.
    pub of_others: [u64; 2],
}
