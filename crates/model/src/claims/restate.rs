//! The effect of a submit on an experiment's existing claims.

use std::collections::BTreeMap;

use super::{ClaimHash, claim_hash};
use crate::plan::Plan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An existing claim of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownClaim {
    /// The claim in words.
    pub text: String,
    /// The hash of the whole claim.
    pub hash: ClaimHash,
    /// Whether it was stated after the first settled game.
    pub is_late: bool,
    /// Whether the sweep still states it.
    pub in_sweep: bool,
}

/// The effect of a submit on an existing claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restated {
    /// The sweep states it again.
    Again,
    /// The sweep no longer states it. It was stated before the first settled game, and stays.
    Stays,
    /// It is removed: no game had been settled, or it is exploratory.
    Withdrawn,
}

/// A new claim of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedClaim {
    /// Its number in the plan.
    pub claim: usize,
    /// The hash of the whole claim.
    pub hash: ClaimHash,
    /// [`Claim::definition_json`](super::Claim::definition_json).
    pub definition_json: String,
    /// Whether a game has been settled.
    pub is_late: bool,
}

/// The effect of a submit on an experiment's claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restatement {
    /// The effects on existing claims, in order, with the number in the plan of each one stated again.
    pub known: Vec<(Restated, Option<usize>)>,
    /// New claims, in the plan's order.
    pub added: Vec<AddedClaim>,
}

/// A claim of an experiment after a submit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimStanding {
    /// The claim in words.
    pub text: String,
    /// Whether it is exploratory, because a game had been settled when it was stated.
    pub is_late: bool,
    /// Whether the sweep states it; if not, it stays because it was stated before the first settled game.
    pub in_sweep: bool,
}

impl Restatement {
    /// Compares a plan with these claims of an experiment that has a settled game or none.
    #[must_use]
    pub fn new(plan: &Plan, claims: &[KnownClaim], has_settled: bool) -> Self {
        let stated = |claim: usize| {
            let definition_json = plan.claims[claim].definition_json(&plan.cells);
            let hash = claim_hash(&plan.claims[claim].text, &definition_json);
            AddedClaim { claim, hash, definition_json, is_late: has_settled }
        };
        let mut added: Vec<AddedClaim> = (0..plan.claims.len()).map(stated).collect();
        let by_hash: BTreeMap<ClaimHash, usize> =
            added.iter().map(|added| (added.hash, added.claim)).collect();
        let becomes = |stored: &KnownClaim| match by_hash.get(&stored.hash) {
            Some(&claim) => (Restated::Again, Some(claim)),
            None if has_settled && !stored.is_late => (Restated::Stays, None),
            None => (Restated::Withdrawn, None),
        };
        let effects: Vec<_> = claims.iter().map(becomes).collect();
        added.retain(|added| !claims.iter().any(|claim| claim.hash == added.hash));
        Self { known: effects, added }
    }

    /// The claims after the submit.
    #[must_use]
    pub fn standings(&self, plan: &Plan, claims: &[KnownClaim]) -> Vec<ClaimStanding> {
        let remaining = claims.iter().zip(&self.known).filter_map(|(claims, (becomes, _))| {
            let in_sweep = match becomes {
                Restated::Again => true,
                Restated::Stays => false,
                Restated::Withdrawn => return None,
            };
            Some(ClaimStanding { text: claims.text.clone(), is_late: claims.is_late, in_sweep })
        });
        let new = self.added.iter().map(|added| ClaimStanding {
            text: plan.claims[added.claim].text.clone(),
            is_late: added.is_late,
            in_sweep: true,
        });
        remaining.chain(new).collect()
    }
}

impl From<KnownClaim> for ClaimStanding {
    fn from(KnownClaim { text, is_late, in_sweep, .. }: KnownClaim) -> Self {
        Self { text, is_late, in_sweep }
    }
}
