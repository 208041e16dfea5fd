//! Counts over all positions of a table.

use super::code::STALEMATE;
use super::{EndgameTable, TablePosition, TableValue};

/// The counts of a table. Symmetric positions count separately, and with two like pieces on two squares a
/// position counts once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableCounts {
    /// With white to move, and with black.
    pub sides: [SideCounts; 2],
}

/// The counts of a table's positions with one side to move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SideCounts {
    /// Legal positions: wins, draws and losses of the side to move.
    pub legal: u64,
    /// Positions won by the side to move.
    pub wins: u64,
    /// Drawn positions, including stalemates.
    pub draws: u64,
    /// Positions lost by the side to move, including mates.
    pub losses: u64,
    /// Positions with the side to move mated.
    pub mates: u64,
    /// Positions with the side to move stalemated.
    pub stalemates: u64,
    /// Won positions by the number of the winner's moves, from one on.
    pub wins_by_moves: Vec<u64>,
    /// Lost positions by the number of the loser's moves, from mates on.
    pub losses_by_moves: Vec<u64>,
    /// The longest win.
    pub longest_win: Option<Longest>,
    /// The longest loss.
    pub longest_loss: Option<Longest>,
}

/// The positions that take longest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Longest {
    /// Plies to mate.
    pub plies: u32,
    /// The number of positions of that length.
    pub positions: u64,
    /// One of them: the first in the table's order.
    pub fen: String,
}

impl SideCounts {
    /// Plies of the longest win.
    #[must_use]
    pub fn longest_win_plies(&self) -> Option<u32> {
        self.longest_win.as_ref().map(|longest| longest.plies)
    }

    /// Plies of the longest loss.
    #[must_use]
    pub fn longest_loss_plies(&self) -> Option<u32> {
        self.longest_loss.as_ref().map(|longest| longest.plies)
    }
}

/// The longest so far, with the first such position.
type Found = Option<(u32, TablePosition)>;

pub(super) fn count(table: &EndgameTable) -> TableCounts {
    let mut sides = [SideCounts::default(), SideCounts::default()];
    let mut longest: [[Found; 2]; 2] = Default::default();
    for index in 0..table.len() {
        let Some(position) = table.position(index) else { continue };
        let images = u64::from(position.images);
        let side = position.to_move().index();
        let counts = &mut sides[side];
        counts.legal += images;
        let (total, by_moves, plies, found) = match position.value {
            TableValue::Draw => {
                counts.draws += images;
                if table.codes[index] == STALEMATE {
                    counts.stalemates += images;
                }
                continue;
            }
            TableValue::Win { plies } => {
                (&mut counts.wins, &mut counts.wins_by_moves, plies, &mut longest[side][0])
            }
            TableValue::Loss { plies } => {
                (&mut counts.losses, &mut counts.losses_by_moves, plies, &mut longest[side][1])
            }
        };
        *total += images;
        let moves = plies as usize / 2;
        if by_moves.len() <= moves {
            by_moves.resize(moves + 1, 0);
        }
        by_moves[moves] += images;
        if found.is_none_or(|(most, _)| plies > most) {
            *found = Some((plies, position));
        }
    }
    for (counts, [win, loss]) in sides.iter_mut().zip(longest) {
        counts.count_orders_once(table.endgame().orders());
        let longest = |found: Found, by_moves: &[u64]| {
            let (plies, position) = found?;
            let positions = by_moves.last().copied().unwrap_or(0);
            Some(Longest { plies, positions, fen: table.fen(&position) })
        };
        counts.longest_win = longest(win, &counts.wins_by_moves);
        counts.longest_loss = longest(loss, &counts.losses_by_moves);
        counts.mates = counts.losses_by_moves.first().copied().unwrap_or(0);
    }
    TableCounts { sides }
}

impl SideCounts {
    /// Like pieces have as many orders on the same squares.
    fn count_orders_once(&mut self, orders: u64) {
        let totals = [
            &mut self.legal,
            &mut self.wins,
            &mut self.draws,
            &mut self.losses,
            &mut self.stalemates,
        ];
        let by_moves = self.wins_by_moves.iter_mut().chain(&mut self.losses_by_moves);
        for total in totals.into_iter().chain(by_moves) {
            *total /= orders;
        }
    }
}
