//! Workers that were asked to measure their speed at a game, since games wait for that.

use std::collections::BTreeMap;

use spelrum_model::WorkerId;

use super::api::Time;

/// A worker that reports no speed is not asked again before this: meanwhile it gets other games.
const APART_MS: u64 = 30_000;

/// Workers that were asked, and when. Holds exactly those that must not be asked again yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Measuring {
    asked: BTreeMap<(WorkerId, String), Time>,
}

impl Measuring {
    /// Decides whether to ask a worker for its speed at a game now, and records it.
    pub(super) fn ask(&mut self, worker: WorkerId, game: &str, now: Time) -> bool {
        self.asked.retain(|_, at| now.0 < at.0 + APART_MS);
        let key = (worker, game.to_owned());
        let is_asked = !self.asked.contains_key(&key);
        self.asked.entry(key).or_insert(now);
        is_asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_asked_again_at_once() {
        let mut measuring = Measuring::default();
        let mut ask = |worker, game, now| measuring.ask(WorkerId(worker), game, Time(now));
        assert!(ask(1, "chess", 5) && ask(1, "nim", 6) && ask(2, "chess", 7));
        assert!(!ask(1, "chess", 30_004) && ask(1, "chess", 30_005) && !ask(2, "chess", 30_006));
        assert_eq!(measuring.asked.len(), 2);
        assert!(measuring.ask(WorkerId(9), "chess", Time(90_000)));
        assert_eq!(measuring.asked.len(), 1);
    }
}
