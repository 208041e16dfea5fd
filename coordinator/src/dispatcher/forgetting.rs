//! Forgets what ended long ago, a little at a time (invariant 9).

use std::time::{Duration, Instant};

use spelrum_tournament::LeaseId;

use super::Dispatcher;
use crate::store::StoreError;
use crate::store::contract::{Store, WriteTransaction as _};

/// The latest leases, which are kept however they ended.
const LEASES_KEPT: u64 = 100_000;

/// The time between two pieces, while there are more: a fiftieth of the time at the most.
const PIECES_INTERVAL: Duration = Duration::from_millis(100);

/// The time from the end of all leases to looking at the first again.
const ROUNDS_INTERVAL: Duration = Duration::from_secs(60);

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forgetting {
    after: LeaseId,
    due: Instant,
}

impl Forgetting {
    pub(super) fn new() -> Self {
        Self { after: LeaseId(0), due: Instant::now() + PIECES_INTERVAL }
    }

    /// When the next piece is due.
    pub(super) fn due(&self) -> Instant {
        self.due
    }
}

impl<S: Store> Dispatcher<S> {
    /// Looks at the next leases. What fails is tried again in the next round.
    ///
    /// # Errors
    /// [`StoreError::TakenOver`] if another coordinator has the database now.
    pub(super) async fn forget(&mut self) -> Result<(), StoreError> {
        let looked_at = match self.forget_some().await {
            Err(error @ StoreError::TakenOver { .. }) => return Err(error),
            Err(error) => {
                tracing::warn!("failed to forget old leases: {error}; {}", error.remedy());
                None
            }
            Ok(looked_at) => looked_at,
        };
        let interval = if looked_at.is_some() { PIECES_INTERVAL } else { ROUNDS_INTERVAL };
        self.forgetting =
            Forgetting { after: looked_at.unwrap_or(LeaseId(0)), due: Instant::now() + interval };
        Ok(())
    }

    async fn forget_some(&mut self) -> Result<Option<LeaseId>, StoreError> {
        let mut transaction = self.store.begin().await?;
        let looked_at = transaction.forget_leases(self.forgetting.after, LEASES_KEPT).await?;
        transaction.commit().await?;
        Ok(looked_at)
    }
}
