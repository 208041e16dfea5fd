//! What the tests of several crates share. Nothing else depends on it.

#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

#[cfg(feature = "certificates")]
mod certificates;
mod generated;
#[cfg(feature = "serving")]
mod hand_worker;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "serving")]
mod serving;
mod sources;
mod tools;

#[cfg(feature = "certificates")]
pub use certificates::{Authority, Validity};
pub use generated::{assert_generated, cell_text, table};
#[cfg(feature = "serving")]
pub use hand_worker::{HandWorker, failed_result, game_mut, hello};
#[cfg(feature = "postgres")]
pub use postgres::PostgresServer;
#[cfg(feature = "serving")]
pub use serving::{DEADLINE, Served, Site, eventually, query, quick_sweep, reason, submission};
pub use sources::{Files, cycles};
pub use tools::{SKIP_NOTHING, Tools, path_of, skip};
