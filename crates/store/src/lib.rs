//! The store: a results database, which is one SQLite file, and all the SQL of the project.
//!
//! A [`Writer`] holds the only writing connection; the coordinator's dispatcher drives it, one [`Transaction`] at a
//! time, as [`contract`] defines. [`Readers`] answer all other queries: a [`Question`] asks a file and a coordinator's
//! database alike. The schema is in `migrations/`, its reference in `docs/sql.md`.
//!
//! The store depends on the engine and on the types of experiments and results. It must stay independent of the wire
//! (gRPC, HTTP), the scheduler's decisions, and the presentation of answers.
//!
//! ```
//! use spelrum_store::Writer;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let writer = Writer::open(&folder.path().join("results.db")).await?;
//! assert!(writer.readers().current_experiments().await?.0.is_empty());
//! writer.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! | module | subject |
//! |---|---|
//! | `schema` | the schema, and values as its columns |
//! | `open` | opening a database, and keeping it open safely |
//! | `write` | tables: their rows and the statements that change them |
//! | `read` | viewers' queries |
//! | `query` | the users' own queries |
//! | `transfer` | copies, exports, imports, rescues |
//! | [`shared`] | a database that several coordinators share |
//! | `check` | whether stored data is as it was written |
//! | [`contract`], `sqlite` | the store's interface for the dispatcher, and its implementation |
//! | [`decisions`] | what every store decides alike |

mod check;
mod clock;
pub mod contract;
pub mod decisions;
mod error;
#[cfg(test)]
mod instruction_counts;
mod open;
mod query;
mod read;
mod schema;
pub mod shared;
mod sqlite;
mod system;
mod transfer;
mod write;

pub use spelrum_answers::{Removing, SqlValue};

pub use check::difference::Difference;
pub use check::rot::Compared;
pub use clock::unix_now_us;
pub use error::StoreError;
pub use open::alarm::Alarm;
pub use open::checkpoint::{
    Checkpoint, Checkpointer, WAL_ALARM_BYTES, WAL_CHECKPOINT_BYTES, WAL_RESTART_BYTES,
};
pub use open::lock::{is_held, read_lock_text};
pub use open::log_loss::{Loss, accept_loss};
pub use open::writer::Writer;
pub use query::queries::{QueryRows, Table};
pub use read::answers::{EachQuestion, Question, Unanswered, each_question};
pub use read::cells::REPORT_ROWS_MAX;
pub use read::networks::StoredNetwork;
pub use read::readers::{QUERY_SECONDS_MAX, Readers};
pub use read::removable::{GAME_BYTES, MOVE_BYTES};
pub use read::stored_sweeps::StoredSweep;
pub use system::system_remedy;
pub use transfer::backup::{BackedUp, BackupError, Copied};
pub use transfer::export::{Received, export_from_pieces};
pub use transfer::import::{ImportError, ImportProgress, Imported, Refereed};
pub use transfer::salvage::RESCUE_COMMAND;
pub use write::barred_workers::StoppedForForfeits;
pub use write::courses::OpenCourse;
pub use write::exclusion::{Excludable, TakenOut};
pub use write::experiments::{Found, OtherRevision};
pub use write::leased_cells::LeasedCell;
pub use write::refused_results::Refused;
pub use write::removal::Removed;
pub use write::reported_games::GameFacts;
pub use write::retry::Retry;
pub use write::scheduling::LeaseHolder;
pub use write::submit::{Preview, Submitted, Sweep};
pub use write::transaction::Transaction;
pub use write::verifications::{Deviation, ToVerify};
pub use write::workers::{WorkerIntroduction, WorkerProof};
