//! Waiting for an absent coordinator, which may be restarted during a watch.

use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};

use crate::error::{CliError, MessageStyle, Result};
use crate::exit::Exit;

/// Growing intervals, without an end.
const WAITS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_secs(1))
    .with_max_delay(Duration::from_secs(10))
    .without_max_times();

/// A coordinator that may be absent. Create a new value after each successful call.
#[derive(Default)]
pub(crate) struct Away {
    waits: Option<ExponentialBackoff>,
}

impl Away {
    /// The delay before the next attempt after this error. The first time, passes a message to `say`.
    ///
    /// # Errors
    /// The error itself, if it has another cause.
    pub(crate) fn wait(&mut self, error: CliError, say: impl FnOnce(&str)) -> Result<Duration> {
        if error.exit() != Exit::Network {
            return Err(error);
        }
        let waits = self.waits.get_or_insert_with(|| {
            say(&text(&error));
            WAITS.build()
        });
        Ok(waits.next().unwrap_or_default())
    }
}

fn text(error: &CliError) -> String {
    let message = error.message(MessageStyle::Plain).unwrap_or_default();
    let problem = message.lines().next().unwrap_or_default();
    let problem = problem.strip_prefix("error: ").unwrap_or(problem);
    format!("the coordinator is away, looking again until it is back: {problem}")
}
