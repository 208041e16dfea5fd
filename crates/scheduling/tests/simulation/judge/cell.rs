//! One cell, with a place for every single game.

use std::sync::Arc;

use spelrum_model::demands::Demands;
use spelrum_model::{CellId, ExperimentId, LeaseId};
use spelrum_scheduling::scheduler::Tasks;
use spelrum_scheduling::stopping::Settled;

use crate::reference::Ends;

/// Where a game is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Never,
    Returned,
    Leased(LeaseId),
    Settled,
}

#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) experiment: ExperimentId,
    pub(super) in_sweep: bool,
    pub(super) places: Vec<Place>,
    /// What came of each game for the first player, if it is settled.
    pub(super) settled: Vec<Option<Settled>>,
    pub(super) ends: Ends,
    /// How far its rule has read, and where it ends by it: all over again at each change.
    pub(super) decision: (u64, Option<u64>),
    pub(super) memory_bytes: u64,
    pub(super) demands: Option<Arc<Demands>>,
    pub(super) after: Vec<CellId>,
    pub(super) tasks: Tasks,
}

impl Cell {
    pub(super) fn decide(&mut self) {
        self.decision = self.ends.decide(&self.settled);
    }

    /// Of its score, once what is leased is played as well: from every single point.
    pub(super) fn squared_error(&self) -> f64 {
        let points = self.settled.iter().flatten().filter_map(|settled| match settled {
            Settled::Played(points, _) => Some(points.half_points() as f64 / 2.0),
            Settled::Failed => None,
        });
        let mut points: Vec<(f64, f64)> = points.map(|points| (points, 1.0)).collect();
        points.extend([(0.0, 2.0), (1.0, 2.0)]);
        let weight: f64 = points.iter().map(|(_, weight)| weight).sum();
        let mean = points.iter().map(|(value, weight)| value * weight).sum::<f64>() / weight;
        let square = |value: f64| (value - mean) * (value - mean);
        let variance =
            points.iter().map(|&(value, weight)| square(value) * weight).sum::<f64>() / weight;
        let leased = |place: &&Place| matches!(place, Place::Leased(_));
        variance / (weight + self.places.iter().filter(leased).count() as f64)
    }

    /// Whether a free game of this number is handed out.
    pub(super) fn hands_out(&self, number: u64) -> bool {
        self.in_sweep && self.ends.handed_out(self.decision).is_none_or(|end| number < end)
    }

    /// Whether nothing of it is to be played any more, and nobody plays it.
    pub(super) fn is_done(&self) -> bool {
        (0..).zip(&self.places).all(|(number, &place)| match place {
            Place::Settled => true,
            Place::Never | Place::Returned => !self.hands_out(number),
            Place::Leased(_) => false,
        })
    }
}
