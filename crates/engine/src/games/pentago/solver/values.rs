//! The value of every move of a position.
//!
//! The eight turns after a placement are eight rotations of one board, and so one question. Most moves win or
//! lose within a few plies, which the deepening search finds for all placements in turn, with shared memory.
//! The retrograde pass answers both goals for the rest: which moves win, and which of the others lose.

use super::super::bitboard::Bitboard;
use super::super::{Pentago, PentagoMove, TURNS};
use super::deepening::{Deepening, Placement};
use super::fives::Fives;
use super::forward::{Goal, Halt};
use super::rotations::Rotations;
use super::{DEEPENING_SHARE, PentagoSolver, retrograde, turns_into};
use crate::core::budget::Budget;
use crate::core::limits::Stop;

impl PentagoSolver {
    /// See [`crate::Solver::move_values`]. A node is a board with all its rotations, made by a placement.
    pub(super) fn value_all_moves(
        &mut self,
        position: &Pentago,
        budget: &mut Budget<'_>,
        values: &mut Vec<(PentagoMove, i32)>,
    ) -> Result<(), Stop> {
        let marbles = [position.own(), position.other()];
        let cells = position.empty_cells();
        // A placement that wins before the turn has none.
        let won = position.winning_cells();
        let mut placements: Vec<Placement> =
            cells.without(won).cells().map(|bit| Placement::new(bit, marbles)).collect();
        self.take_granted(position);
        let allowance = match self.can_work_back(position) {
            true => retrograde::boards(cells.count()) / DEEPENING_SHARE,
            false => u64::MAX,
        };
        let before = position.win_before_rotation();
        match self.deepening.value_moves(marbles, before, allowance, budget, &mut placements) {
            Ok(()) => {}
            Err(Halt::Allowance) => self.work_back(position, budget, &mut placements)?,
            Err(Halt::Stop(stop)) => return Err(stop),
        }
        values.clear();
        values.extend(won.cells().map(|bit| (PentagoMove::placement(bit), 1)));
        for placement in &placements {
            let moves = (0..TURNS).map(|turn| PentagoMove::with_turn(placement.bit, turn));
            values.extend(moves.map(|mv| (mv, placement.value_of(mv))));
        }
        Ok(())
    }

    /// Answers the open questions by the retrograde pass.
    fn work_back(
        &mut self,
        position: &Pentago,
        budget: &mut Budget<'_>,
        placements: &mut [Placement],
    ) -> Result<(), Stop> {
        // Its memory is needed here.
        self.deepening = Deepening::default();
        let cells = position.empty_cells();
        let fives = Fives::in_tables([position.own(), position.other()], budget)?;
        let before = position.win_before_rotation();
        for goal in [Goal::Win, Goal::WinOrDraw] {
            let open = placements.iter().filter(|placement| !placement.open.is_empty());
            let wanted = open.fold(0, |wanted, placement| wanted | 1 << placement.place(cells));
            if wanted == 0 {
                break;
            }
            if cells.count() <= retrograde::EMPTY_MAX_BOTH {
                let good = self.retrograde.run_for(wanted, &fives, before, goal, budget)?;
                for placement in placements {
                    let [win, win_or_draw] = good[placement.place(cells)];
                    placement.win(win);
                    placement.lose_all_but(win_or_draw);
                }
                break;
            }
            let good = self.retrograde.run_for(wanted, &fives, before, goal, budget)?;
            for placement in &mut *placements {
                let [good] = good[placement.place(cells)];
                match goal {
                    Goal::Win => placement.win(good),
                    Goal::WinOrDraw => placement.lose_all_but(good),
                }
            }
        }
        Ok(())
    }
}

impl Placement {
    /// The cell's index among the empty ones.
    fn place(&self, empty: Bitboard) -> usize {
        let below = Bitboard::from_bits((1 << self.bit) - 1);
        empty.and(below).count() as usize
    }

    /// Marks those of the open rotations that are among these as won.
    fn win(&mut self, won: Rotations) {
        self.won = self.won.or(won.and(self.open));
        self.open = self.open.without(won);
    }

    /// Marks those of the open rotations that are not among these as lost.
    fn lose_all_but(&mut self, held: Rotations) {
        self.lost = self.lost.or(self.open.without(held));
        self.open = Rotations::NONE;
    }

    /// The value of a move by its placement and turn.
    fn value_of(&self, mv: PentagoMove) -> i32 {
        i32::from(turns_into(mv, self.won)) - i32::from(turns_into(mv, self.lost))
    }
}
