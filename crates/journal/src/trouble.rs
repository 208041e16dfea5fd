//! Trouble that comes again with every attempt, and is logged once.

use std::collections::BTreeSet;

use crate::error::JournalError;

/// Errors that are kept at most, to compare the next one with.
const KEPT: usize = 100;

/// What goes wrong with one thing that is tried until it succeeds.
#[derive(Debug)]
pub(crate) struct Trouble {
    what: &'static str,
    logged: BTreeSet<String>,
}

impl Trouble {
    /// `what` is tried, such as "to follow the journal".
    pub(crate) fn new(what: &'static str) -> Self {
        Self { what, logged: BTreeSet::new() }
    }

    /// Logs an error, unless it was since the last success.
    pub(crate) fn met(&mut self, error: &JournalError) {
        let problem = error.to_string();
        if self.logged.contains(&problem) {
            return;
        }
        let (what, remedy) = (self.what, error.remedy());
        tracing::warn!("failed {what}, trying again: {problem}; {remedy}");
        if self.logged.len() == KEPT {
            self.logged.clear();
        }
        self.logged.insert(problem);
    }

    /// Logs that it succeeded, if it did not before.
    pub(crate) fn over(&mut self) {
        if !self.logged.is_empty() {
            self.logged.clear();
            tracing::info!("able {} again", self.what);
        }
    }
}
