//! Measures how fast this machine searches: concurrently on all slots that play timed games, each in its
//! place.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use spelrum_engine::search::STACK_BYTES;
use spelrum_engine::{Host, Rules, Spell, spells};
use spelrum_model::speed::Speed;

use crate::cores::{ExclusiveSlots, Pinning};

/// The number and length of each slot's spells: half a second in all, which covers many periods of a CPU
/// quota, of some milliseconds each.
const SPELLS: u32 = 10;
const SPELL: Duration = Duration::from_millis(50);

/// Measures for a worker.
#[derive(Debug)]
pub(crate) struct Calibrating {
    /// The number of slots that play timed games.
    slots: usize,
    pinning: Arc<Pinning>,
    /// Whether the result is no longer needed.
    is_unwanted: AtomicBool,
}

impl Calibrating {
    /// For a worker with this many slots, some of which may be exclusive.
    pub(crate) fn new(slots: NonZeroU32, quiet: &ExclusiveSlots, pinning: Arc<Pinning>) -> Self {
        let slots = match quiet.count() {
            0 => slots.get(),
            quiet => quiet.min(slots.get()),
        };
        Self { slots: slots as usize, pinning, is_unwanted: AtomicBool::new(false) }
    }

    /// Measures, which takes a little more than half a second. `None` for an unknown game, or if the system
    /// cannot start threads.
    pub(crate) fn measure(&self, game: &str) -> Option<Speed> {
        let rules = match Rules::from_name(game) {
            Ok(rules) => rules,
            Err(error) => {
                tracing::warn!(game, %error, "the speed of a game is wanted that is not known here");
                return None;
            }
        };
        let spells = self.on_all_slots(&rules);
        let speed = spells.and_then(|spells| Speed::measured(game, &spells));
        match &speed {
            Some(Speed { nodes_per_second, noise_permille, slots, .. }) => {
                tracing::info!(game, nodes_per_second, noise_permille, slots, "speed measured");
            }
            None => tracing::warn!(game, "this machine's speed could not be measured"),
        }
        speed
    }

    fn on_all_slots(&self, rules: &Rules) -> Option<Vec<Vec<Spell>>> {
        self.pinning.begin_games(true, None);
        std::thread::scope(|scope| {
            // The first spell of each is dropped: all have begun by its end.
            let start = |slot| {
                let measure = move || {
                    self.pinning.pin_this_thread(slot);
                    spells(
                        rules,
                        SPELLS,
                        SPELL,
                        &Clock { started: Instant::now(), calibrating: self },
                    )
                };
                let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
                thread.name(format!("speed {slot}")).spawn_scoped(scope, measure)
            };
            let threads: Vec<_> = (0..self.slots).map(start).collect();
            threads.into_iter().map(|thread| thread.ok()?.join().ok()).collect()
        })
    }

    /// The result is no longer needed.
    pub(crate) fn end(&self) {
        self.is_unwanted.store(true, Ordering::Relaxed);
    }
}

/// Measures how fast this machine searches a game, as a worker with these slots would; `None` if the system
/// cannot start threads.
#[must_use]
pub fn measured_speed(rules: &Rules, slots: NonZeroU32, quiet: &ExclusiveSlots) -> Option<Speed> {
    let pinning = Arc::new(Pinning::new(quiet.clone()));
    let spells = Calibrating::new(slots, quiet, pinning).on_all_slots(rules)?;
    Speed::measured(rules.name(), &spells)
}

struct Clock<'a> {
    started: Instant,
    calibrating: &'a Calibrating,
}

impl Host for Clock<'_> {
    fn wall(&self) -> Duration {
        self.started.elapsed()
    }

    /// Never used.
    fn cpu(&self) -> Duration {
        Duration::ZERO
    }

    fn aborted(&self) -> bool {
        self.calibrating.is_unwanted.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_slots_measure_unless_ended() {
        let pinning = Arc::new(Pinning::new(ExclusiveSlots::default()));
        let slots = NonZeroU32::new(3).unwrap();
        let calibrating = Calibrating::new(slots, &ExclusiveSlots::default(), pinning);
        let speed = calibrating.measure("nim").unwrap();
        assert_eq!((&*speed.game, speed.slots), ("nim", 3));
        assert!(speed.nodes_per_second > 0);
        assert_eq!(calibrating.measure("draughts"), None);
        calibrating.end();
        let began = Instant::now();
        assert_eq!(calibrating.measure("nim"), None);
        assert!(began.elapsed() < SPELLS * SPELL, "it has not searched");
    }
}
