//! Logs on stderr, for the commands that run long.

use std::io::{self, Write};

use indicatif::ProgressBar;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::voice;

/// Starts logging. `RUST_LOG` decides what is logged, `default_filter` without it; if progress is
/// kept silent, warnings and errors.
/// A line of the log goes above `bar`, not through it.
pub(crate) fn start(default_filter: &str, bar: ProgressBar) {
    let default_filter = if voice::is_quiet() { "warn" } else { default_filter };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| default_filter.into());
    let colour = anstream::stderr().current_choice() != anstream::ColorChoice::Never;
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_target(false)
        .with_ansi(colour)
        .with_writer(AboveBar(bar))
        .try_init();
    debug_assert!(started.is_ok(), "logging is started once");
}

struct AboveBar(ProgressBar);

impl<'a> MakeWriter<'a> for AboveBar {
    type Writer = LineAboveBar<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        LineAboveBar(&self.0)
    }
}

struct LineAboveBar<'a>(&'a ProgressBar);

impl Write for LineAboveBar<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
