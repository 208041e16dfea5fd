//! What systemd is told of a service (sd_notify(3)): that it is ready, again and again that it works, and
//! that it is ending. Without systemd nobody is told anything.

use std::convert::Infallible;

use sd_notify::NotifyState;
use spelrum_coordinator::{Health, Unwell};
use tokio::time::MissedTickBehavior;

/// Looks in the time that systemd waits for a sign of life: one may come late without harm.
const LOOKS_PER_PATIENCE: u32 = 4;

/// It serves from now on.
pub(crate) fn ready(status: &str) {
    tell(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// It was asked to end.
pub(crate) fn ending() {
    tell(&[NotifyState::Stopping]);
}

/// Says that the coordinator works whenever it does, if systemd wants to know (`WatchdogSec=`). When it has
/// heard nothing for so long, it ends the process and starts it again; so it also hears of one that only
/// waits for room on its disk.
pub(crate) async fn tell_how_it_goes(health: &Health) -> Infallible {
    let Some(patience) = sd_notify::watchdog_enabled() else {
        return std::future::pending().await;
    };
    let mut looks = tokio::time::interval(patience / LOOKS_PER_PATIENCE);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut was_well = true;
    loop {
        looks.tick().await;
        match health.check().await {
            Ok(()) if was_well => tell(&[NotifyState::Watchdog]),
            Ok(()) => {
                was_well = true;
                tell(&[NotifyState::Watchdog, NotifyState::Status("works again")]);
            }
            Err(Unwell { problem, is_waiting }) => {
                was_well = false;
                let problem = problem.replace('\n', " ");
                if is_waiting {
                    tell(&[NotifyState::Watchdog, NotifyState::Status(&problem)]);
                } else {
                    tell(&[NotifyState::Status(&problem)]);
                }
            }
        }
    }
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!("failed to tell the service manager: {error}");
    }
}
