//! Random play: every legal move is equally likely.

use super::algorithm::{Algorithm, Maker};
use super::{Budget, Found, NoMove, Search};
use crate::core::limits::EndedBy;
use crate::core::parameters::{AlgorithmInfo, Settings};
use crate::core::position::{Line, Position};
use crate::core::rng::Random;
use crate::core::solver::Solvable;
use crate::evaluation::Evaluation;

/// Random play as an algorithm, without parameters or limits.
pub(crate) struct RandomPlay;

impl Algorithm for RandomPlay {
    const INFO: AlgorithmInfo = AlgorithmInfo {
        name: "random",
        meaning: "Plays any legal move.",
        parameters: &[],
        presets: &[],
        bounded_by: &[],
    };

    fn draws_random_numbers(_settings: &Settings) -> bool {
        true
    }

    fn maker<P: Solvable, E: Evaluation<P>>(_settings: &Settings, _evaluation: E) -> Maker<P> {
        Maker::new(|| Box::new(RandomMove))
    }
}

/// Plays any legal move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomMove;

impl<P: Position> Search<P> for RandomMove {
    fn search(
        &mut self,
        line: Line<'_, P>,
        _budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Found<P::Move>, NoMove> {
        let mv = line.position.random_move(random);
        Ok(Found { mv, depth: 0, score: None, ended_by: EndedBy::Depth })
    }
}
