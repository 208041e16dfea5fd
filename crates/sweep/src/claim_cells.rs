//! Finds the cells that a sweep's claims cover.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use spelrum_model::Role;
use spelrum_model::claims::{CLAIMED_CELLS_MAX, Claim, ClaimedCell};
use spelrum_toml::Fault;

use crate::claims::{ClaimInFile, Part};
use crate::file::SweepFile;

/// The claims of a sweep, with their cells found so far.
pub(super) struct ClaimCells<'a> {
    claims: Vec<(&'a ClaimInFile, Cells)>,
    /// Number of cells over all claims.
    count: usize,
}

#[derive(Default)]
struct Cells {
    /// By number, with the claim's player in each.
    roles: BTreeMap<usize, Role>,
    /// Whether the claim would cover a player's games against itself.
    has_self_play: bool,
}

impl<'a> ClaimCells<'a> {
    pub(super) fn new(claims: &'a [ClaimInFile]) -> Self {
        let claims = claims.iter().map(|claim| (claim, Cells::default())).collect();
        Self { claims, count: 0 }
    }

    /// Records that these two variants meet at a point, in the cell of this number.
    pub(super) fn record(
        &mut self,
        cell: usize,
        point: &[u32],
        names: (usize, usize),
        is_self_play: bool,
    ) -> Result<(), Fault> {
        for (claim, cells) in self.claims.iter_mut().filter(|(claim, _)| claim.covers_point(point))
        {
            let player = match claim.part_of(names) {
                Part::Neither => continue,
                // A player cannot be stronger than itself.
                Part::Player(_) | Part::Both if is_self_play => {
                    cells.has_self_play = true;
                    continue;
                }
                Part::Player(role) => Some(role),
                Part::Both => None,
            };
            let recorded = match cells.roles.entry(cell) {
                Entry::Vacant(vacant) => player.map(|player| {
                    self.count += 1;
                    *vacant.insert(player)
                }),
                Entry::Occupied(occupied) => Some(*occupied.get()),
            };
            if player.is_none() || recorded != player {
                let name = &claim.statement.player;
                return Err(Fault::at(
                    &claim.place,
                    format!("`{name}` is both players of a cell that this claim is about"),
                    "say whose score it is: name one variant as the player, or the other as its opponent",
                ));
            }
            if self.count > CLAIMED_CELLS_MAX {
                return Err(Fault::at(
                    &claim.place,
                    format!(
                        "the claims up to this one are about more than {CLAIMED_CELLS_MAX} cells"
                    ),
                    "name fewer values in `at`, or state fewer claims",
                ));
            }
        }
        Ok(())
    }

    /// Refuses a claim that covers no cell: a slip.
    pub(super) fn check(&self, file: &SweepFile) -> Result<(), Fault> {
        match self.claims.iter().find(|(_, cells)| cells.roles.is_empty()) {
            None => Ok(()),
            Some((claim, cells)) if cells.has_self_play => Err(Fault::at(
                &claim.place,
                "this claim is about nothing but self-play",
                "a player cannot be stronger than itself: name players that meet other players, or remove it",
            )),
            Some((claim, _)) => Err(Fault::at(
                &claim.place,
                "this claim is about no cell",
                match file.sample {
                    Some(_) => {
                        "name a point of the sample and players who meet there, or remove it"
                    }
                    None => "name players who meet, and cells that no override skips, or remove it",
                },
            )),
        }
    }

    pub(super) fn into_claims(self) -> Vec<Claim> {
        let claim = |(claim, cells): (&ClaimInFile, Cells)| Claim {
            text: claim.text.clone(),
            statement: claim.statement.clone(),
            cells: cells
                .roles
                .into_iter()
                .map(|(cell, player)| ClaimedCell { cell, player })
                .collect(),
        };
        self.claims.into_iter().map(claim).collect()
    }
}
