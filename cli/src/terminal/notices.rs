//! What is told while work goes on, unless nobody wants to hear it.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::terminal;

/// Whether progress is kept silent, for the whole program.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Silences progress from here on; errors and warnings are still said.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether progress is kept silent.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Tells the person at the terminal, or the log, how it goes.
pub(crate) fn say(line: &str) {
    if !is_quiet() {
        // With stderr gone there is nobody to tell.
        let _unheard = writeln!(terminal::stderr(), "{line}");
    }
}
