//! Experiments that are not finished when their games are: what came of their cells decides which cells
//! they get next.
//!
//! A [`Course`] is asked for cells and told what came of them; [`Led`] is a course under way. Both are pure:
//! whoever owns the experiment does what [`Led::next`] says, in one transaction with the results that it
//! follows from, and says that it is done.
//!
//! A course is told of *settled* cells, those without a game to play, in the order of their numbers and each
//! once, however they come in. So the same experiment takes the same course on one machine and on a hundred,
//! and through any kill. What it was told is stored as it was told: if games are played again after that,
//! the course stays what it is. What it asked for is stored before any of it is played; at a restart it is
//! shown to the course again ([`Course::adopt`]) instead of being asked for anew.

mod evolve;
mod find;
mod outcome;
mod run;
mod runs;
#[cfg(test)]
mod tests;
mod tune;

pub use outcome::CellOutcome;
pub use runs::course_of;

use std::collections::BTreeSet;
use std::fmt;

use spelrum_model::course::Noted;
use spelrum_model::seeds::SEED_END;
use spelrum_model::{AxisValue, CellDefinition, CellId, Plan, PlannedCell};
use spelrum_statistics::StopRule;

/// Says which cells an experiment gets, by what came of those before. Evolution, tuning and searches for a
/// value are courses.
///
/// It is asked once at the beginning, and once after each cell that it is told of; each time
/// [`Self::decide`] is called, or, when that was decided before a restart, [`Self::adopt`] in its place. Its
/// state must depend on nothing else.
pub trait Course: Send {
    /// What is to be done now.
    fn decide(&mut self) -> Decision;

    /// What it decided here once: these cells, or none.
    fn adopt(&mut self, added: &[NewCell]);

    /// What came of the next cell.
    fn tell(&mut self, outcome: &CellOutcome);

    /// Why it cannot go on from what it adopted: it would have decided otherwise.
    fn fault(&self) -> Option<CourseFault> {
        None
    }

    /// What is to be known of it since this was called last; nothing of what it adopted.
    fn take_notes(&mut self) -> Vec<Noted> {
        Vec::new()
    }
}

/// What a course wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// These cells, in addition.
    Add(Vec<NewCell>),
    /// To hear more first.
    Wait,
    /// Nothing any more. It is not told of cells that are still played.
    End,
    /// It cannot go on.
    Fail(CourseFault),
}

/// A cell that a course asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCell {
    /// What decides its games. No other cell of the experiment has the same.
    pub definition: CellDefinition,
    /// The names of its two players.
    pub player_names: [String; 2],
    /// Its place on the experiment's axes.
    pub axes: Vec<(String, AxisValue)>,
    /// How many games it gets: at least 1; even if sides are swapped.
    pub games: u64,
    /// Whether its result depends on time.
    pub timed: bool,
    /// Whether its players are taken to repeat themselves: [`PlannedCell::repeats`].
    pub repeats: bool,
    /// After so many openings the first comes again, if that is known.
    pub openings_count: Option<u64>,
}

impl NewCell {
    /// A cell of a plan.
    #[must_use]
    pub fn of(plan: &Plan, cell: &PlannedCell) -> Self {
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

/// Why what a course asks for cannot be done. The experiment gets no more cells then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CourseFault {
    /// It waits, and has been told of everything there is.
    #[error("it waits for results, and none are to come")]
    WaitsForNothing,
    /// It asks for no cell at all, again and again.
    #[error("it asks for cells and names none")]
    AddsNothing,
    /// What it asked for once is not what it asks for now.
    #[error("it asks for other cells than before")]
    OtherThanBefore,
    /// A cell has a seed that is out of range.
    #[error("a cell that it asks for has the seed {0}, which is too large")]
    LargeSeed(u64),
    /// A cell has a place on an axis that the experiment has not.
    #[error("a cell that it asks for has a place on the axis {0:?}, which the sweep has not")]
    UnknownAxis(String),
    /// A cell has no games, or half a pair.
    #[error("a cell that it asks for has {0} games; it needs whole pairs, one at least")]
    NotInPairs(u64),
    /// Two cells are the same.
    #[error("it asks for a cell that the experiment has already, of {0} against {1}")]
    AgainTheSame(String, String),
    /// Too many cells.
    #[error("the experiment would have {0} cells, and {max} are allowed", max = spelrum_model::change::CELLS_EVER_MAX)]
    ManyCells(u64),
}

impl CourseFault {
    /// The experiment has one of these cells already.
    #[must_use]
    pub fn of_cells(plan: &Plan) -> Self {
        let names = plan.cells.first().map(|cell| cell.player_names.each_ref());
        let [first, second] = names.map(|it| it.map(ToString::to_string)).unwrap_or_default();
        Self::AgainTheSame(first, second)
    }
}

/// What the owner of an experiment does next for its course.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Notes that the course is told of this cell, and [tells it](Led::tell).
    Tell(CellId),
    /// Stores the cells of this plan as the experiment's next ones, and [says so](Led::added).
    Add(Box<Plan>),
    /// Closes the experiment: no more cells come. The fault is why, if it is not the course's own end.
    Close(Option<CourseFault>),
    /// Waits until another cell is settled.
    Wait,
}

/// What of a sweep the cells of its course have in common.
#[derive(Clone, Debug, PartialEq)]
struct Frame {
    seed: u64,
    stop: Option<StopRule>,
    axes: Vec<String>,
}

/// A course under way.
pub struct Led {
    course: Box<dyn Course>,
    frame: Frame,
    /// The experiment's cells, in the order of their numbers.
    cells: Vec<CellId>,
    /// How many of them it was told of.
    told: usize,
    /// Whether it has been asked since.
    asked: bool,
}

/// A cell of an experiment that has a course, as a store has it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCell {
    /// The cell.
    pub cell: CellId,
    /// If the course asked for it: how many cells it had been told of then, and what it asked for.
    pub added: Option<(u64, NewCell)>,
    /// What the course was told of it.
    pub told: Option<CellOutcome>,
}

impl Led {
    /// A course that begins: of the sweep of this plan, whose cells are these.
    #[must_use]
    pub fn begin(course: Box<dyn Course>, plan: &Plan, cells: Vec<CellId>) -> Self {
        let frame = Frame {
            seed: plan.seed,
            stop: plan.stop,
            axes: plan.axes.iter().map(|axis| axis.name.clone()).collect(),
        };
        Self { course, frame, cells, told: 0, asked: false }
    }

    /// A course that goes on after a restart: `course` is a new one, `cells` are the experiment's, in the
    /// order of their numbers.
    #[must_use]
    pub fn restore(course: Box<dyn Course>, plan: &Plan, cells: Vec<StoredCell>) -> Self {
        let ids = cells.iter().map(|it| it.cell).collect();
        let mut led = Self { asked: true, ..Self::begin(course, plan, ids) };
        let mut outcomes = Vec::new();
        let mut added: Vec<(u64, NewCell)> = Vec::new();
        for StoredCell { added: new, told, .. } in cells {
            outcomes.extend(told);
            added.extend(new);
        }
        let mut added = added.into_iter().peekable();
        let mut adopt = |course: &mut dyn Course, told: usize| {
            let mut here = Vec::new();
            while let Some((_, new)) = added.next_if(|(after, _)| *after <= told as u64) {
                here.push(new);
            }
            course.adopt(&here);
        };
        adopt(&mut *led.course, 0);
        for outcome in outcomes {
            led.course.tell(&outcome);
            led.told += 1;
            adopt(&mut *led.course, led.told);
        }
        led
    }

    /// Why a course that was [restored](Self::restore) cannot go on here. It may where it was begun.
    #[must_use]
    pub fn fault(&self) -> Option<CourseFault> {
        self.course.fault()
    }

    /// How many cells the course was told of.
    #[must_use]
    pub const fn told(&self) -> usize {
        self.told
    }

    /// What is to be done next. `is_settled` says of a cell whether nothing of it is to be played.
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
        match self.cells.get(self.told) {
            Some(&cell) if is_settled(cell) => Step::Tell(cell),
            Some(_) => Step::Wait,
            None => Step::Close(Some(CourseFault::WaitsForNothing)),
        }
    }

    /// What is to be known of the course since this was called last.
    pub fn take_notes(&mut self) -> Vec<Noted> {
        self.course.take_notes()
    }

    /// The next cell is settled, with this outcome.
    pub fn tell(&mut self, outcome: &CellOutcome) {
        self.course.tell(outcome);
        self.told += 1;
        self.asked = false;
    }

    /// The cells that were asked for are there.
    pub fn added(&mut self, cells: impl IntoIterator<Item = CellId>) {
        self.cells.extend(cells);
    }
}

impl fmt::Debug for Led {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { course: _, frame, cells, told, asked } = self;
        f.debug_struct("Led")
            .field("frame", frame)
            .field("cells", cells)
            .field("told", told)
            .field("asked", asked)
            .finish_non_exhaustive()
    }
}

impl Frame {
    /// The cells as a plan, for an experiment that has so many already.
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
