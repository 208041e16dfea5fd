//! A diagnosis of an engine, for people.

/// A problem and its remedy: two sentences without end marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The problem.
    pub problem: String,
    /// The remedy.
    pub remedy: String,
}

impl Diagnosis {
    pub(crate) fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into() }
    }
}
