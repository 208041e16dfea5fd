//! Errors of training.

/// The reason for which a training has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrainError {
    /// The host aborted it.
    #[error("the training was aborted")]
    Aborted,
    /// Weights grew beyond what a float can hold.
    #[error(
        "network {network} diverged in epoch {epoch}: its weights are no longer finite; choose a \
         smaller `rate`"
    )]
    Diverged {
        /// The index of the network.
        network: u32,
        /// The number of the epoch, from 1.
        epoch: u32,
    },
    /// The ending has fewer positions that white wins than requested.
    #[error(
        "network {network} needs {needed} positions that white wins, and there are {found}; ask \
         for fewer `examples`, or fewer for `validation`"
    )]
    TooFewPositions {
        /// The index of the network.
        network: u32,
        /// The number needed.
        needed: u64,
        /// The number available, counted as they would be drawn.
        found: u64,
    },
}
