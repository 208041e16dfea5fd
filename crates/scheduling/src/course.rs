//! Experiments that are not finished when their games are: the outcomes of their cells decide which cells
//! they get next.
//!
//! A [`Course`] returns cells and receives their outcomes; [`LedCourse`] is a course under way. Both are pure: the
//! experiment's owner executes [`LedCourse::next`] in one transaction with the results that it follows from, and
//! acknowledges it.
//!
//! A course receives *settled* cells (no game left to play) in the order of their numbers, each once,
//! whatever order they arrive in. So an experiment takes the same course on one machine and on a hundred, and
//! through any kill. Outcomes are stored as the course received them: replaying games later does not alter the
//! course. Requested cells are stored before any is played; a restart passes them to the course
//! ([`Course::adopt`]) instead of requesting them again.

mod evolve;
mod find;
mod outcome;
mod race;
mod run;
mod runs;
#[cfg(test)]
mod tests;
mod tune;

pub use outcome::CellOutcome;
pub use runs::course_from_plan;

use std::collections::BTreeSet;
use std::fmt;

use spelrum_model::course::Noted;
use spelrum_model::seeds::SEED_END;
use spelrum_model::{AxisValue, CellDefinition, CellId, Plan, PlannedCell};
use spelrum_statistics::StopRule;

/// Decides an experiment's next cells from the outcomes of earlier ones. Evolution, tuning and searches
/// for a value are courses.
///
/// Decisions are due at the beginning and after each outcome: [`Self::decide`] is called, or
/// [`Self::adopt`] for a decision made before a restart. The state must depend on nothing else.
pub trait Course: Send {
    /// The next decision.
    fn decide(&mut self) -> Decision;

    /// Replays a stored decision: these cells, or none.
    fn adopt(&mut self, added: &[NewCell]);

    /// Receives the outcome of the next cell.
    fn tell(&mut self, outcome: &CellOutcome);

    /// Why the course cannot continue from the adopted cells: it would have decided otherwise.
    fn fault(&self) -> Option<CourseFault> {
        None
    }

    /// Notes since the last call, without those of adopted cells.
    fn take_notes(&mut self) -> Vec<Noted> {
        Vec::new()
    }
}

/// A course's decision.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Add these cells.
    Add(Vec<NewCell>),
    /// Wait for more outcomes.
    Wait,
    /// End. Cells still being played are not reported to the course.
    End,
    /// The course cannot continue.
    Fail(CourseFault),
}

/// A cell that a course requests.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCell {
    /// What determines its games; unique within the experiment.
    pub definition: CellDefinition,
    /// The names of its two players.
    pub player_names: [String; 2],
    /// Its place on the experiment's axes.
    pub axes: Vec<(String, AxisValue)>,
    /// Number of games: at least 1; even if sides are swapped.
    pub games: u64,
    /// Whether its result depends on time.
    pub timed: bool,
    /// Whether its players are assumed to be deterministic: [`PlannedCell::repeats`].
    pub repeats: bool,
    /// Number of openings before the first one recurs, if known.
    pub openings_count: Option<u64>,
}

impl NewCell {
    /// A cell of a plan.
    #[must_use]
    pub fn from_planned(plan: &Plan, cell: &PlannedCell) -> Self {
        let place = plan.place(cell).map(|(axis, value)| (axis.to_owned(), value.clone()));
        Self {
            definition: plan.definition(cell),
            player_names: cell.player_names.each_ref().map(ToString::to_string),
            axes: place.collect(),
            games: cell.games,
            timed: cell.timed,
            repeats: cell.repeats,
            openings_count: plan.conditions[cell.conditions].openings_count,
        }
    }
}

/// Why a course's request cannot be met. The experiment gets no more cells then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CourseFault {
    /// The course waits although it has received every outcome.
    #[error("it waits for results, but none are pending")]
    WaitsForNothing,
    /// The course repeatedly requests no cells.
    #[error("it requested an empty list of cells")]
    AddsNothing,
    /// The request differs from the stored one.
    #[error("its requested cells differ from the stored ones")]
    OtherThanBefore,
    /// A cell's seed is out of range.
    #[error("a requested cell has the seed {0}, which is too large")]
    LargeSeed(u64),
    /// A cell lies on an axis that the experiment lacks.
    #[error("a requested cell has a place on the axis {0:?}, which the sweep lacks")]
    UnknownAxis(String),
    /// A cell has no games, or half a pair.
    #[error("a requested cell has {0} games; it needs whole pairs, at least one")]
    NotInPairs(u64),
    /// Two cells are identical.
    #[error("it requested a cell that the experiment already has, of {0} against {1}")]
    AgainTheSame(String, String),
    /// Too many cells.
    #[error("the experiment would have {0} cells, and {max} are allowed", max = spelrum_model::change::CELLS_EVER_MAX)]
    ManyCells(u64),
}

impl CourseFault {
    /// The experiment already has one of these cells.
    #[must_use]
    pub fn from_cells(plan: &Plan) -> Self {
        let names = plan.cells.first().map(|cell| cell.player_names.each_ref());
        let [first, second] = names.map(|names| names.map(ToString::to_string)).unwrap_or_default();
        Self::AgainTheSame(first, second)
    }
}

/// The owner's next step for an experiment's course.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Records that the course has this cell's outcome, and [passes it on](LedCourse::tell).
    Tell(CellId),
    /// Stores the cells of this plan as the experiment's next ones, and [confirms](LedCourse::added).
    Add(Box<Plan>),
    /// Closes the experiment: no more cells come. The fault is the reason, unless the course ended by itself.
    Close(Option<CourseFault>),
    /// Waits until another cell is settled.
    Wait,
}

/// The sweep settings shared by all cells of a course.
#[derive(Clone, Debug, PartialEq)]
struct Frame {
    seed: u64,
    stop: Option<StopRule>,
    axes: Vec<String>,
}

/// A course under way.
pub struct LedCourse {
    course: Box<dyn Course>,
    frame: Frame,
    /// The experiment's cells, in the order of their numbers.
    cells: Vec<CellId>,
    /// Number of cells whose outcomes the course has.
    outcome_count: usize,
    /// Whether a decision was made since the last outcome.
    asked: bool,
}

/// A stored cell of an experiment with a course.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCell {
    /// The cell.
    pub cell: CellId,
    /// For a requested cell: how many outcomes the course had then, and the request.
    pub added: Option<(u64, NewCell)>,
    /// The outcome that the course received.
    pub outcome: Option<CellOutcome>,
}

impl LedCourse {
    /// Starts a course for this plan's sweep and cells.
    #[must_use]
    pub fn begin(course: Box<dyn Course>, plan: &Plan, cells: Vec<CellId>) -> Self {
        let frame = Frame {
            seed: plan.seed,
            stop: plan.stop,
            axes: plan.axes.iter().map(|axis| axis.name.clone()).collect(),
        };
        Self { course, frame, cells, outcome_count: 0, asked: false }
    }

    /// Resumes a course after a restart: `course` is a new one, `cells` are the experiment's, in the order of
    /// their numbers.
    #[must_use]
    pub fn restore(course: Box<dyn Course>, plan: &Plan, cells: Vec<StoredCell>) -> Self {
        let ids = cells.iter().map(|cell| cell.cell).collect();
        let mut led = Self { asked: true, ..Self::begin(course, plan, ids) };
        let mut outcomes = Vec::new();
        let mut added: Vec<(u64, NewCell)> = Vec::new();
        for StoredCell { added: new, outcome, .. } in cells {
            outcomes.extend(outcome);
            added.extend(new);
        }
        let mut added = added.into_iter().peekable();
        let mut adopt = |course: &mut dyn Course, outcome_count: usize| {
            let mut here = Vec::new();
            while let Some((_, new)) = added.next_if(|(after, _)| *after <= outcome_count as u64) {
                here.push(new);
            }
            course.adopt(&here);
        };
        adopt(&mut *led.course, 0);
        for outcome in outcomes {
            led.course.tell(&outcome);
            led.outcome_count += 1;
            adopt(&mut *led.course, led.outcome_count);
        }
        led
    }

    /// Why a [restored](Self::restore) course cannot continue here. It may where it was begun.
    #[must_use]
    pub fn fault(&self) -> Option<CourseFault> {
        self.course.fault()
    }

    /// Number of cells whose outcomes the course has.
    #[must_use]
    pub const fn outcome_count(&self) -> usize {
        self.outcome_count
    }

    /// The next step. `is_settled` returns whether a cell has no game left to play.
    pub fn next(&mut self, is_settled: impl FnOnce(CellId) -> bool) -> Step {
        if !self.asked {
            self.asked = true;
            match self.course.decide() {
                Decision::Add(cells) => {
                    return match self.frame.plan(&cells, self.cells.len()) {
                        Ok(plan) => Step::Add(Box::new(plan)),
                        Err(fault) => Step::Close(Some(fault)),
                    };
                }
                Decision::End => return Step::Close(None),
                Decision::Fail(fault) => return Step::Close(Some(fault)),
                Decision::Wait => {}
            }
        }
        match self.cells.get(self.outcome_count) {
            Some(&cell) if is_settled(cell) => Step::Tell(cell),
            Some(_) => Step::Wait,
            None => Step::Close(Some(CourseFault::WaitsForNothing)),
        }
    }

    /// Notes of the course since the last call.
    pub fn take_notes(&mut self) -> Vec<Noted> {
        self.course.take_notes()
    }

    /// Passes on the outcome of the next settled cell.
    pub fn tell(&mut self, outcome: &CellOutcome) {
        self.course.tell(outcome);
        self.outcome_count += 1;
        self.asked = false;
    }

    /// Confirms that the requested cells are stored.
    pub fn added(&mut self, cells: impl IntoIterator<Item = CellId>) {
        self.cells.extend(cells);
    }
}

impl fmt::Debug for LedCourse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { course: _, frame, cells, outcome_count, asked } = self;
        f.debug_struct("LedCourse")
            .field("frame", frame)
            .field("cells", cells)
            .field("outcome_count", outcome_count)
            .field("asked", asked)
            .finish_non_exhaustive()
    }
}

impl Frame {
    /// Turns the cells into a plan, for an experiment that already has `there` cells.
    fn plan(&self, cells: &[NewCell], there: usize) -> Result<Plan, CourseFault> {
        let all = there as u64 + cells.len() as u64;
        if cells.is_empty() {
            return Err(CourseFault::AddsNothing);
        }
        if all > spelrum_model::change::CELLS_EVER_MAX {
            return Err(CourseFault::ManyCells(all));
        }
        let mut plan = Plan { seed: self.seed, stop: self.stop, ..Plan::default() };
        let mut hashes = BTreeSet::new();
        for cell in cells {
            let NewCell { definition, player_names, axes, games, .. } = cell;
            if definition.seed >= SEED_END {
                return Err(CourseFault::LargeSeed(definition.seed));
            }
            if let Some((unknown, _)) = axes.iter().find(|(axis, _)| !self.axes.contains(axis)) {
                return Err(CourseFault::UnknownAxis(unknown.clone()));
            }
            if *games == 0 || (definition.swap_sides && games % 2 == 1) {
                return Err(CourseFault::NotInPairs(*games));
            }
            let names = player_names.each_ref().map(String::as_str);
            let axes: Vec<_> =
                axes.iter().map(|(axis, value)| (axis.as_str(), value.clone())).collect();
            let openings = cell.openings_count;
            let added = plan.add_cell_with_openings(definition, names, &axes, *games, openings);
            added.timed = cell.timed;
            added.repeats = cell.repeats;
            if !hashes.insert(added.definition_hash) {
                let [first, second] = player_names.clone();
                return Err(CourseFault::AgainTheSame(first, second));
            }
        }
        Ok(plan)
    }
}
