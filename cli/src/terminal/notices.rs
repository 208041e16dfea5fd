//! Notices about ongoing work, unless suppressed.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::terminal;

/// Whether progress is suppressed, for the whole program.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Suppresses progress from here on; errors and warnings are still printed.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether progress is suppressed.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints a notice on the terminal, or in the log.
pub(crate) fn notify(line: &str) {
    if !is_quiet() {
        // Without stderr, the notice cannot be shown.
        let _unheard = writeln!(terminal::stderr(), "{line}");
    }
}
