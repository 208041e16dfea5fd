//! Experiments that leave as a whole.

use crate::limits::EXPORT_EXPERIMENTS_MAX;
use crate::wire_error::at_most;
use crate::{Fault, WireError, v1};

/// Which experiments are asked for.
///
/// # Errors
/// If there is none, or there are too many.
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
