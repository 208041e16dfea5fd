//! The alarm: raised by any user of the database that finds it damaged; nothing is acknowledged from then on.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use crate::error::{StoreError, is_damage, primary_code};

/// The alarm of an open database; cheap to clone, and shared by its writer, checkpoints and readers.
#[derive(Clone, Debug)]
pub struct Alarm(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    /// The first damage found.
    found: OnceLock<String>,
    raised: CancellationToken,
}

impl Alarm {
    pub(crate) fn new(path: &Path) -> Self {
        let (found, raised) = (OnceLock::new(), CancellationToken::new());
        Self(Arc::new(Inner { path: path.to_owned(), found, raised }))
    }

    /// Raises the alarm.
    pub(crate) fn raise(&self, found: String) {
        if self.0.found.set(found).is_ok() {
            self.0.raised.cancel();
        }
    }

    /// Raises the alarm if an error means that the database is damaged.
    pub fn raise_if_damage(&self, error: &StoreError) {
        if error.is_damage() {
            self.raise(error.reason());
        }
    }

    /// The same for a SQLite error.
    pub(crate) fn raise_if_sqlite_damage(&self, error: &sqlx::Error) {
        if is_damage(primary_code(error)) {
            self.raise(error.to_string());
        }
    }

    /// # Errors
    /// [`StoreError::Damaged`] once the alarm was raised.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if self.0.raised.is_cancelled() { Err(self.error()) } else { Ok(()) }
    }

    /// Waits until the alarm is raised.
    pub async fn raised(&self) -> StoreError {
        self.0.raised.cancelled().await;
        self.error()
    }

    fn error(&self) -> StoreError {
        let problem = self.0.found.get().cloned().unwrap_or_default();
        StoreError::Damaged { path: self.0.path.clone(), problem }
    }
}
