//! Panics: one message, an exit code, and what to do.

use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

use rustix::io::Errno;
use spelrum_store::system_remedy;

use crate::exit::Exit;
use crate::terminal::logging;

/// Makes every panic, in any thread, print one message that says what to do.
///
/// Does not end the process: a worker catches the panic of a playing thread and reports the game as failed.
pub(crate) fn install_hook() {
    std::panic::set_hook(Box::new(|panic| {
        print_message(&message(panic));
        if refused_by_the_system(panic).is_some() {
            // Work that has already started would wait for the missing thread.
            std::process::exit(Exit::Internal.code().into());
        }
    }));
}

/// Makes every panic end the process as well: an engine's controller notices the end, instead of waiting for the
/// answer of a dead thread.
pub(crate) fn exit_on_any() {
    std::panic::set_hook(Box::new(|panic| {
        print_message(&message(panic));
        std::process::exit(Exit::Internal.code().into());
    }));
}

/// Runs a command; a panic that nothing below caught becomes [`Exit::Internal`].
pub(crate) fn run_catching_panics(command: impl FnOnce() -> Exit) -> Exit {
    // State that the panic left inconsistent is not used afterwards.
    catch_unwind(AssertUnwindSafe(command)).unwrap_or(Exit::Internal)
}

fn print_message(message: &str) {
    if logging::is_json() {
        tracing::error!("{}", message.trim_end());
    } else {
        let _unheard = std::io::stderr().write_all(message.as_bytes());
    }
}

/// The system's error, if a library panicked because the system refused a thread, file or memory: only the message
/// shows that.
fn refused_by_the_system(panic: &PanicHookInfo<'_>) -> Option<io::Error> {
    let text = panic.payload_as_str()?;
    let refused = [Errno::AGAIN, Errno::MFILE, Errno::NFILE, Errno::NOMEM].into_iter();
    refused.map(io::Error::from).find(|error| {
        let reason = error.to_string();
        reason.split_once(" (os error").is_some_and(|(reason, _)| text.contains(reason))
    })
}

fn message(panic: &PanicHookInfo<'_>) -> String {
    let text = panic.payload_as_str().unwrap_or("no message");
    if let Some(error) = refused_by_the_system(panic) {
        let remedy = system_remedy(&error).unwrap_or_default();
        return format!("error: failed to go on: {text}\nhelp: {remedy}\n");
    }
    let place = panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    format!(
        "error: failed to go on: {text} (at {place})\n\
         help: this is a bug in spelrum {}; please report it with this message and the command. \
         Results that were acknowledged are safe on disk.\n",
        env!("CARGO_PKG_VERSION"),
    )
}
