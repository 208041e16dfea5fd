//! The gRPC services: they check messages, ask the dispatcher or the readers, and answer.

mod builds;
mod comparison_parts;
mod experiments;
mod exports;
mod overview_parts;
mod page_token;
mod pages;
mod phase_parts;
mod rating_parts;
mod referee;
mod report_parts;
mod results;
mod verifications;
mod work;

use std::time::Duration;

use spelrum_proto::{Reason, Refusal};

pub(crate) use builds::Planner;
pub(crate) use experiments::ExperimentsService;
pub(crate) use referee::Referee;
pub(crate) use results::ResultsService;
pub(crate) use work::{StartMark, WorkService};

use spelrum_store::StoreError;

/// When a caller that got no place should retry.
const BUSY_RETRY_AFTER: Duration = Duration::from_secs(1);

/// When to retry a failed read.
const READ_RETRY_AFTER: Duration = Duration::from_secs(1);

/// The refusal when the database could not be read.
fn reading_failed(error: StoreError) -> Refusal {
    tracing::warn!("{error}; {}", error.remedy());
    if error.is_transient() {
        let retry_after = Some(READ_RETRY_AFTER);
        Refusal { retry_after, ..Refusal::new(Reason::Busy, error.to_string(), error.remedy()) }
    } else {
        Refusal::new(Reason::Internal, error.to_string(), error.remedy())
    }
}
