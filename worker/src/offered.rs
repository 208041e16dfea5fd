//! The external engines of this worker, whether they play on its threads or in a process of its own.

use std::sync::Arc;

use spelrum_model::engines::FailedBuild;

use crate::engines::{Engines, EnginesNow};
use crate::playing::Supervisor;

/// The available external engines, which change.
#[derive(Clone, Debug)]
pub(crate) enum Offered {
    Threads(Option<Engines>),
    Process(Arc<Supervisor>),
}

impl Offered {
    pub(crate) fn current(&self) -> EnginesNow {
        match self {
            Self::Threads(engines) => engines.as_ref().map(Engines::now).unwrap_or_default(),
            Self::Process(process) => process.offered().borrow().clone().unwrap_or_default(),
        }
    }

    /// Has engines obtained, which the coordinator asks for.
    pub(crate) fn want_builds(&self, names: Vec<String>) {
        match self {
            _ if names.is_empty() => {}
            Self::Threads(engines) => {
                engines.iter().for_each(|engines| engines.want_builds(names.clone()));
            }
            Self::Process(process) => process.want_builds(names),
        }
    }

    /// Records that a program could not be fetched.
    pub(crate) fn record_unfetched(&self, failed: FailedBuild) {
        match self {
            Self::Threads(engines) => {
                engines.iter().for_each(|engines| engines.record_unfetched(failed.clone()));
            }
            Self::Process(process) => process.record_unfetched(failed),
        }
    }
}
