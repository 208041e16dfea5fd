//! Why a training ends without a network.

/// Why nothing came of a training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrainError {
    /// The host no longer wants it.
    #[error("the training was aborted")]
    Aborted,
    /// Weights grew beyond what a float can hold.
    #[error(
        "network {network} diverged in epoch {epoch}: its weights are no longer finite; choose a \
         smaller `rate`"
    )]
    Diverged {
        /// Which network, from 0.
        network: u32,
        /// In which epoch, from 1.
        epoch: u32,
    },
    /// The ending has fewer positions that white wins than were asked for.
    #[error(
        "network {network} needs {needed} positions that white wins, and the ending has {found}; ask \
         for fewer `examples`, or fewer for `validation`"
    )]
    TooFewPositions {
        /// Which network, from 0.
        network: u32,
        /// How many are needed.
        needed: u64,
        /// How many there are, as they would be drawn.
        found: u64,
    },
}
