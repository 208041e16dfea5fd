//! The state machine.

use super::api::{Changes, Effect, Event, Snapshot, Time};
use super::settings::Settings;

/// The scheduler.
#[derive(Debug)]
pub struct Scheduler {}

impl Scheduler {
    /// Builds it from the durable state; live leases get one new full duration.
    #[must_use]
    pub fn restore(_snapshot: Snapshot, _settings: Settings, _now: Time) -> Self {
        todo!("scaffold")
    }

    /// Handles one event. Also expires what is due at `now`.
    pub fn handle(&mut self, _event: Event, _now: Time) -> Vec<Effect> {
        todo!("scaffold")
    }

    /// When `Tick` has something to do next.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        todo!("scaffold")
    }

    /// Drains what must be stored before the replies are sent.
    pub fn take_changes(&mut self) -> Changes {
        todo!("scaffold")
    }
}
