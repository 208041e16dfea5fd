//! The gRPC services, for workers and for those who push programs: they check messages, ask the dispatcher or the readers, and answer.

mod builds;
mod new_sweep;
mod programs;
mod referee;
mod work;

use std::time::Duration;

use spelrum_proto::{Reason, Refusal};

pub(crate) use builds::{Planned, Planner, bad_sweep};
pub(crate) use programs::ProgramsService;
pub(crate) use referee::Referee;
pub(crate) use work::{StartMark, WorkService, canonical_uuid, millis};

use spelrum_store::StoreError;

/// When a caller that got no place should retry.
pub(crate) const BUSY_RETRY_AFTER: Duration = Duration::from_secs(1);

/// When to retry a failed read.
const READ_RETRY_AFTER: Duration = Duration::from_secs(1);

/// The refusal when the database could not be read.
pub(crate) fn reading_failed(error: StoreError) -> Refusal {
    tracing::warn!("{error}; {}", error.remedy());
    if error.is_transient() {
        let retry_after = Some(READ_RETRY_AFTER);
        Refusal { retry_after, ..Refusal::new(Reason::Busy, error.to_string(), error.remedy()) }
    } else {
        Refusal::new(Reason::Internal, error.to_string(), error.remedy())
    }
}
