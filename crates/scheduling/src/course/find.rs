//! `[find]`: the value of a parameter at which two players are even, by probabilistic bisection.

use std::mem;

use spelrum_model::AxisValue;
use spelrum_model::course::{
    Bounds, Estimate, Estimated, FindSettings, LedParameter, Note, STEP, Setting, Tried,
};
use spelrum_optimize::bisection::{Bisection, Root};

use super::outcome::CellOutcome;
use super::run::{Asked, Opponent, Run};

/// A run of `[find]` under way.
pub(super) struct FindRun {
    settings: FindSettings,
    bisection: Bisection,
    /// The values tried.
    asked: Vec<f64>,
    /// How many of them have an outcome.
    outcome_count: u64,
    notes: Vec<Note>,
}

impl FindRun {
    /// A run without trials.
    pub(super) fn new(settings: &FindSettings) -> Self {
        let LedParameter { low, high, log, .. } = settings.parameter;
        let bisection = Bisection::new([low, high], log);
        Self {
            settings: settings.clone(),
            bisection,
            asked: Vec::new(),
            outcome_count: 0,
            notes: Vec::new(),
        }
    }

    fn estimate(&self) -> Estimate {
        let Root { value, low, high } = self.bisection.root();
        let parameter = &self.settings.parameter;
        let [low, high] = [low, high].map(|end| end.map(|end| parameter.shown(end)));
        Estimate {
            parameter: parameter.name.clone(),
            value: parameter.shown(value),
            interval: Some(Bounds { low, high }),
        }
    }
}

impl Run for FindRun {
    fn ask(&mut self) -> Vec<Asked> {
        let FindSettings { parameter, steps, at_once } = &self.settings;
        let mut new = Vec::new();
        while (self.asked.len() as u64) < (self.outcome_count + at_once).min(*steps) {
            let step = self.asked.len() as u64;
            let value = parameter.rounded(self.bisection.ask(step, *at_once));
            self.asked.push(value);
            let setting =
                Setting { parameter: parameter.name.clone(), value: parameter.shown(value) };
            self.notes.push(Note::Tried(step, 0, Tried { settings: vec![setting] }));
            new.push(Asked {
                parameters: vec![(parameter.key.clone(), parameter.value(value))],
                opponent: Opponent::Player(0),
                opponent_parameters: Vec::new(),
                series: None,
                games: None,
                axes: vec![(STEP.to_owned(), AxisValue::from_integer(step))],
            });
        }
        new
    }

    fn tell(&mut self, number: u64, outcome: &CellOutcome) {
        let value = usize::try_from(number).ok().and_then(|number| self.asked.get(number));
        if let Some(&value) = value {
            self.bisection.tell(value, &outcome.pairs);
        }
        self.outcome_count += 1;
        let estimates = vec![self.estimate()];
        self.notes.push(Note::Estimated(number, Estimated { estimates, race: None }));
    }

    fn has_ended(&self) -> bool {
        self.outcome_count >= self.settings.steps
    }

    fn take_notes(&mut self) -> Vec<Note> {
        mem::take(&mut self.notes)
    }
}
