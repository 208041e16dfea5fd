//! What games ask of the worker that plays them, beside memory, and what workers have of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::engines::{NeededEngine, OfferedEngine, can_play};
use crate::labels::{Label, WantedLabel};

/// What the games of a cell ask of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Demands {
    /// The engines that each game needs, in an order of their own.
    pub engines: Vec<NeededEngine>,
    /// Labels that it must have.
    pub require: Vec<WantedLabel>,
    /// Labels that it had better have: who lacks one may play all the same. All cells of an experiment prefer the same.
    pub prefer: Vec<WantedLabel>,
}

/// What a worker has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// Its engines.
    pub engines: Arc<[OfferedEngine]>,
    /// What it says of its machine.
    pub labels: Arc<[Label]>,
}

/// What a worker lacks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unmet {
    /// Engines.
    Engines,
    /// This label.
    Label(WantedLabel),
}

/// How much games are for a worker by what they prefer: the lesser first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Liking {
    /// It has all labels that they prefer.
    Preferred,
    /// They prefer none.
    Indifferent,
    /// It lacks one.
    Disliked,
}

impl Demands {
    /// Whether every worker meets them, and none better than another.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// The same, as it is known already; `None` if it is nothing. There may be 100,000 cells that ask for the same.
    #[must_use]
    pub fn shared(self, known: &mut BTreeSet<Arc<Self>>) -> Option<Arc<Self>> {
        if self.is_nothing() {
            return None;
        }
        let found = known.get(&self).map(Arc::clone);
        Some(found.unwrap_or_else(|| {
            let demands = Arc::new(self);
            known.insert(Arc::clone(&demands));
            demands
        }))
    }

    /// What of them a worker lacks first; `None` if it meets all.
    #[must_use]
    pub fn unmet_by(&self, offer: &Offer) -> Option<Unmet> {
        if !can_play(&self.engines, &offer.engines) {
            return Some(Unmet::Engines);
        }
        let mut lacking = self.require.iter().filter(|label| !label.is_met_by(&offer.labels));
        lacking.next().cloned().map(Unmet::Label)
    }

    /// How much they are for a worker.
    #[must_use]
    pub fn liking(&self, offer: &Offer) -> Liking {
        if self.prefer.is_empty() {
            Liking::Indifferent
        } else if self.prefer.iter().all(|label| label.is_met_by(&offer.labels)) {
            Liking::Preferred
        } else {
            Liking::Disliked
        }
    }
}
