//! The answers that a report is made of.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;

use spelrum_answers::{Call, ExperimentSummary};

use crate::error::{Error, Kind, Result};

/// An answer that tables are made of. It is implemented beside its tables.
pub trait TableAnswer: Any + Send + Sync {
    /// The question.
    type Question: Call<Answer = Self>;
    /// What a program does that asks it, followed by the experiment's name.
    const ACTION: &'static str;

    /// The experiment of the answer.
    fn experiment(&self) -> &ExperimentSummary;

    /// The sentence in place of the tables of an empty answer.
    fn words_if_empty(&self) -> Option<&'static str>;

    /// Rejects an answer that has nothing to show for a reason that its reader can act on.
    ///
    /// # Errors
    /// The reason, with a remedy.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// Answers about an experiment: at most one of each type. One is absent if it was not needed or not available.
#[derive(Default)]
pub struct Answers(BTreeMap<TypeId, Box<dyn Any + Send + Sync>>);

impl Answers {
    /// Adds an answer.
    pub fn add<A: TableAnswer>(&mut self, answer: A) {
        self.0.insert(TypeId::of::<A>(), Box::new(answer));
    }

    /// Returns the same with this answer.
    #[must_use]
    pub fn with<A: TableAnswer>(mut self, answer: A) -> Self {
        self.add(answer);
        self
    }

    /// Returns an answer, if it is there.
    #[must_use]
    pub fn get<A: TableAnswer>(&self) -> Option<&A> {
        self.0.get(&TypeId::of::<A>())?.downcast_ref()
    }

    /// Returns an answer that must be there.
    pub(crate) fn require<A: TableAnswer>(&self) -> Result<&A> {
        self.get().ok_or_else(|| {
            Error::new(Kind::Internal, "write the report")
                .because(format!("it has no answer to `{} …`", A::ACTION))
        })
    }

    #[cfg(test)]
    pub(crate) fn change<A: TableAnswer>(&mut self, change: impl FnOnce(&mut A)) {
        let answer = self.0.get_mut(&TypeId::of::<A>()).and_then(|answer| answer.downcast_mut());
        answer.map(change);
    }

    #[cfg(test)]
    pub(crate) fn without<A: TableAnswer>(mut self) -> Self {
        self.0.remove(&TypeId::of::<A>());
        self
    }
}
