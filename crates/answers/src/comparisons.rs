//! Changes between an experiment's cells, opening by opening.

use std::collections::BTreeMap;

use foldhash::fast::FixedState;
use indexmap::IndexSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_model::{CellId, DefinitionJson, Role};
use spelrum_statistics::comparisons::{
    Changed, ComparedCell, CurveAlong, Difference, Effects, History, Replicates, curves,
    differences, effects, histories, replicated, replicates,
};
use spelrum_statistics::curves::Shape;
use spelrum_statistics::{Clustered, OpeningSum};

use crate::cell_result::CellResult;
use crate::checked::{Inconsistent, check_places, checked_on_reading};
use crate::openings::OpeningSums;
use crate::summary::ExperimentSummary;

/// A difference between two cells of an experiment that differ in one setting.
pub type CellDifference = Difference<CellId>;

/// A curve through the scores of an experiment's cells along an axis.
pub type CellCurve = CurveAlong<CellId>;

/// A cell of an experiment, repeated with other seeds.
pub type CellReplicates = Replicates<CellId>;

/// Builds of an engine in order.
pub type CellHistory = History<CellId>;

/// Mean results over replicates, cells that differ only on one axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Replicated {
    /// The axis of the replicates.
    pub axis: String,
    /// Names of the grid's axes, in the sweep's order. Parameters that players vary are part of the players' names.
    pub axes: Vec<String>,
    /// The cells without those of self-play, grouped by their values on the other axes, in the grid's order. A cell that
    /// the axis does not affect is a group of its own, with its own interval.
    pub groups: Vec<CellReplicates>,
}

/// Changes between an experiment's cells, from one snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct Comparisons {
    /// The experiment.
    pub experiment: ExperimentSummary,
    /// Names of the grid's axes, in the sweep's order. Parameters that players vary are part of the players' names.
    pub axes: Vec<String>,
    /// Differences between cells that differ in one setting.
    pub differences: Vec<CellDifference>,
    /// Whether further differences were left out.
    pub differences_truncated: bool,
    /// Effects of axes, over all cells of a pairing.
    pub effects: Vec<Effects>,
    /// Curves of scores along axes of numbers.
    pub curves: Vec<CellCurve>,
    /// Whether further curves were left out.
    pub curves_truncated: bool,
    /// Cells repeated with other seeds.
    pub replicates: Vec<CellReplicates>,
    /// Engines that several builds played for.
    pub histories: Vec<CellHistory>,
}

checked_on_reading!(Comparisons);

impl Comparisons {
    fn check(&self) -> Result<(), Inconsistent> {
        let Self { axes, differences, effects, curves, replicates, histories, .. } = self;
        check_places("differences", axes, differences.iter().map(|difference| &*difference.place))?;
        check_places("curves", axes, curves.iter().map(|curve| &*curve.place))?;
        check_places("histories", axes, histories.iter().map(|history| &*history.place))?;
        check_places("replicates", axes, replicates.iter().map(|replicate| &*replicate.place))?;
        let effects = || effects.iter().flat_map(|effects| &effects.effects);
        if effects().any(|effect| !matches!(effect.contrasts.len(), 1 | 2)) {
            return Err(Inconsistent::new("an effect of neither one nor two axes"));
        }
        let changed = differences.iter().filter_map(|difference| match difference.changed {
            Changed::Axis { axis, .. } => Some(axis),
            Changed::Player { .. } => None,
        });
        let contrasts = effects().flat_map(|effect| &effect.contrasts);
        match changed
            .chain(contrasts.map(|contrast| contrast.axis))
            .chain(curves.iter().map(|curve| curve.axis))
            .find(|&axis| axis >= axes.len())
        {
            None => Ok(()),
            Some(axis) => {
                let problem = format_args!("axis number {axis} of {} axes", axes.len());
                Err(Inconsistent::new(problem))
            }
        }
    }
}

/// Cells of an experiment as a store reads them: in the grid's order.
#[derive(Debug)]
pub struct CellsToCompare {
    /// Indices of the grid's axes.
    grid: Vec<usize>,
    axes: Vec<String>,
    /// Conditions, whose numbers identify their openings.
    conditions: IndexSet<String, FixedState>,
    cells: Vec<ComparedCell<CellId>>,
}

impl CellsToCompare {
    /// Creates an empty set with these axes.
    #[must_use]
    pub fn on(axes: &[String]) -> Self {
        let grid: Vec<usize> =
            (0..axes.len()).filter(|&axis| Role::from_axis(&axes[axis]).is_none()).collect();
        Self {
            axes: grid.iter().map(|&axis| axes[axis].clone()).collect(),
            grid,
            conditions: IndexSet::default(),
            cells: Vec::new(),
        }
    }

    /// Adds the next cell, with its definition up to the players and its results by opening, in the order of the
    /// openings' numbers.
    pub fn cell(&mut self, cell: &CellResult, definition_prefix: &str, openings: &[OpeningSums]) {
        let seed = DefinitionJson::seed_from_prefix(definition_prefix).unwrap_or_default();
        // Under the same conditions pair k starts from the same opening.
        let index = self.conditions.get_index_of(definition_prefix);
        let conditions =
            index.unwrap_or_else(|| self.conditions.insert_full(definition_prefix.to_owned()).0);
        // A player is not stronger than itself.
        let score = score(cell, conditions as u64, openings).filter(|_| !cell.is_self_play);
        let Some(score) = score else { return };
        self.cells.push(ComparedCell {
            cell: cell.cell,
            place: self.grid.iter().map(|&axis| cell.axes.get(axis).cloned().flatten()).collect(),
            player: cell.player.clone(),
            opponent: cell.opponent.clone(),
            seed,
            score,
        });
    }

    /// Computes the changes between the cells. `replicates_axis` is the axis of replicates, if the sweep names one, and
    /// `monotone` the axes along which scores only rise or only fall.
    #[must_use]
    pub fn compare(
        self,
        experiment: ExperimentSummary,
        replicates_axis: Option<&str>,
        monotone: &[String],
    ) -> Comparisons {
        let Self { axes, cells, .. } = self;
        let seed_axes: Vec<usize> =
            (0..axes.len()).filter(|&axis| gives_the_seed(axis, &cells)).collect();
        // Another seed, or another replicate, is not a gain.
        let is_replicate =
            |column: &str| replicates_axis.is_some_and(|axis| is_of_axis(column, axis));
        let is_compared = |axis: &usize| !seed_axes.contains(axis) && !is_replicate(&axes[*axis]);
        let compared: Vec<usize> = (0..axes.len()).filter(is_compared).collect();
        let shape = |axis: usize| match monotone.contains(&axes[axis]) {
            true => Shape::Monotone,
            false => Shape::Any,
        };
        let shaped: Vec<(usize, Shape)> =
            compared.iter().map(|&axis| (axis, shape(axis))).collect();
        let (differences, differences_truncated) = differences(&compared, &cells);
        let (curves, curves_truncated) = curves(&shaped, &cells);
        Comparisons {
            differences,
            differences_truncated,
            effects: effects(&compared, &cells),
            curves,
            curves_truncated,
            replicates: replicates(&seed_axes, &cells),
            histories: histories(axes.len(), &cells),
            experiment,
            axes,
        }
    }

    /// The score of each cell's first player.
    pub fn scores(&self) -> BTreeMap<CellId, &Clustered> {
        self.cells.iter().map(|cell| (cell.cell, &cell.score)).collect()
    }

    /// Groups the cells over the axis of this name, or the columns of its tables; `None` if the grid lacks it.
    #[must_use]
    pub fn replicated(self, axis: &str) -> Option<Replicated> {
        let columns: Vec<usize> =
            (0..self.axes.len()).filter(|&column| is_of_axis(&self.axes[column], axis)).collect();
        if columns.is_empty() {
            return None;
        }
        let groups = replicated(&columns, &self.cells);
        Some(Replicated { axis: axis.to_owned(), axes: self.axes, groups })
    }
}

/// Whether a column is this axis, or one of those of its tables.
#[must_use]
pub fn is_of_axis(column: &str, axis: &str) -> bool {
    column.strip_prefix(axis).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether an axis determines the seed: it has several values, each with a seed of its own.
fn gives_the_seed(axis: usize, cells: &[ComparedCell<CellId>]) -> bool {
    let (mut seeds, mut values) = (BTreeMap::new(), BTreeMap::new());
    for cell in cells {
        let Some(value) = cell.place[axis].as_deref() else { return false };
        if *seeds.entry(value).or_insert(cell.seed) != cell.seed
            || *values.entry(cell.seed).or_insert(value) != value
        {
            return false;
        }
    }
    seeds.len() > 1
}

/// Returns a cell's score over its openings; over its pairs or games, if all have one opening. `None` without any.
fn score(cell: &CellResult, conditions: u64, openings: &[OpeningSums]) -> Option<Clustered> {
    const HALF_POINTS: f64 = 2.0;
    let games_of_unit = if cell.swap_sides { 2.0 } else { 1.0 };
    let opening_sum = |sums: &OpeningSums| {
        let (units, half_points) = sums.units(cell.swap_sides);
        let sum = half_points as f64 / HALF_POINTS / games_of_unit;
        (units > 0).then_some(OpeningSum {
            opening: (conditions, sums.opening_number),
            weight: units as f64,
            sum,
        })
    };
    let openings: Vec<OpeningSum> = openings.iter().filter_map(opening_sum).collect();
    match openings[..] {
        [_] if cell.swap_sides => Clustered::score_of_one_opening(&cell.pairs.0),
        [_] => Clustered::score_of_one_opening(&[cell.losses, cell.draws, cell.wins]),
        _ => Clustered::score(&openings),
    }
}
