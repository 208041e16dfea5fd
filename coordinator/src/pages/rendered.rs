//! The texts of pages that were just made.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;
use spelrum_proto::Refusal;

/// How long a page is shown again.
const LASTS: Duration = Duration::from_secs(1);

/// Addresses whose pages are kept.
const PLACES: NonZeroUsize = NonZeroUsize::new(64).unwrap();

/// A page and when it was made; its lock is held while it is made, so that others wait for it.
type Page = Arc<tokio::sync::Mutex<Option<(Instant, Arc<str>)>>>;

/// Pages by their addresses.
#[derive(Debug)]
pub(super) struct Rendered(Mutex<LruCache<String, Page>>);

impl Rendered {
    pub(super) fn new() -> Self {
        Self(Mutex::new(LruCache::new(PLACES)))
    }

    /// The page of this address.
    pub(super) async fn get(
        &self,
        address: &str,
        make: impl Future<Output = Result<String, Refusal>> + Send,
    ) -> Result<Arc<str>, Refusal> {
        let page = {
            let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(pages.get_or_insert(address.to_owned(), Page::default))
        };
        let mut page = page.lock().await;
        if let Some((made, text)) = &*page
            && made.elapsed() < LASTS
        {
            return Ok(Arc::clone(text));
        }
        let text: Arc<str> = make.await?.into();
        *page = Some((Instant::now(), Arc::clone(&text)));
        Ok(text)
    }
}
