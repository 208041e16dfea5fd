//! Exports of whole experiments.

use crate::limits::EXPORT_EXPERIMENTS_MAX;
use crate::wire_error::at_most;
use crate::{Fault, WireError, v1};

/// The experiments in a request for an export.
///
/// # Errors
/// If there are none, or too many.
pub fn exported_experiments(
    request: v1::ExportExperimentsRequest,
) -> Result<Vec<String>, WireError> {
    let v1::ExportExperimentsRequest { experiments } = request;
    at_most("experiments", experiments.len(), EXPORT_EXPERIMENTS_MAX)?;
    if experiments.is_empty() {
        return Err(WireError::new("experiments", Fault::Missing));
    }
    Ok(experiments)
}
