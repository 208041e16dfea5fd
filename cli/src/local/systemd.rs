//! Notifications to systemd (sd_notify(3)): ready, still working, and ending. Without systemd, nothing is sent.

use std::convert::Infallible;

use sd_notify::NotifyState;
use spelrum_coordinator::{Health, Unwell};
use tokio::time::MissedTickBehavior;

/// Checks per watchdog interval of systemd: one can be late without harm.
const LOOKS_PER_PATIENCE: u32 = 4;

/// Reports that the service is ready.
pub(crate) fn ready(status: &str) {
    notify(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// Reports that the service is ending.
pub(crate) fn ending() {
    notify(&[NotifyState::Stopping]);
}

/// Reports that the coordinator works, whenever it does, if systemd wants it (`WatchdogSec=`). Without reports for
/// that long, systemd restarts the process; so a coordinator that only waits for disk space reports as well.
pub(crate) async fn report_health(health: &Health) -> Infallible {
    let Some(patience) = sd_notify::watchdog_enabled() else {
        return std::future::pending().await;
    };
    let mut looks = tokio::time::interval(patience / LOOKS_PER_PATIENCE);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut was_well = true;
    loop {
        looks.tick().await;
        match health.check().await {
            Ok(()) if was_well => notify(&[NotifyState::Watchdog]),
            Ok(()) => {
                was_well = true;
                notify(&[NotifyState::Watchdog, NotifyState::Status("works again")]);
            }
            Err(Unwell { problem, is_waiting }) => {
                was_well = false;
                let problem = problem.replace('\n', " ");
                if is_waiting {
                    notify(&[NotifyState::Watchdog, NotifyState::Status(&problem)]);
                } else {
                    notify(&[NotifyState::Status(&problem)]);
                }
            }
        }
    }
}

/// Reports that the service works, while another coordinator owns the database.
pub(crate) async fn report_waiting() -> Infallible {
    let Some(patience) = sd_notify::watchdog_enabled() else {
        return std::future::pending().await;
    };
    let mut looks = tokio::time::interval(patience / LOOKS_PER_PATIENCE);
    loop {
        looks.tick().await;
        notify(&[NotifyState::Watchdog]);
    }
}

fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!("failed to notify the service manager: {error}");
    }
}
