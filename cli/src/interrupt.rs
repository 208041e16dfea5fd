//! Two-stage Ctrl-C: the first asks to finish, the second to stop.

use std::sync::{Arc, OnceLock};

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::error::{CliError, Result};
use crate::exit::Exit;

/// What SIGINT and SIGTERM ask for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupts {
    /// Cancelled by the first signal: finish what is under way, hand back the rest.
    pub(crate) finish: CancellationToken,
    /// Cancelled by the second: stop now.
    pub(crate) now: CancellationToken,
    first: Arc<OnceLock<Exit>>,
}

impl Interrupts {
    /// Starts to listen. `on_first` tells the person what happens now. A third signal ends the
    /// process on the spot, should even stopping hang.
    pub(crate) fn listen(on_first: impl FnOnce() + Send + 'static) -> Result<Self> {
        let failed = |error| CliError::new(Exit::Internal, "listen for signals").because(error);
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        let interrupts = Self::default();
        let told = interrupts.clone();
        tokio::spawn(async move {
            let mut next = async || {
                tokio::select! {
                    _ = interrupt.recv() => Exit::Interrupted,
                    _ = terminate.recv() => Exit::Terminated,
                }
            };
            let _first_wins = told.first.set(next().await);
            told.finish.cancel();
            on_first();
            let _second = next().await;
            told.now.cancel();
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
