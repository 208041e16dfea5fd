//! The courses that sweeps ask for: `[find]`. Another kind is a table of the sweep, a variant of [`RunSettings`]
//! and a [`Run`].
//!
//! Each point of a sweep's grid has a *run* of its own. All runs together are the experiment's [`Course`]: the
//! cells of one are played while another waits for results.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use spelrum_engine::{Parameters, Value};

use super::find::{FindRun, FindSettings};
use super::{Begun, CellOutcome, Course, CourseFault, Decision, NewCell, Note, Noted, Place};
use crate::plan::{AxisValue, Plan, PlannedCell};
use crate::seeds;

/// What a sweep with a course begins: its runs, in the order of the grid.
#[derive(Clone, Debug, PartialEq)]
pub struct CoursePlan {
    /// At least one.
    pub runs: Vec<PlannedRun>,
}

/// One run: a course at one point of the grid.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRun {
    /// What it does.
    pub settings: RunSettings,
    /// The cell that its own are made of. It is not played itself: what the run decides about has a value there
    /// that stands for any.
    pub cell: PlannedCell,
    /// Which of its players the run decides about: 0 or 1.
    pub subject: usize,
}

/// What a run does.
#[derive(Clone, Debug, PartialEq)]
pub enum RunSettings {
    /// Finds the value of a parameter at which two players are even.
    Find(FindSettings),
}

/// The kinds of courses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CourseKind {
    /// `[find]`.
    Find,
}

impl CourseKind {
    /// All of them.
    pub const ALL: [Self; 1] = [Self::Find];

    /// Its name: the key of its table in a sweep, and what the database calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Find => "find",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What its cells have a place on beside the grid's axes: names that no axis of such a sweep may have.
    #[must_use]
    pub const fn axes(self) -> &'static [&'static str] {
        match self {
            Self::Find => &[RUN, STEP],
        }
    }
}

/// The axis that tells runs apart, from 0.
pub const RUN: &str = "run";
/// The axis of a run's steps, from 0.
pub const STEP: &str = "step";
impl RunSettings {
    /// Of which kind.
    #[must_use]
    pub const fn kind(&self) -> CourseKind {
        match self {
            Self::Find(_) => CourseKind::Find,
        }
    }

    /// What its player has where a game takes longest, and most memory.
    #[must_use]
    pub fn dearest(&self) -> (String, Value) {
        match self {
            Self::Find(FindSettings { parameter, .. }) => {
                (parameter.key.clone(), parameter.value(parameter.high))
            }
        }
    }

    /// How often it plays its cell at most, each time with another value.
    #[must_use]
    pub const fn trials(&self) -> u64 {
        match self {
            Self::Find(find) => find.steps,
        }
    }
}

impl CoursePlan {
    /// Of which kind its runs are.
    #[must_use]
    pub fn kind(&self) -> CourseKind {
        self.runs.first().map_or(CourseKind::Find, |run| run.settings.kind())
    }

    /// How many games its runs play together at most.
    #[must_use]
    pub fn games_at_most(&self) -> u64 {
        let of_run = |run: &PlannedRun| run.settings.trials().saturating_mul(run.cell.games);
        self.runs.iter().map(of_run).fold(0, u64::saturating_add)
    }
}

/// A cell that a run asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    /// What the player has that it decides about, by the names of definitions.
    pub(super) parameters: Vec<(String, Value)>,
    /// Its place on the axes of the course, beside that of its run.
    pub(super) axes: Vec<(String, AxisValue)>,
}

/// One run under way.
pub(super) trait Run: Send {
    /// The cells that it wants now, in addition to those that it asked for before; none if it waits.
    fn ask(&mut self) -> Vec<Asked>;

    /// What came of a cell that it asked for, the subject's view: the cells that it asked for are numbered
    /// from 0.
    fn tell(&mut self, number: u64, outcome: &CellOutcome);

    /// Whether it wants to hear no more.
    fn has_ended(&self) -> bool;

    /// What is to be known of it since this was called last.
    fn take_notes(&mut self) -> Vec<Note>;
}

/// A run with what its cells are made of.
struct Running {
    run: Box<dyn Run>,
    cell: NewCell,
    subject: usize,
    /// How many cells it asked for.
    asked: u64,
    noted_end: bool,
}

/// All runs of an experiment as its course.
struct Runs {
    runs: Vec<Running>,
    /// Of each cell of the experiment, in the order of their numbers: whose it is, and its number there.
    cells: Vec<(usize, u64)>,
    notes: Vec<Noted>,
    fault: Option<CourseFault>,
}

/// The course of a sweep, if it has one.
#[must_use]
pub fn course_of(plan: &Plan) -> Option<Box<dyn Course>> {
    let course = plan.course.as_ref()?;
    let mut notes = Vec::new();
    let mut runs = Vec::new();
    for (number, planned) in course.runs.iter().enumerate() {
        let PlannedRun { settings, cell, subject } = planned;
        let (cell, subject) = (NewCell::of(plan, cell), *subject);
        let place = |(axis, value): &(String, AxisValue)| Place {
            axis: axis.clone(),
            value: value.clone(),
        };
        let note = Note::Begun(Begun {
            kind: settings.kind(),
            player: cell.player_names[subject].clone(),
            opponents: vec![cell.player_names[1 - subject].clone()],
            axes: cell.axes.iter().map(place).collect(),
        });
        notes.push(Noted { run: number as u64, note });
        let run: Box<dyn Run> = match settings {
            RunSettings::Find(settings) => Box::new(FindRun::new(settings)),
        };
        runs.push(Running { run, cell, subject, asked: 0, noted_end: false });
    }
    Some(Box::new(Runs { runs, cells: Vec::new(), notes, fault: None }))
}

impl Running {
    /// A cell that it asks for, as its `number`th.
    fn new_cell(&self, run: usize, number: u64, asked: &Asked) -> NewCell {
        let mut cell = self.cell.clone();
        let player: &mut Parameters = Arc::make_mut(&mut cell.definition.players[self.subject]);
        player.extend(asked.parameters.iter().cloned());
        // Games of different steps are different games, even where the same is tried again.
        cell.definition.seed = seeds::course_seed(cell.definition.seed, run as u64, number);
        cell.axes.push((RUN.to_owned(), AxisValue::whole(run as u64)));
        cell.axes.extend(asked.axes.iter().cloned());
        cell
    }
}

impl Runs {
    fn ask(&mut self) -> Vec<NewCell> {
        let mut new = Vec::new();
        for (number, running) in self.runs.iter_mut().enumerate() {
            for asked in running.run.ask() {
                let own = running.asked;
                new.push(running.new_cell(number, own, &asked));
                running.asked += 1;
                self.cells.push((number, own));
            }
            let run = number as u64;
            self.notes.extend(running.run.take_notes().into_iter().map(|note| Noted { run, note }));
            if running.run.has_ended() && !running.noted_end {
                running.noted_end = true;
                self.notes.push(Noted { run, note: Note::Ended });
            }
        }
        new
    }
}

impl Course for Runs {
    fn decide(&mut self) -> Decision {
        if let Some(fault) = &self.fault {
            return Decision::Fail(fault.clone());
        }
        let new = self.ask();
        if !new.is_empty() {
            Decision::Add(new)
        } else if self.runs.iter().all(|running| running.run.has_ended()) {
            Decision::End
        } else {
            Decision::Wait
        }
    }

    fn adopt(&mut self, added: &[NewCell]) {
        // It is a pure function of what it was told: only another release decides otherwise.
        let again = self.ask();
        let is_same = |(new, there): (&NewCell, &NewCell)| {
            new.games == there.games && new.definition.hash() == there.definition.hash()
        };
        if again.len() != added.len() || !again.iter().zip(added).all(is_same) {
            self.fault.get_or_insert(CourseFault::OtherThanBefore);
        }
        self.notes.clear();
    }

    fn tell(&mut self, outcome: &CellOutcome) {
        let place = usize::try_from(outcome.number).ok().and_then(|number| self.cells.get(number));
        let Some(&(run, own)) = place else {
            self.fault.get_or_insert(CourseFault::OtherThanBefore);
            return;
        };
        let running = &mut self.runs[run];
        let seen = if running.subject == 0 { outcome.clone() } else { outcome.swapped() };
        running.run.tell(own, &seen);
    }

    fn take_notes(&mut self) -> Vec<Noted> {
        std::mem::take(&mut self.notes)
    }
}
