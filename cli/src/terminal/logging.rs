//! Logs on stderr, for long-running commands.

use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::terminal;
use crate::terminal::notices;

/// Whether log lines are JSON: then all output on stderr is.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// Silences HTTP/2's library, whose lines on misbehaving clients could fill a disk: the coordinator logs them itself,
/// at intervals.
const SILENCED: &str = "h2=error";

/// How lines of the log look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    // A line for people. A plain comment, because doc comments of values make the help long.
    #[default]
    Text,
    // A JSON object in each line, for programs that collect logs.
    Json,
}

/// What commands that run long are told of their logs.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct LogArguments {
    /// How each line of the log looks: for people, or a JSON object for programs
    #[arg(long, value_name = "FORMAT", env = "SPELRUM_LOG_FORMAT", default_value = "text")]
    log_format: LogFormat,
}

impl LogArguments {
    /// The arguments for a process.
    pub(crate) fn process_arguments(self) -> [OsString; 2] {
        let format = match self.log_format {
            LogFormat::Text => "text",
            LogFormat::Json => "json",
        };
        ["--log-format".into(), format.into()]
    }

    /// Starts logging without a progress bar. `RUST_LOG` sets the filter.
    pub(crate) fn start(self, default_filter: &str) {
        match self.log_format {
            LogFormat::Text => start(default_filter, ProgressBar::hidden()),
            LogFormat::Json => {
                let started = tracing_subscriber::fmt()
                    .with_env_filter(filter(default_filter))
                    .json()
                    // A line has at most one span: the call or the batch.
                    .with_span_list(false)
                    .with_writer(io::stderr)
                    .try_init();
                debug_assert!(started.is_ok(), "logging is started once");
                IS_JSON.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// Whether messages go to the log instead, since a program reads the output.
pub(crate) fn is_json() -> bool {
    IS_JSON.load(Ordering::Relaxed)
}

fn filter(default_filter: &str) -> EnvFilter {
    let default_filter = if notices::is_quiet() { "warn" } else { default_filter };
    EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| format!("{default_filter},{SILENCED}").into())
}

/// Starts logging. `RUST_LOG` sets the filter, by default `default_filter`, or warnings and errors if progress is
/// suppressed. Log lines appear above `bar`.
pub(crate) fn start(default_filter: &str, bar: ProgressBar) {
    let colour = anstream::stderr().current_choice() != anstream::ColorChoice::Never;
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter(default_filter))
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
        self.0.suspend(|| terminal::stderr().write_all(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
