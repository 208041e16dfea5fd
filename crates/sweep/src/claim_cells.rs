//! Finds the cells that a sweep's claims cover.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use spelrum_model::Role;
use spelrum_model::claims::{CLAIMED_CELLS_MAX, Claim, ClaimedCell};
use spelrum_toml::Fault;

use crate::claims::{ClaimInFile, Part, ThanInFile};
use crate::file::SweepFile;

/// The claims of a sweep, with their cells found so far.
pub(super) struct ClaimCells<'a> {
    claims: Vec<(&'a ClaimInFile, Cells)>,
    /// Number of cells over all claims.
    count: usize,
    /// Whether players swap sides, so that games come in pairs.
    swap_sides: bool,
}

#[derive(Default)]
struct Cells {
    own: Side,
    /// The cells compared with, if they are others.
    others: Side,
    /// Of a claim about ratings: whether its player plays, and its opponent.
    plays: [bool; 2],
    /// Whether the claim would cover a player's games against itself.
    has_self_play: bool,
}

#[derive(Default)]
struct Side {
    /// By number, with the claim's player in each.
    roles: BTreeMap<usize, Role>,
    /// Of a comparison: cells by what those compared have in common, each with its place on the axis in question.
    lines: BTreeMap<Line, BTreeSet<(u32, usize)>>,
}

/// What compared cells have in common: the values on all axes but those in question, the player and its opponent
/// unless they are, and whether it is the second player, unless it has both sides in either role.
type Line = (Vec<Option<u32>>, [Option<usize>; 2], Option<bool>);

impl<'a> ClaimCells<'a> {
    pub(super) fn new(claims: &'a [ClaimInFile], swap_sides: bool) -> Self {
        let claims = claims.iter().map(|claim| (claim, Cells::default())).collect();
        Self { claims, count: 0, swap_sides }
    }

    /// Records that these two variants meet at a point, in the cell of this number.
    pub(super) fn record(
        &mut self,
        cell: usize,
        point: &[u32],
        names: (usize, usize),
        is_self_play: bool,
    ) -> Result<(), Fault> {
        for (claim, cells) in &mut self.claims {
            let Cells { own, others, plays, has_self_play } = cells;
            if claim.statement.about.is_of_ratings() {
                // All cells at a point bear on its ratings.
                if claim.cells.covers_point(point) {
                    let roles = claim.cells.roles_of(names);
                    *plays = [plays[0] || roles[0], plays[1] || roles[1]];
                    self.count += usize::from(own.roles.insert(cell, Role::Player).is_none());
                }
            } else {
                let compared = match &claim.than {
                    Some(ThanInFile::Other { cells, .. }) => Some((cells, others)),
                    Some(ThanInFile::Before(_)) | None => None,
                };
                for (selected, side) in iter::once((&claim.cells, own)).chain(compared) {
                    let part = selected.part_at(point, names);
                    if is_self_play && part != Part::Neither {
                        // A player cannot be stronger than itself.
                        *has_self_play = true;
                    } else if part != Part::Neither {
                        let is_own = std::ptr::eq(selected, &claim.cells);
                        let name = claim.statement.player_of(is_own);
                        self.count += side
                            .record(claim, cell, part, point, names, self.swap_sides)
                            .map_err(|BothSides| both_sides(claim, name))?;
                    }
                }
            }
            if self.count > RECORDED_CELLS_MAX {
                return Err(too_many_cells(claim));
            }
        }
        Ok(())
    }

    /// Refuses a claim that covers no cell, or compares none: a slip. Refuses more cells than claims can have.
    pub(super) fn check(&self, file: &SweepFile) -> Result<(), Fault> {
        let mut count = 0;
        self.claims.iter().try_for_each(|(claim, cells)| {
            count += cells.check(claim, file)?;
            if count > CLAIMED_CELLS_MAX { Err(too_many_cells(claim)) } else { Ok(()) }
        })
    }

    pub(super) fn into_claims(self) -> Vec<Claim> {
        let claim = |(claim, cells): (&ClaimInFile, Cells)| Claim {
            text: claim.text.clone(),
            statement: claim.statement.clone(),
            cells: match claim.statement.about.is_of_runs() {
                true => Vec::new(),
                false => cells.of_claim(claim),
            },
        };
        self.claims.into_iter().map(claim).collect()
    }
}

/// Most cells recorded before they are paired (invariant 9).
const RECORDED_CELLS_MAX: usize = 2 * CLAIMED_CELLS_MAX;

fn too_many_cells(claim: &ClaimInFile) -> Fault {
    Fault::at(
        &claim.place,
        format!("the claims up to this one are about more than {CLAIMED_CELLS_MAX} cells"),
        "name fewer values in `at`, or state fewer claims",
    )
}

/// The selected player is both players of a cell.
struct BothSides;

fn both_sides(claim: &ClaimInFile, name: &str) -> Fault {
    Fault::at(
        &claim.place,
        format!("`{name}` is both players of a cell that this claim is about"),
        "say whose score it is: name one variant as the player, or the other as its opponent",
    )
}

impl Cells {
    /// The number of the claim's cells; a fault where there is a slip.
    fn check(&self, claim: &ClaimInFile, file: &SweepFile) -> Result<usize, Fault> {
        let refused = |problem: &str, remedy: &str| Err(Fault::at(&claim.place, problem, remedy));
        if let Some(subject) = file.course.as_ref().map(|course| course.subject)
            && !claim.cells.is_player(subject)
        {
            let subject = &file.players.variants[subject].name;
            return Err(Fault::at(
                &claim.place,
                format!(
                    "the value found is one of `{subject}`, not of `{}`",
                    claim.statement.player
                ),
                format!("write player = \"{subject}\", and the other as its opponent"),
            ));
        }
        let is_unrated = claim.statement.about.is_of_ratings() && self.plays.contains(&false);
        if self.own.roles.is_empty() || is_unrated {
            return match (self.has_self_play, &file.sample) {
                (true, _) => refused(
                    "this claim is about nothing but self-play",
                    "a player cannot be stronger than itself: name players that meet other players, or remove it",
                ),
                (false, Some(_)) => refused(
                    "this claim is about no cell",
                    "name a point of the sample and players who meet there, or remove it",
                ),
                (false, None) => refused(
                    "this claim is about no cell",
                    "name players who meet, and cells that no override skips, or remove it",
                ),
            };
        }
        let several = |line: &BTreeSet<(u32, usize)>| line.len() > 1;
        if self.others.lines.values().any(several) {
            return refused(
                "this claim compares a cell with several others",
                "name in `than` one variant of a player, or one value of an axis",
            );
        }
        let cells = self.of_claim(claim).len();
        if cells == 0 {
            return refused(
                "this claim has no two cells to compare",
                "name an axis with several values that these players use, or in `than` players who meet, or remove it",
            );
        }
        let unmatched = self.unmatched(claim);
        if unmatched > 0 {
            return refused(
                &format!(
                    "{unmatched} of the {} cells of this claim have none in `than` to compare with",
                    self.own.roles.len()
                ),
                "name in `at` the values for which there are both, or let the players of `than` meet there",
            );
        }
        Ok(cells)
    }

    /// How many of the claim's cells have no counterpart in `than`; one may be its own.
    fn unmatched(&self, claim: &ClaimInFile) -> usize {
        if !matches!(claim.than, Some(ThanInFile::Other { .. })) {
            return 0;
        }
        let has_other = |line: &Line| self.others.lines.contains_key(line);
        let matched: BTreeSet<usize> = self
            .own
            .lines
            .iter()
            .filter(|(line, _)| has_other(line))
            .flat_map(|(_, cells)| cells.iter().map(|&(_, cell)| cell))
            .collect();
        self.own.roles.keys().filter(|cell| !matched.contains(cell)).count()
    }

    /// The cells of the claim, case by case.
    fn of_claim(&self, claim: &ClaimInFile) -> Vec<ClaimedCell> {
        let pairs: Vec<[usize; 2]> = match &claim.than {
            None => {
                let cell = |(&cell, &player): (&usize, &Role)| ClaimedCell { cell, player };
                return self.own.roles.iter().map(cell).collect();
            }
            Some(ThanInFile::Before(_)) => {
                let lines = self.own.lines.values();
                lines
                    .flat_map(|line| line.iter().zip(line.iter().skip(1)))
                    .map(|((_, before), (_, cell))| [*cell, *before])
                    .collect()
            }
            Some(ThanInFile::Other { .. }) => {
                let lines = self.own.lines.iter();
                let others = |line: &Line| self.others.lines.get(line).into_iter().flatten();
                lines
                    .flat_map(|(line, cells)| {
                        cells
                            .iter()
                            .flat_map(|(_, cell)| others(line).map(|(_, other)| [*cell, *other]))
                    })
                    .collect()
            }
        };
        // Points that differ on an axis that these players do not use share a cell.
        let mut seen = BTreeSet::new();
        let distinct =
            pairs.into_iter().filter(|&[cell, other]| cell != other && seen.insert([cell, other]));
        let others = match &claim.than {
            Some(ThanInFile::Other { .. }) => &self.others,
            Some(ThanInFile::Before(_)) | None => &self.own,
        };
        let claimed =
            |side: &Side, cell: usize| Some(ClaimedCell { cell, player: *side.roles.get(&cell)? });
        distinct
            .filter_map(|[cell, other]| Some([claimed(&self.own, cell)?, claimed(others, other)?]))
            .flatten()
            .collect()
    }
}

impl Side {
    /// Records a cell; returns how many are new.
    fn record(
        &mut self,
        claim: &ClaimInFile,
        cell: usize,
        part: Part,
        point: &[u32],
        names: (usize, usize),
        swap_sides: bool,
    ) -> Result<usize, BothSides> {
        let player = match part {
            Part::Player(role) => Some(role),
            Part::Both | Part::Neither => None,
        };
        let (recorded, mut new) = match self.roles.entry(cell) {
            Entry::Vacant(vacant) => (player.map(|player| *vacant.insert(player)), 1),
            Entry::Occupied(occupied) => (Some(*occupied.get()), 0),
        };
        let Some(player) = player.filter(|_| recorded == player) else {
            return Err(BothSides);
        };
        let variants = match player {
            Role::Player => [names.0, names.1],
            Role::Opponent => [names.1, names.0],
        };
        let values = point.iter().copied().map(Some).collect::<Vec<_>>();
        let mut line = (values, variants.map(Some), Some(player == Role::Opponent));
        let value = match &claim.than {
            None => return Ok(new),
            Some(ThanInFile::Before(axis)) => line.0[*axis].take(),
            Some(ThanInFile::Other { axes, roles, .. }) => {
                line.2 = line.2.filter(|_| !swap_sides);
                for &axis in axes {
                    line.0[axis] = None;
                }
                for (variant, role) in line.1.iter_mut().zip([Role::Player, Role::Opponent]) {
                    *variant = variant.filter(|_| !roles.contains(&role));
                }
                None
            }
        };
        let is_new = self.lines.entry(line).or_default().insert((value.unwrap_or(0), cell));
        new = new.max(usize::from(is_new));
        Ok(new)
    }
}
