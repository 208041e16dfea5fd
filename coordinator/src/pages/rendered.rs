//! The texts of pages that were just made.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;
use spelrum_proto::Refusal;
use tokio::sync::Semaphore;

use crate::services::BUSY_RETRY_AFTER;

/// How long a page, or a refusal in its place, is shown again.
const LASTS: Duration = Duration::from_secs(1);

/// Addresses whose pages are kept.
const PLACES: NonZeroUsize = NonZeroUsize::new(64).unwrap();

/// Pages that are made at once: each may hold a whole report.
const MAKING_MAX: usize = 2;

/// Pages that are waited for (invariant 9), also by callers that have gone. They hold places that workers need, too.
const WAITING_MAX: usize = 64;

type Made = Result<Arc<str>, Refusal>;

/// A page and of what it was made; its lock is held while it is made, so that others wait for it.
type Page = Arc<tokio::sync::Mutex<Option<(Moment, Made)>>>;

/// When a page was made, and after which change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    at: Instant,
    change: u64,
}

/// Pages by their addresses.
#[derive(Debug)]
pub(super) struct Rendered {
    pages: Mutex<LruCache<String, Page>>,
    making: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl Rendered {
    pub(super) fn new() -> Self {
        let [making, waiting] =
            [MAKING_MAX, WAITING_MAX].map(|places| Arc::new(Semaphore::new(places)));
        Self { pages: Mutex::new(LruCache::new(PLACES)), making, waiting }
    }

    /// The page of this address, made after this change. It is made to its end even if its caller goes away.
    pub(super) async fn get(
        &self,
        address: &str,
        change: u64,
        make: impl Future<Output = Result<String, Refusal>> + Send + 'static,
    ) -> Made {
        let busy = |_| Refusal::busy("too many pages are being made", BUSY_RETRY_AFTER);
        let waits = Arc::clone(&self.waiting).try_acquire_owned().map_err(busy)?;
        let page = {
            let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(pages.get_or_insert(address.to_owned(), Page::default))
        };
        let mut page = page.lock_owned().await;
        if let Some((made, result)) = &*page
            && made.at.elapsed() < LASTS
            && made.change == change
        {
            return result.clone();
        }
        let making = Arc::clone(&self.making);
        let made = tokio::spawn(async move {
            // The semaphore is never closed.
            let _place = making.acquire_owned().await;
            // Also if the caller has gone.
            let _waits = waits;
            let result: Made = make.await.map(Into::into);
            *page = Some((Moment { at: Instant::now(), change }, result.clone()));
            result
        });
        made.await.unwrap_or_else(|panic| resume_unwind(panic.into_panic()))
    }
}
