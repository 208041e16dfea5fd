//! Waiting for a coordinator that is away: it may be started anew while somebody watches.

use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};

use crate::error::{CliError, MessageStyle, Result};
use crate::exit::Exit;

/// Longer and longer, for ever.
const WAITS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_secs(1))
    .with_max_delay(Duration::from_secs(10))
    .without_max_times();

/// A coordinator that may be away. A new one for each time that it was there.
#[derive(Default)]
pub(crate) struct Away {
    waits: Option<ExponentialBackoff>,
}

impl Away {
    /// How long to wait before it is asked again, after this error. The first time, `say` is told of it.
    ///
    /// # Errors
    /// The error itself, if it is another one.
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
