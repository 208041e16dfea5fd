//! The worker: leases games from a coordinator, plays them on its slots, reports them.

use std::num::NonZeroU32;

use tokio_util::sync::CancellationToken;
use tonic::transport::Endpoint;

/// What a worker needs to know.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where the coordinator is.
    pub coordinator: Endpoint,
    /// Its name for people; the host's name by default.
    pub name: Option<String>,
    /// Playing threads.
    pub slots: NonZeroU32,
    /// Whether to end when the coordinator has nothing left to do, instead of waiting for more.
    pub exit_when_done: bool,
}

/// How a worker is told to end.
#[derive(Clone, Debug)]
pub struct Shutdown {
    /// Finish the games in progress, report them, hand the rest back, end.
    pub finish: CancellationToken,
    /// Stop now: abandon the games in progress, report what is finished if that works at once.
    pub now: CancellationToken,
}

/// What a worker did, once it has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Results the coordinator acknowledged.
    pub acknowledged: u64,
    /// Games that could not be played.
    pub failed: u64,
}

/// Why a worker had to give up.
#[derive(Debug, thiserror::Error)]
#[error("scaffold")]
pub enum WorkerError {}

/// Works until told to end. A coordinator that cannot be reached is tried again with jittered
/// backoff, for ever; one of another protocol or engine revision is an error.
///
/// # Errors
/// See [`WorkerError`].
pub async fn run(_config: Config, _shutdown: Shutdown) -> Result<Summary, WorkerError> {
    todo!("scaffold")
}
