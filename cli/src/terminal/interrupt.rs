//! Two-stage Ctrl-C: the first signal asks to finish, the second to stop.

use std::future::poll_fn;
use std::sync::{Arc, OnceLock};
use std::task::Poll;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::error::{CliError, Result};
use crate::exit::Exit;

/// Signals treated as SIGTERM: a closed terminal sends SIGHUP, and batch systems announce the end of a job by SIGUSR1
/// or SIGUSR2.
pub(crate) const TERMINATING: [SignalKind; 4] = [
    SignalKind::terminate(),
    SignalKind::hangup(),
    SignalKind::user_defined1(),
    SignalKind::user_defined2(),
];

/// Requests made by signals.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupts {
    /// Cancelled by the first signal: finish current work, hand back the rest.
    pub(crate) finish: CancellationToken,
    /// Cancelled by the second signal: stop now.
    pub(crate) now: CancellationToken,
    first: Arc<OnceLock<Exit>>,
}

impl Interrupts {
    /// Starts listening. `on_first` informs the user. A third signal ends the process immediately, in case stopping
    /// hangs.
    pub(crate) fn listen(on_first: impl FnOnce() + Send + 'static) -> Result<Self> {
        let failed = |error| CliError::new(Exit::Internal, "listen for signals").because(error);
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let heeded = TERMINATING.into_iter().filter(|kind| !is_ignored_for_nohup(*kind));
        let mut terminate = heeded.map(signal).collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let interrupts = Self::default();
        let requests = interrupts.clone();
        tokio::spawn(async move {
            let mut next = async || {
                let terminated = poll_fn(|context| {
                    let mut came = terminate.iter_mut().map(|kind| kind.poll_recv(context));
                    came.find(Poll::is_ready).unwrap_or(Poll::Pending)
                });
                tokio::select! {
                    _ = interrupt.recv() => Exit::Interrupted,
                    _ = terminated => Exit::Terminated,
                }
            };
            let _first_wins = requests.first.set(next().await);
            requests.finish.cancel();
            on_first();
            let _second = next().await;
            requests.now.cancel();
            let third = next().await;
            std::process::exit(third.code().into());
        });
        Ok(interrupts)
    }

    /// The exit code of the first signal, if one came.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.first.get().copied()
    }
}

/// Whether the signal is SIGHUP and was ignored when the program started, as `nohup` arranges.
fn is_ignored_for_nohup(kind: SignalKind) -> bool {
    kind == SignalKind::hangup()
        && std::fs::read_to_string("/proc/self/status")
            .is_ok_and(|status| ignores(&status, kind.as_raw_value()))
}

/// Whether a process ignores a signal, by its `status` file (proc_pid_status(5): `SigIgn` is a mask in hexadecimal
/// whose lowest bit is signal 1).
fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::ignores;

    #[test]
    fn the_mask_of_ignored_signals_counts_from_one() {
        let status = "Name:\tspelrum\nSigBlk:\tffffffffffffffff\nSigIgn:\t0000000000001001\n";
        assert!(ignores(status, 1));
        assert!(ignores(status, 13));
        assert!(!ignores(status, 2));
        assert!(!ignores("Name:\tspelrum\n", 1));
    }
}
