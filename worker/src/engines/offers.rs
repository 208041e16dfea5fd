//! The engines of this machine that can play now.
//!
//! An engine that does not start is no longer offered, so that its games go to other machines, and is retried
//! at growing intervals.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use spelrum_model::engines::{EngineIdentity, OfferedEngine};
use tokio::sync::Notify;

/// Wait before the first retry of an engine that did not start; doubles each time.
const TRIED_AGAIN_AFTER: Duration = Duration::from_secs(5);
/// The most doublings: up to five minutes and a third.
const DOUBLINGS_MAX: u32 = 6;

/// The engines and their availability.
#[derive(Debug)]
pub(super) struct Offers {
    engines: Mutex<Vec<Offer>>,
    changed: Notify,
}

#[derive(Debug)]
struct Offer {
    name: String,
    /// Its identity at the last start; `None` if it never started.
    engine: Option<OfferedEngine>,
    /// When it is retried, if it is not offered.
    away_until: Option<Instant>,
    /// The number of failed starts in a row.
    failures: u32,
    /// The build that was tried last, if known.
    tried: Option<[u8; 32]>,
}

impl Offers {
    /// From engines that were tried; those that did not start will be retried.
    pub(super) fn new(tried: impl IntoIterator<Item = (String, Option<OfferedEngine>)>) -> Self {
        let offer = |(name, engine): (String, Option<OfferedEngine>)| {
            let mut offer = Offer {
                name,
                tried: engine.as_ref().map(|engine| engine.build),
                engine,
                away_until: None,
                failures: 0,
            };
            if offer.engine.is_none() {
                offer.withdraw();
            }
            offer
        };
        let engines = tried.into_iter().map(offer).collect();
        Self { engines: Mutex::new(engines), changed: Notify::new() }
    }

    /// Offers a new engine.
    pub(super) fn add(&self, engine: OfferedEngine) {
        let (name, tried) = (engine.engine.clone(), Some(engine.build));
        let offer = Offer { name, engine: Some(engine), away_until: None, failures: 0, tried };
        self.lock().push(offer);
        self.announce();
    }

    /// Ends the offer of an engine.
    pub(super) fn remove(&self, name: &str) {
        self.lock().retain(|offer| offer.name != name);
        self.announce();
    }

    /// Reports that what this machine has changed.
    pub(super) fn announce(&self) {
        self.changed.notify_one();
    }

    /// The available engines.
    pub(super) fn offered(&self) -> Vec<OfferedEngine> {
        let present = |offer: &Offer| offer.engine.clone().filter(|_| offer.away_until.is_none());
        self.lock().iter().filter_map(present).collect()
    }

    /// Whether an engine is unavailable.
    pub(super) fn is_away(&self, name: &str) -> bool {
        self.lock().iter().any(|offer| offer.name == name && offer.away_until.is_some())
    }

    /// Records a failed start. Returns the wait until the retry, unless that is known already.
    pub(super) fn withdraw(&self, name: &str) -> Option<Duration> {
        let mut engines = self.lock();
        let offer = engines.iter_mut().find(|offer| offer.name == name)?;
        // Several games may find out at the same time.
        let is_news = offer.away_until.is_none_or(|until| until <= Instant::now());
        let wait = is_news.then(|| offer.withdraw())?;
        self.changed.notify_one();
        Some(wait)
    }

    /// Records a start. Returns whether it is available again, or a different program.
    pub(super) fn restore(&self, name: &str, engine: OfferedEngine) -> bool {
        let mut engines = self.lock();
        let Some(offer) = engines.iter_mut().find(|offer| offer.name == name) else { return false };
        let is_news = offer.away_until.take().is_some() || offer.engine.as_ref() != Some(&engine);
        offer.engine = Some(engine);
        if is_news {
            self.changed.notify_one();
        }
        is_news
    }

    /// Records the program and build that began a game. Returns whether they differ from the offer.
    pub(super) fn record_start(
        &self,
        name: &str,
        identity: &EngineIdentity,
        build: [u8; 32],
    ) -> bool {
        let mut engines = self.lock();
        let Some(offer) = engines.iter_mut().find(|offer| offer.name == name) else { return false };
        offer.failures = 0;
        let Some(engine) = &mut offer.engine else { return false };
        let is_another = engine.identity != *identity || engine.build != build;
        if is_another {
            engine.identity = identity.clone();
            engine.build = build;
            offer.tried = Some(build);
            self.changed.notify_one();
        }
        is_another
    }

    /// Records the present build of an engine. Returns whether it was not tried yet.
    pub(super) fn notice(&self, name: &str, build: [u8; 32]) -> bool {
        let mut engines = self.lock();
        let Some(offer) = engines.iter_mut().find(|offer| offer.name == name) else { return false };
        let was_tried = offer.tried.replace(build) == Some(build);
        if !was_tried {
            // Earlier failures were those of another program.
            offer.failures = 0;
            offer.away_until = offer.away_until.map(|until| until.min(Instant::now()));
        }
        !was_tried
    }

    /// The engines due for a retry.
    pub(super) fn due(&self) -> Vec<String> {
        let now = Instant::now();
        let is_due = |offer: &&Offer| offer.away_until.is_some_and(|until| until <= now);
        self.lock().iter().filter(is_due).map(|offer| offer.name.clone()).collect()
    }

    /// The time of the next retry.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.lock().iter().filter_map(|offer| offer.away_until).min()
    }

    /// Waits until an offer, or the next retry, has changed.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Offer>> {
        self.engines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Offer {
    fn withdraw(&mut self) -> Duration {
        let wait = TRIED_AGAIN_AFTER * (1 << self.failures.min(DOUBLINGS_MAX));
        self.failures += 1;
        self.away_until = Some(Instant::now() + wait);
        wait
    }
}

#[cfg(test)]
mod tests {
    use spelrum_engine::Protocol;

    use super::*;

    fn engine(name: &str, version: &str) -> OfferedEngine {
        let identity =
            EngineIdentity { name: version.to_owned(), author: String::new(), sha256: [0; 32] };
        OfferedEngine {
            engine: name.to_owned(),
            protocol: Protocol::Uci,
            at_once: 1,
            identity,
            capabilities: None,
            build: [0; 32],
        }
    }

    fn offers() -> Offers {
        let fish = engine("fish", "1");
        Offers::new([("fish".to_owned(), Some(fish)), ("bird".to_owned(), None)])
    }

    #[test]
    fn what_does_not_start_is_offered_no_more_until_it_does() {
        let offers = offers();
        assert_eq!(offers.offered(), [engine("fish", "1")]);
        assert!(offers.is_away("bird") && !offers.is_away("fish"));
        assert_eq!(offers.withdraw("fish"), Some(TRIED_AGAIN_AFTER));
        assert_eq!(offers.withdraw("fish"), None, "one of its games has said so");
        assert!(offers.offered().is_empty() && offers.due().is_empty());
        assert!(offers.restore("bird", engine("bird", "1")));
        assert!(offers.restore("fish", engine("fish", "1")));
        assert!(!offers.restore("fish", engine("fish", "1")), "that is known");
        assert_eq!(offers.offered(), [engine("fish", "1"), engine("bird", "1")]);
        assert_eq!(offers.next_due(), None);
    }

    #[test]
    fn it_is_left_alone_ever_longer_until_it_plays() {
        let offers = offers();
        let mut waits = Vec::new();
        for _ in 0..9 {
            waits.extend(offers.withdraw("fish").map(|wait| wait.as_secs()));
            offers.restore("fish", engine("fish", "1"));
        }
        assert_eq!(waits, [5, 10, 20, 40, 80, 160, 320, 320, 320]);
        assert!(!offers.record_start("fish", &engine("fish", "1").identity, [0; 32]));
        assert_eq!(offers.withdraw("fish"), Some(TRIED_AGAIN_AFTER));
    }

    #[test]
    fn a_changed_file_is_tried_at_once() {
        let offers = offers();
        assert!(!offers.notice("fish", [0; 32]), "it is the one that is offered");
        assert!(offers.notice("fish", [1; 32]));
        assert!(!offers.notice("fish", [1; 32]), "once");
        offers.withdraw("fish");
        offers.withdraw("fish");
        assert!(offers.notice("fish", [2; 32]));
        assert_eq!(offers.due(), ["fish"]);
        assert_eq!(offers.withdraw("fish"), Some(TRIED_AGAIN_AFTER));
        assert!(!offers.notice("whale", [2; 32]));
        offers.record_start("fish", &engine("fish", "1").identity, [3; 32]);
        assert!(!offers.notice("fish", [3; 32]), "a game has tried it");
    }

    #[test]
    fn another_program_is_reported() {
        let offers = offers();
        assert!(offers.record_start("fish", &engine("fish", "2").identity, [0; 32]));
        assert_eq!(offers.offered(), [engine("fish", "2")]);
        // Another net under the same program.
        assert!(offers.record_start("fish", &engine("fish", "2").identity, [1; 32]));
        assert_eq!(offers.offered()[0].build, [1; 32]);
        assert!(offers.restore("fish", engine("fish", "3")));
    }
}
