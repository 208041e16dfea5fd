//! Whether a coordinator works, for whoever starts it again when it does not.

use spelrum_proto::{Reason, Refusal};

use crate::dispatcher::{Dispatch, Steering};

/// Feels whether a coordinator that serves does its work; cheap to clone.
#[derive(Clone)]
pub struct Pulse {
    dispatch: Dispatch,
}

impl Pulse {
    pub(crate) fn of(dispatch: Dispatch) -> Self {
        Self { dispatch }
    }

    /// Comes back when the dispatcher has had a turn and a transaction of the database; one that hangs
    /// answers nobody.
    ///
    /// # Errors
    /// If the transaction failed, or the coordinator is ending.
    pub async fn beat(&self) -> Result<(), Refusal> {
        // No experiment is called nothing: what is asked costs a transaction and changes nothing.
        match self.dispatch.steer(String::new(), Steering::Priority(0)).await {
            Err(refusal) if refusal.reason != Reason::UnknownExperiment => Err(refusal),
            Ok(_) | Err(_) => Ok(()),
        }
    }
}
