//! What a submit makes of the claims that an experiment has.

use std::collections::BTreeMap;

use super::{ClaimHash, claim_hash};
use crate::plan::Plan;

/// A claim that an experiment has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownClaim {
    /// What is claimed, in words.
    pub text: String,
    /// Of all that it says.
    pub hash: ClaimHash,
    /// Whether a game had been settled when it was stated.
    pub is_late: bool,
    /// Whether the sweep states it.
    pub in_sweep: bool,
}

/// What becomes of a claim that an experiment has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restated {
    /// The sweep states it again.
    Again,
    /// The sweep states it no longer. It was stated before the first settled game, and stays.
    Stays,
    /// It goes: no game had been settled, or it is exploratory.
    Withdrawn,
}

/// A claim of a plan that an experiment does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedClaim {
    /// Its number in the plan.
    pub claim: usize,
    /// Of all that it says.
    pub hash: ClaimHash,
    /// [`Claim::definition_json`](super::Claim::definition_json).
    pub definition_json: String,
    /// Whether a game has been settled.
    pub is_late: bool,
}

/// What a submit makes of an experiment's claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restatement {
    /// What becomes of those that it has, in their order; and the number in the plan of one that is stated again.
    pub known: Vec<(Restated, Option<usize>)>,
    /// What is added, in the plan's order.
    pub added: Vec<AddedClaim>,
}

/// A claim of an experiment after a submit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimStanding {
    /// What is claimed, in words.
    pub text: String,
    /// Whether it is exploratory, because a game had been settled when it was stated.
    pub is_late: bool,
    /// Whether the sweep states it; if not, it stays because it was stated before the first settled game.
    pub in_sweep: bool,
}

impl Restatement {
    /// What a plan makes of these claims, of an experiment that has a settled game or none.
    #[must_use]
    pub fn of(plan: &Plan, known: &[KnownClaim], has_settled: bool) -> Self {
        let stated = |claim: usize| {
            let definition_json = plan.claims[claim].definition_json(&plan.cells);
            let hash = claim_hash(&plan.claims[claim].text, &definition_json);
            AddedClaim { claim, hash, definition_json, is_late: has_settled }
        };
        let mut added: Vec<AddedClaim> = (0..plan.claims.len()).map(stated).collect();
        let by_hash: BTreeMap<ClaimHash, usize> =
            added.iter().map(|added| (added.hash, added.claim)).collect();
        let becomes = |known: &KnownClaim| match by_hash.get(&known.hash) {
            Some(&claim) => (Restated::Again, Some(claim)),
            None if has_settled && !known.is_late => (Restated::Stays, None),
            None => (Restated::Withdrawn, None),
        };
        let becomes: Vec<_> = known.iter().map(becomes).collect();
        added.retain(|added| !known.iter().any(|known| known.hash == added.hash));
        Self { known: becomes, added }
    }

    /// The claims that it leaves.
    #[must_use]
    pub fn standings(&self, plan: &Plan, known: &[KnownClaim]) -> Vec<ClaimStanding> {
        let there = known.iter().zip(&self.known).filter_map(|(known, (becomes, _))| {
            let in_sweep = match becomes {
                Restated::Again => true,
                Restated::Stays => false,
                Restated::Withdrawn => return None,
            };
            Some(ClaimStanding { text: known.text.clone(), is_late: known.is_late, in_sweep })
        });
        let new = self.added.iter().map(|added| ClaimStanding {
            text: plan.claims[added.claim].text.clone(),
            is_late: added.is_late,
            in_sweep: true,
        });
        there.chain(new).collect()
    }
}

impl From<KnownClaim> for ClaimStanding {
    fn from(KnownClaim { text, is_late, in_sweep, .. }: KnownClaim) -> Self {
        Self { text, is_late, in_sweep }
    }
}
