//! What is wrong with an engine, as people are told it.

/// What is wrong, and what to do: two sentences without end marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub remedy: String,
}

impl Diagnosis {
    pub(crate) fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into() }
    }
}
