//! The runs of a sweep's course. A new kind needs a table of the sweep, a variant of [`RunSettings`] and a
//! [`Run`].
//!
//! Each point of a sweep's grid has its own *run*. All runs together are the experiment's [`Course`]: the
//! cells of one are played while another waits for results.

use std::sync::Arc;

use spelrum_engine::Parameters;
use spelrum_model::course::{
    Begun, Ended, Meeting, Note, Noted, Place, PlannedRun, RUN, RaceSettings, RunSettings,
    set_parameter,
};
use spelrum_model::{AxisValue, Plan, seeds};

use super::evolve::EvolveRun;
use super::find::FindRun;
use super::outcome::CellOutcome;
use super::race::{self, RaceRun};
use super::run::{Asked, Opponent, Run};
use super::tune::TuneRun;
use super::{Course, CourseFault, Decision, NewCell};

/// A run with the templates of its cells.
struct Running {
    run: Box<dyn Run>,
    /// Whether it decides all of a player's parameters.
    is_whole: bool,
    /// Templates of its cells: one for each opponent, with the position of its player there.
    meetings: Vec<(NewCell, usize)>,
    /// For each requested cell, the position of its player.
    subjects: Vec<usize>,
    noted_end: bool,
}

/// All runs of an experiment as its course.
struct Runs {
    runs: Vec<Running>,
    /// For each cell of the experiment, in the order of their numbers: its run, and its number there.
    cells: Vec<(usize, u64)>,
    notes: Vec<Noted>,
    fault: Option<CourseFault>,
}

/// The course of a sweep, if it has one.
#[must_use]
pub fn course_from_plan(plan: &Plan) -> Option<Box<dyn Course>> {
    let course = plan.course.as_ref()?;
    let mut notes = Vec::new();
    let mut runs = Vec::new();
    for (number, planned) in course.runs.iter().enumerate() {
        let PlannedRun { settings, meetings } = planned;
        let meeting =
            |meeting: &Meeting| (NewCell::from_planned(plan, &meeting.cell), meeting.subject);
        let meetings: Vec<(NewCell, usize)> = meetings.iter().map(meeting).collect();
        let opponent = |(cell, subject): &(NewCell, usize)| cell.player_names[1 - subject].clone();
        let (cell, subject) = meetings.first()?;
        let player = || cell.player_names[*subject].clone();
        let (player, opponents) = match settings {
            RunSettings::Race(race) => {
                (race.players.join(", "), opponents_of_race(race, &meetings))
            }
            RunSettings::Find(_) | RunSettings::Tune(_) | RunSettings::Evolve(_) => {
                match settings.meets_opponents() {
                    true => (player(), meetings.iter().map(opponent).collect()),
                    false => (player(), vec![player()]),
                }
            }
        };
        let place = |(axis, value): &(String, AxisValue)| Place {
            axis: axis.clone(),
            value: value.clone(),
        };
        let note = Note::Begun(Begun {
            kind: settings.kind(),
            player,
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
            RunSettings::Race(settings) => {
                let pairing = |(cell, subject): &(NewCell, usize)| {
                    let place = |name| settings.players.iter().position(|player| player == name);
                    let [player, rival] =
                        [*subject, 1 - subject].map(|at| place(&cell.player_names[at]));
                    Some(race::Pairing { subject: player?, rival })
                };
                let pairings = meetings.iter().map(pairing).collect::<Option<_>>()?;
                Box::new(RaceRun::new(settings, pairings, cell.games))
            }
        };
        let is_whole = settings.is_whole();
        runs.push(Running { run, is_whole, meetings, subjects: Vec::new(), noted_end: false });
    }
    Some(Box::new(Runs { runs, cells: Vec::new(), notes, fault: None }))
}

/// The players that those of a race meet beside each other, each once.
fn opponents_of_race(race: &RaceSettings, meetings: &[(NewCell, usize)]) -> Vec<String> {
    let mut opponents = Vec::new();
    for name in meetings.iter().flat_map(|(cell, _)| &cell.player_names) {
        if !race.players.contains(name) && !opponents.contains(name) {
            opponents.push(name.clone());
        }
    }
    opponents
}

impl Running {
    /// A requested cell, the run's `number`th, with the position of its player there.
    fn new_cell(&self, run: usize, number: u64, asked: &Asked) -> (NewCell, usize) {
        let meeting = match asked.opponent {
            Opponent::Player(opponent) => opponent,
            Opponent::OwnKind => 0,
        };
        let (mut cell, subject) = self.meetings[meeting].clone();
        if asked.opponent == Opponent::OwnKind {
            let definition = Arc::clone(&cell.definition.players[subject]);
            cell.definition.players[1 - subject] = definition;
            cell.player_names[1 - subject] = cell.player_names[subject].clone();
        }
        let decided = [(subject, &asked.parameters), (1 - subject, &asked.opponent_parameters)];
        for (place, parameters) in
            decided.into_iter().filter(|(_, parameters)| !parameters.is_empty())
        {
            let player: &mut Parameters = Arc::make_mut(&mut cell.definition.players[place]);
            if self.is_whole {
                player.clear();
            }
            for (name, value) in parameters {
                set_parameter(player, name, value.clone());
            }
        }
        // Games of different steps differ, even if they try the same settings.
        let seed = cell.definition.seed;
        cell.definition.seed = match asked.series {
            None => seeds::course_seed(seed, run as u64, number),
            Some((step, copy)) => seeds::series_seed(seed, run as u64, step, copy),
        };
        cell.games = asked.games.unwrap_or(cell.games);
        cell.axes.push((RUN.to_owned(), AxisValue::from_integer(run as u64)));
        cell.axes.extend(asked.axes.iter().cloned());
        (cell, subject)
    }
}

impl Runs {
    fn ask(&mut self) -> Vec<NewCell> {
        let mut new = Vec::new();
        for (number, running) in self.runs.iter_mut().enumerate() {
            for asked in running.run.ask() {
                let cell_number = running.subjects.len() as u64;
                let (cell, subject) = running.new_cell(number, cell_number, &asked);
                new.push(cell);
                running.subjects.push(subject);
                self.cells.push((number, cell_number));
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
        // A course is a pure function of its outcomes: only another release decides otherwise.
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
        let Some(&(run, cell_number)) = place else {
            self.fault.get_or_insert(CourseFault::OtherThanBefore);
            return;
        };
        let running = &mut self.runs[run];
        let is_first = usize::try_from(cell_number)
            .is_ok_and(|cell_number| running.subjects.get(cell_number) == Some(&0));
        let seen = if is_first { outcome.clone() } else { outcome.swapped() };
        running.run.tell(cell_number, &seen);
    }

    fn fault(&self) -> Option<CourseFault> {
        self.fault.clone()
    }

    fn take_notes(&mut self) -> Vec<Noted> {
        std::mem::take(&mut self.notes)
    }
}
