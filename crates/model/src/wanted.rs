//! Cells that wait for a worker which meets their demands.

use std::sync::Arc;

use crate::demands::Demands;
use crate::ids::{CellId, ExperimentId};

/// Cells of a running experiment with games to hand out, which ask for the same and need the same memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The experiment.
    pub experiment: ExperimentId,
    /// The first of the cells.
    pub cell: CellId,
    /// How many they are.
    pub cells: u64,
    /// What each of their games asks of its worker.
    pub demands: Arc<Demands>,
    /// Bytes of memory that one of them may take.
    pub memory_bytes: u64,
}
