//! The coordinator: keeps experiments and results in one SQLite file, owns the scheduler, and
//! serves workers and clients over gRPC.

pub mod store;

use std::path::PathBuf;
use std::time::Duration;

use store::Readers;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// What a coordinator needs to know.
#[derive(Clone, Debug)]
pub struct Config {
    /// The results database.
    pub db: PathBuf,
    /// How often workers say that they live. Leases live six times as long without.
    pub heartbeat_interval: Duration,
}

/// A coordinator that has its database open but does not serve yet.
#[derive(Debug)]
pub struct Coordinator {}

/// Why a coordinator cannot start or had to stop.
#[derive(Debug, thiserror::Error)]
#[error("scaffold")]
pub enum CoordinatorError {}

impl Coordinator {
    /// Opens the database.
    ///
    /// # Errors
    /// If the database cannot be had; nothing is changed then.
    pub async fn open(_config: Config) -> Result<Self, CoordinatorError> {
        todo!("scaffold")
    }

    /// Read-only connections to its database.
    #[must_use]
    pub fn readers(&self) -> Readers {
        todo!("scaffold")
    }

    /// Serves until `shutdown`; then finishes the requests under way, and returns.
    ///
    /// # Errors
    /// If another coordinator took the database over.
    pub async fn serve(
        self,
        _listener: TcpListener,
        _shutdown: CancellationToken,
    ) -> Result<(), CoordinatorError> {
        todo!("scaffold")
    }
}
