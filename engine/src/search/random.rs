//! The player that does not search: every legal move is equally likely.

use super::{Budget, Found, Search, Stop};
use crate::parameters::AlgorithmInfo;
use crate::play::EndedBy;
use crate::position::Position;
use crate::rng::Random;

/// It takes no parameters and needs no limits.
pub(crate) const ALGORITHM: AlgorithmInfo =
    AlgorithmInfo { name: "random", parameters: &[], presets: &[], bounded_by: &[] };

/// Plays any legal move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomMove;

impl<P: Position> Search<P> for RandomMove {
    fn search(
        &mut self,
        root: &P,
        _budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Found<P::Move>, Stop> {
        let mv = root.random_move(random);
        Ok(Found { mv, depth: 0, score: None, ended_by: EndedBy::Depth })
    }
}
