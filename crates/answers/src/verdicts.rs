//! The verdicts of a report's cells, corrected for their number.

use std::collections::BTreeMap;

use spelrum_model::CellId;
use spelrum_statistics::claims::holm;

use crate::cell_result::CellStrength;
use crate::comparisons::Replicated;
use crate::report::Report;

/// The rate of errors at which verdicts stand after the correction: that of a single interval.
const ERROR_RATE: f64 = 0.05;

/// The p-values of a report's cells, adjusted for their number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdjustedVerdicts(BTreeMap<CellId, f64>);

impl CellStrength {
    /// The probability of a score so far from even, or farther, if the players are equal: at most 5% exactly if the
    /// score's interval excludes one half. `None` without a score, or in self-play.
    #[must_use]
    pub fn p_value(&self) -> Option<f64> {
        self.los.map(|los| 2.0 * los.min(1.0 - los))
    }
}

impl Report {
    /// Adjusts the p-values of all cells with a verdict by Holm's procedure: the chance that any verdict that stands is
    /// of equal players is at most 5%, however the cells depend on each other.
    #[must_use]
    pub fn adjusted_verdicts(&self) -> AdjustedVerdicts {
        let cells = self.cells.iter();
        let p_values = cells.filter_map(|cell| Some((cell.cell, cell.strength().p_value()?)));
        AdjustedVerdicts::new(p_values)
    }
}

impl Replicated {
    /// The same of all groups with a verdict, each by its first cell.
    #[must_use]
    pub fn adjusted_verdicts(&self) -> AdjustedVerdicts {
        let groups = self.groups.iter();
        AdjustedVerdicts::new(groups.filter_map(|group| Some((group.cell, group.p_value?))))
    }
}

impl AdjustedVerdicts {
    fn new(p_values: impl Iterator<Item = (CellId, f64)>) -> Self {
        let (cells, p_values): (Vec<_>, Vec<_>) = p_values.unzip();
        Self(cells.into_iter().zip(holm(&p_values)).collect())
    }

    /// The number of cells with a verdict.
    #[must_use]
    pub fn judged(&self) -> usize {
        self.0.len()
    }

    /// A cell's adjusted p-value; `None` without a verdict.
    #[must_use]
    pub fn p_value(&self, cell: CellId) -> Option<f64> {
        self.0.get(&cell).copied()
    }

    /// Whether a cell's verdict stands after the correction.
    #[must_use]
    pub fn stands(&self, cell: CellId) -> bool {
        self.p_value(cell).is_some_and(|p| p <= ERROR_RATE)
    }
}
