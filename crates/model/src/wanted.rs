//! Cells that wait for a worker that meets their demands.

use std::sync::Arc;

use crate::demands::Demands;
use crate::ids::{CellId, ExperimentId};

/// Cells of a running experiment with games to hand out, which have equal demands and need equal memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The experiment.
    pub experiment: ExperimentId,
    /// The first of the cells.
    pub cell: CellId,
    /// The number of cells.
    pub cells: u64,
    /// The demands of each game on its worker.
    pub demands: Arc<Demands>,
    /// The memory of one game, in bytes.
    pub memory_bytes: u64,
}
