//! The courses that sweeps ask for: `[find]`, `[tune]` and `[evolve]`. Another kind is a table of the sweep, a
//! variant of [`RunSettings`]
//! and a [`Run`].
//!
//! Each point of a sweep's grid has a *run* of its own. All runs together are the experiment's [`Course`]: the
//! cells of one are played while another waits for results.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use spelrum_engine::{Parameters, Value};

use super::evolve::{EvolveRun, EvolveSettings};
use super::find::{FindRun, FindSettings};
use super::tune::{TuneRun, TuneSettings};
use super::{
    Begun, CellOutcome, Course, CourseFault, Decision, Ended, NewCell, Note, Noted, Place, Setting,
};
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
    /// The cells that its own are made of: one for each opponent, in the order of the pairing, at least one.
    pub meetings: Vec<Meeting>,
}

/// A cell that those of a run are made of. It is not played itself: what the run decides about has a value there
/// that stands for any.
#[derive(Clone, Debug, PartialEq)]
pub struct Meeting {
    /// The cell.
    pub cell: PlannedCell,
    /// Which of its players the run decides about: 0 or 1; 0 where it is both.
    pub subject: usize,
}

/// What a run does.
#[derive(Clone, Debug, PartialEq)]
pub enum RunSettings {
    /// Finds the value of a parameter at which two players are even.
    Find(FindSettings),
    /// Searches for the best settings of a player.
    Tune(Box<TuneSettings>),
    /// Breeds formulas.
    Evolve(Box<EvolveSettings>),
}

/// The kinds of courses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CourseKind {
    /// `[find]`.
    Find,
    /// `[tune]`.
    Tune,
    /// `[evolve]`.
    Evolve,
}

impl CourseKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Find, Self::Tune, Self::Evolve];

    /// Its name: the key of its table in a sweep, and what the database calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Find => "find",
            Self::Tune => "tune",
            Self::Evolve => "evolve",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether a run of it meets all opponents of its player; otherwise each has a run of its own.
    #[must_use]
    pub const fn meets_all(self) -> bool {
        match self {
            Self::Find => false,
            Self::Tune | Self::Evolve => true,
        }
    }

    /// What its cells have a place on beside the grid's axes: names that no axis of such a sweep may have.
    #[must_use]
    pub const fn axes(self) -> &'static [&'static str] {
        match self {
            Self::Find => &[RUN, STEP],
            Self::Tune => &[RUN, STEP, TRIAL],
            Self::Evolve => &[RUN, RUN_GENERATION, RUN_INDIVIDUAL, RUN_MEETS],
        }
    }
}

/// The axis that tells runs apart, from 0.
pub const RUN: &str = "run";
/// The axis of a run's steps, from 0.
pub const STEP: &str = "step";
/// The axis of what a step tries, from 0.
pub const TRIAL: &str = "trial";
/// The axis of the generations of evolution, from 0.
pub(super) const RUN_GENERATION: &str = "generation";
/// The axis of the individuals of a generation, from 0.
pub(super) const RUN_INDIVIDUAL: &str = "individual";
/// The axis of those whom an individual meets of its own kind.
pub(super) const RUN_MEETS: &str = "meets";

impl RunSettings {
    /// What its player begins with, of what it decides.
    fn start(&self) -> Vec<Setting> {
        match self {
            Self::Find(_) | Self::Evolve(_) => Vec::new(),
            Self::Tune(tune) => tune.start(),
        }
    }

    /// Whether what it decides of a player is all of its parameters, and not some.
    const fn is_whole(&self) -> bool {
        match self {
            Self::Find(_) | Self::Evolve(_) => false,
            Self::Tune(_) => true,
        }
    }

    /// Whether its player meets the opponents of its meetings, and not only its own kind.
    const fn meets_opponents(&self) -> bool {
        match self {
            Self::Find(_) | Self::Tune(_) => true,
            Self::Evolve(evolve) => evolve.meets()[0],
        }
    }

    /// Of which kind.
    #[must_use]
    pub const fn kind(&self) -> CourseKind {
        match self {
            Self::Find(_) => CourseKind::Find,
            Self::Tune(_) => CourseKind::Tune,
            Self::Evolve(_) => CourseKind::Evolve,
        }
    }

    /// Its player where a game takes longest, and most memory: made of the one of its meetings.
    #[must_use]
    pub fn dearest(&self, mut player: Parameters) -> Parameters {
        match self {
            Self::Find(FindSettings { parameter, .. }) => {
                player.insert(parameter.key.clone(), parameter.value(parameter.high));
                player
            }
            Self::Tune(tune) => tune.dearest(),
            // A formula takes about as long as any other.
            Self::Evolve(_) => player,
        }
    }

    /// How many cells it asks for at most, against so many opponents.
    #[must_use]
    pub fn cells_at_most(&self, opponents: u64) -> u64 {
        match self {
            Self::Find(find) => find.steps.saturating_mul(opponents),
            Self::Tune(tune) => tune.cells_at_most(opponents),
            Self::Evolve(evolve) => evolve.cells(opponents),
        }
    }

    /// How many individuals it breeds at most.
    #[must_use]
    pub fn individuals(&self) -> u64 {
        match self {
            Self::Find(_) | Self::Tune(_) => 0,
            Self::Evolve(evolve) => evolve.individuals(),
        }
    }

    /// How many games it plays at most, made of so many cells that have so many games each.
    #[must_use]
    pub fn games_at_most(&self, meetings: u64, games: u64) -> u64 {
        match self {
            Self::Find(find) => find.steps.saturating_mul(meetings.saturating_mul(games)),
            Self::Tune(tune) => tune.games_at_most(meetings, games),
            Self::Evolve(evolve) => {
                evolve.cells(meetings).saturating_mul(evolve.games.unwrap_or(games))
            }
        }
    }
}

impl PlannedRun {
    /// How many games it plays at most.
    #[must_use]
    pub fn games_at_most(&self) -> u64 {
        let games = self.meetings.iter().map(|meeting| meeting.cell.games).max().unwrap_or(0);
        self.settings.games_at_most(self.meetings.len() as u64, games)
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
        self.runs.iter().map(PlannedRun::games_at_most).fold(0, u64::saturating_add)
    }
}

/// A cell that a run asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    /// What the player has that it decides about, by the names of definitions.
    pub(super) parameters: Vec<(String, Value)>,
    /// Whom that player meets.
    pub(super) opponent: Opponent,
    /// What the other has in addition, by the names of definitions.
    pub(super) opponent_parameters: Vec<(String, Value)>,
    /// Cells of equal series start from the same openings: two numbers of the run's own. `None` is a series of
    /// its own.
    pub(super) series: Option<(u64, u64)>,
    /// How many games it has, if not as many as the sweep says.
    pub(super) games: Option<u64>,
    /// Its place on the axes of the course, beside that of its run.
    pub(super) axes: Vec<(String, AxisValue)>,
}

/// Whom the player of a run meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opponent {
    /// The opponent of this number, from 0, in the order of the run's meetings.
    Player(usize),
    /// A player like itself, but for what the run decides.
    OwnKind,
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

    /// All parameters of the player that it holds for the best, if it decides which of them that has.
    fn best_player(&self) -> Option<Parameters> {
        None
    }

    /// What is to be known of it since this was called last.
    fn take_notes(&mut self) -> Vec<Note>;
}

/// A run with what its cells are made of.
struct Running {
    run: Box<dyn Run>,
    /// Whether it says all of a player's parameters.
    is_whole: bool,
    /// What its cells are made of: one for each opponent, with the place of its player there.
    meetings: Vec<(NewCell, usize)>,
    /// Of each cell that it asked for, the place of its player.
    subjects: Vec<usize>,
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
        let PlannedRun { settings, meetings } = planned;
        let meeting = |it: &Meeting| (NewCell::of(plan, &it.cell), it.subject);
        let meetings: Vec<(NewCell, usize)> = meetings.iter().map(meeting).collect();
        let opponent = |(cell, subject): &(NewCell, usize)| cell.player_names[1 - subject].clone();
        let (cell, subject) = meetings.first()?;
        let opponents = match settings.meets_opponents() {
            true => meetings.iter().map(opponent).collect(),
            false => vec![cell.player_names[*subject].clone()],
        };
        let place = |(axis, value): &(String, AxisValue)| Place {
            axis: axis.clone(),
            value: value.clone(),
        };
        let note = Note::Begun(Begun {
            kind: settings.kind(),
            player: cell.player_names[*subject].clone(),
            opponents,
            axes: cell.axes.iter().map(place).collect(),
            start: settings.start(),
        });
        notes.push(Noted { run: number as u64, note });
        let run: Box<dyn Run> = match settings {
            RunSettings::Find(settings) => Box::new(FindRun::new(settings)),
            RunSettings::Tune(settings) => {
                let seed = (cell.definition.seed, number as u64);
                Box::new(TuneRun::new(settings, seed, meetings.len(), cell.games))
            }
            RunSettings::Evolve(settings) => {
                let seed = (cell.definition.seed, number as u64);
                Box::new(EvolveRun::new(settings, seed, meetings.len()))
            }
        };
        let is_whole = settings.is_whole();
        runs.push(Running { run, is_whole, meetings, subjects: Vec::new(), noted_end: false });
    }
    Some(Box::new(Runs { runs, cells: Vec::new(), notes, fault: None }))
}

impl Running {
    /// A cell that it asks for, as its `number`th, with the place of its player there.
    fn new_cell(&self, run: usize, number: u64, asked: &Asked) -> (NewCell, usize) {
        let meeting = match asked.opponent {
            Opponent::Player(opponent) => opponent,
            Opponent::OwnKind => 0,
        };
        let (mut cell, subject) = self.meetings[meeting].clone();
        if asked.opponent == Opponent::OwnKind {
            let own = Arc::clone(&cell.definition.players[subject]);
            cell.definition.players[1 - subject] = own;
            cell.player_names[1 - subject] = cell.player_names[subject].clone();
        }
        let decided = [(subject, &asked.parameters), (1 - subject, &asked.opponent_parameters)];
        for (place, parameters) in decided.into_iter().filter(|(_, it)| !it.is_empty()) {
            let player: &mut Parameters = Arc::make_mut(&mut cell.definition.players[place]);
            if self.is_whole {
                player.clear();
            }
            player.extend(parameters.iter().cloned());
        }
        // Games of different steps are different games, even where the same is tried again.
        let seed = cell.definition.seed;
        cell.definition.seed = match asked.series {
            None => seeds::course_seed(seed, run as u64, number),
            Some((one, other)) => seeds::series_seed(seed, run as u64, one, other),
        };
        cell.games = asked.games.unwrap_or(cell.games);
        cell.axes.push((RUN.to_owned(), AxisValue::whole(run as u64)));
        cell.axes.extend(asked.axes.iter().cloned());
        (cell, subject)
    }
}

impl Runs {
    fn ask(&mut self) -> Vec<NewCell> {
        let mut new = Vec::new();
        for (number, running) in self.runs.iter_mut().enumerate() {
            for asked in running.run.ask() {
                let own = running.subjects.len() as u64;
                let (cell, subject) = running.new_cell(number, own, &asked);
                new.push(cell);
                running.subjects.push(subject);
                self.cells.push((number, own));
            }
            let run = number as u64;
            self.notes.extend(running.run.take_notes().into_iter().map(|note| Noted { run, note }));
            if running.run.has_ended() && !running.noted_end {
                running.noted_end = true;
                let ended = Ended { player: running.run.best_player() };
                self.notes.push(Noted { run, note: Note::Ended(ended) });
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
        let is_first = usize::try_from(own).is_ok_and(|own| running.subjects.get(own) == Some(&0));
        let seen = if is_first { outcome.clone() } else { outcome.swapped() };
        running.run.tell(own, &seen);
    }

    fn fault(&self) -> Option<CourseFault> {
        self.fault.clone()
    }

    fn take_notes(&mut self) -> Vec<Noted> {
        std::mem::take(&mut self.notes)
    }
}
