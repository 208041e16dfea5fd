//! `[tune]`: the best settings of a player, by SPSA or CMA-ES, and a match that confirms them.
//!
//! All trials of a step are requested together. Then the settings found play the player's initial ones, or
//! both play the same opponents, from openings that no decision used.

use std::collections::{BTreeMap, VecDeque};
use std::mem;

use spelrum_engine::{Parameters, Random};
use spelrum_model::course::{
    Confirmed, Estimate, Estimated, Note, STEP, Setting, SettingsScore, TRIAL, Tried, TuneMethod,
    TuneSettings, TunedParameter, usual_step,
};
use spelrum_model::{AxisValue, seeds};
use spelrum_optimize::cmaes::{CmaEs, Sample};
use spelrum_optimize::space::Level;
use spelrum_optimize::spsa::{Perturbed, Schedule, Spsa};
use spelrum_statistics::PairCounts;

use super::outcome::CellOutcome;
use super::run::{Asked, Opponent, Run};

/// A run of `[tune]` under way.
pub(super) struct TuneRun {
    settings: TuneSettings,
    /// The seed of its draws, and the number of the run.
    seed: (u64, u64),
    /// Number of opponents.
    opponents: usize,
    /// Number of pairs in each of its cells.
    pairs: u64,
    search: Search,
    /// Number of requested steps.
    asked: u64,
    /// Steps with missing outcomes, in order.
    open: VecDeque<Step>,
    /// Number of steps with all outcomes.
    step_count: u64,
    stage: Stage,
    notes: Vec<Note>,
}

enum Search {
    Spsa(Spsa),
    CmaEs(Box<CmaEs>),
}

/// The trials of a step.
enum Trials {
    Sides(Perturbed),
    Points(Vec<Sample>),
    /// The settings found, and the initial ones.
    Confirmation,
}

struct Step {
    trials: Trials,
    /// For each requested cell, in order: its trial and its opponent.
    cells: VecDeque<(usize, usize)>,
    /// Results of each trial so far, against each opponent.
    tallies: Vec<Vec<Tally>>,
}

#[derive(Clone, Default)]
struct Tally {
    games: u64,
    pairs: PairCounts,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Searching,
    Confirming,
    Ended,
}

impl Tally {
    fn add(&mut self, tally: &Self) {
        self.games += tally.games;
        for (sum, pairs) in self.pairs.0.iter_mut().zip(tally.pairs.0) {
            *sum += pairs;
        }
    }

    /// Mean of wins minus losses in a pair: -2 to 2. `None` without a whole pair.
    fn won(&self) -> Option<f64> {
        let count = self.pairs.pairs();
        let won = (0_u32..).zip(self.pairs.0);
        let won: f64 =
            won.map(|(quarters, pairs)| (f64::from(quarters) - 2.0) * pairs as f64).sum();
        (count > 0).then(|| won / count as f64)
    }

    fn score(&self) -> SettingsScore {
        let interval = self.pairs.interval();
        let (score, low, high) = (interval.score, interval.low, interval.high);
        SettingsScore { games: self.games, score, low, high }
    }
}

impl Step {
    /// Results of each trial, over the opponents that all trials have pairs against: failed games against a
    /// strong opponent must not make a trial look better. Trials without any pair are left out.
    fn compared(&self) -> Vec<Tally> {
        let has_any = |tallies: &&Vec<Tally>| tallies.iter().any(|tally| tally.pairs.pairs() > 0);
        let have_met = |opponent: usize| {
            self.tallies.iter().filter(has_any).all(|tallies| tallies[opponent].pairs.pairs() > 0)
        };
        let mut compared = vec![Tally::default(); self.tallies.len()];
        for (sum, tallies) in compared.iter_mut().zip(&self.tallies) {
            let met = tallies.iter().enumerate().filter(|(opponent, _)| have_met(*opponent));
            met.for_each(|(_, tally)| sum.add(tally));
        }
        compared
    }
}

impl TuneRun {
    /// A run without trials, against this many opponents, with this many games in each cell. Its draws follow
    /// from the seed and the run's number.
    pub(super) fn new(
        settings: &TuneSettings,
        seed: (u64, u64),
        opponents: usize,
        games: u64,
    ) -> Self {
        let dimensions = settings.parameters.iter().map(TunedParameter::dimension).collect();
        let start = settings.parameters.iter().map(|parameter| parameter.start).collect();
        let pairs = (games / 2).max(1);
        let search = match settings.method {
            TuneMethod::Spsa { step, perturbation } => {
                let iterations = settings.steps;
                let step = step.unwrap_or_else(|| usual_step(iterations, pairs));
                let schedule = Schedule { iterations, step, perturbation };
                Search::Spsa(Spsa::new(dimensions, start, schedule))
            }
            TuneMethod::CmaEs { population } => {
                Search::CmaEs(Box::new(CmaEs::new(dimensions, start, population)))
            }
        };
        Self {
            settings: settings.clone(),
            seed,
            opponents,
            pairs,
            search,
            asked: 0,
            open: VecDeque::new(),
            step_count: 0,
            stage: Stage::Searching,
            notes: Vec::new(),
        }
    }

    fn best(&self) -> Vec<Level> {
        match &self.search {
            Search::Spsa(spsa) => spsa.best(),
            Search::CmaEs(cma_es) => cma_es.best(),
        }
    }

    fn start(&self) -> Vec<Level> {
        self.settings.parameters.iter().map(|parameter| parameter.start).collect()
    }

    /// Number of steps under way at a time: the points of a generation follow from earlier ones.
    const fn at_once(&self) -> u64 {
        match self.settings.method {
            TuneMethod::Spsa { .. } => self.settings.at_once,
            TuneMethod::CmaEs { .. } => 1,
        }
    }

    fn ask_step(&mut self, new: &mut Vec<Asked>) {
        let number = self.asked;
        self.asked += 1;
        let mut random = Random::from_key(seeds::tuning_key(self.seed.0, self.seed.1, number));
        match &self.search {
            Search::Spsa(spsa) => {
                let perturbed = spsa.perturb(number, &mut random);
                let [plus, minus] = perturbed.sides.clone();
                self.tried(number, 0, &plus);
                self.tried(number, 1, &minus);
                let trials = Trials::Sides(perturbed);
                match self.settings.against_itself {
                    true => self.meet(trials, &[plus], Some(&minus), None, new),
                    false => self.meet(trials, &[plus, minus], None, None, new),
                }
            }
            Search::CmaEs(cma_es) => {
                let samples = cma_es.ask(&mut random);
                let best = cma_es.best();
                let points: Vec<_> = samples.iter().map(|sample| sample.levels.clone()).collect();
                for (trial, point) in (0..).zip(&points) {
                    self.tried(number, trial, point);
                }
                let rival = self.settings.against_itself.then_some(&best);
                self.meet(Trials::Points(samples), &points, rival, None, new);
            }
        }
    }

    fn ask_confirmation(&mut self, new: &mut Vec<Asked>) {
        let (best, start) = (self.best(), self.start());
        let games = Some(self.settings.confirm);
        self.asked += 1;
        match self.settings.against_itself {
            true => self.meet(Trials::Confirmation, &[best], Some(&start), games, new),
            false => self.meet(Trials::Confirmation, &[best, start], None, games, new),
        }
    }

    fn tried(&mut self, step: u64, trial: u64, levels: &[Level]) {
        let settings = self.settings.parameters.iter().zip(levels);
        let settings = settings.map(|(parameter, level)| Setting {
            parameter: parameter.name.clone(),
            value: parameter.shown(*level),
        });
        self.notes.push(Note::Tried(step, trial, Tried { settings: settings.collect() }));
    }

    /// Requests the games of the latest step: each of these settings against another of the same player, or
    /// against all opponents, from the same openings.
    fn meet(
        &mut self,
        trials: Trials,
        settings: &[Vec<Level>],
        rival: Option<&Vec<Level>>,
        games: Option<u64>,
        new: &mut Vec<Asked>,
    ) {
        let step = self.asked - 1;
        let parameters = |levels: &[Level]| -> Parameters { self.settings.player_with(levels) };
        let rival = rival.map(|levels| parameters(levels));
        let meetings = if rival.is_some() { 1 } else { self.opponents };
        // Settings that are equal once rounded play different games.
        let mut alike = BTreeMap::<String, u64>::new();
        let mut cells = VecDeque::new();
        for (trial, levels) in settings.iter().enumerate() {
            let player = parameters(levels);
            let copies = alike.entry(seeds::canonical_json(&player)).or_insert(0);
            let copy = *copies;
            *copies += 1;
            for opponent in 0..meetings {
                let to_pairs = |parameters: &Parameters| parameters.clone().into_iter().collect();
                new.push(Asked {
                    parameters: to_pairs(&player),
                    opponent: match rival {
                        Some(_) => Opponent::OwnKind,
                        None => Opponent::Player(opponent),
                    },
                    opponent_parameters: rival.as_ref().map(to_pairs).unwrap_or_default(),
                    series: Some((step, copy * meetings as u64 + opponent as u64)),
                    games,
                    axes: vec![
                        (STEP.to_owned(), AxisValue::from_integer(step)),
                        (TRIAL.to_owned(), AxisValue::from_integer(trial as u64)),
                    ],
                });
                cells.push_back((trial, opponent));
            }
        }
        let tallies = vec![vec![Tally::default(); meetings]; settings.len()];
        self.open.push_back(Step { trials, cells, tallies });
    }

    /// Handles a complete step.
    fn finish(&mut self, step: &Step) {
        let tallies = step.compared();
        match (&step.trials, &mut self.search) {
            (Trials::Confirmation, _) => {
                let start = tallies.get(1).map(Tally::score);
                self.notes.push(Note::Confirmed(Confirmed { found: tallies[0].score(), start }));
                self.stage = Stage::Ended;
                return;
            }
            (Trials::Sides(perturbed), Search::Spsa(spsa)) => {
                let won = match &*tallies {
                    [only] => only.won(),
                    [plus, minus, ..] => {
                        plus.won().zip(minus.won()).map(|(plus, minus)| plus - minus)
                    }
                    [] => None,
                };
                if let Some(won) = won {
                    spsa.tell(perturbed, won * self.pairs as f64);
                }
            }
            (Trials::Points(samples), Search::CmaEs(cma_es)) => {
                let fitness: Vec<Option<f64>> = tallies.iter().map(Tally::won).collect();
                cma_es.tell(samples, &fitness);
            }
            (Trials::Sides(_), Search::CmaEs(_)) | (Trials::Points(_), Search::Spsa(_)) => {}
        }
        let estimates = self.settings.parameters.iter().zip(self.best());
        let estimates = estimates.map(|(parameter, level)| Estimate {
            parameter: parameter.name.clone(),
            value: parameter.shown(level),
            interval: None,
        });
        let estimated = Estimated { estimates: estimates.collect(), race: None };
        self.notes.push(Note::Estimated(self.step_count, estimated));
        self.step_count += 1;
        if self.step_count >= self.settings.steps {
            // Different settings may still make the same player.
            let [best, start] =
                [self.best(), self.start()].map(|levels| self.settings.player_with(&levels));
            let is_new = best != start;
            let confirms = self.settings.confirm > 0 && is_new;
            self.stage = if confirms { Stage::Confirming } else { Stage::Ended };
        }
    }
}

impl Run for TuneRun {
    fn ask(&mut self) -> Vec<Asked> {
        let mut new = Vec::new();
        match self.stage {
            Stage::Searching => {
                while self.asked < (self.step_count + self.at_once()).min(self.settings.steps) {
                    self.ask_step(&mut new);
                }
            }
            Stage::Confirming if self.open.is_empty() => self.ask_confirmation(&mut new),
            Stage::Confirming | Stage::Ended => {}
        }
        new
    }

    fn tell(&mut self, _number: u64, outcome: &CellOutcome) {
        // In the order of the requests.
        let Some(step) = self.open.front_mut() else { return };
        if let Some((trial, opponent)) = step.cells.pop_front() {
            step.tallies[trial][opponent]
                .add(&Tally { games: outcome.games, pairs: outcome.pairs });
        }
        if step.cells.is_empty()
            && let Some(step) = self.open.pop_front()
        {
            self.finish(&step);
        }
    }

    fn has_ended(&self) -> bool {
        self.stage == Stage::Ended
    }

    fn best_player(&self) -> Option<Parameters> {
        Some(self.settings.player_with(&self.best()))
    }

    fn take_notes(&mut self) -> Vec<Note> {
        mem::take(&mut self.notes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Failed games against the stronger opponent give no advantage; trials without games are left out.
    #[test]
    fn trials_are_compared_over_those_whom_all_have_met() {
        let pairs =
            |lost, won| Tally { games: 2 * (lost + won), pairs: PairCounts([lost, 0, 0, 0, won]) };
        let none = Tally::default();
        let (weak, strong) = (pairs(1, 9), pairs(8, 2));
        let compare = |tallies: Vec<Vec<Tally>>| {
            let step = Step { trials: Trials::Confirmation, cells: VecDeque::new(), tallies };
            step.compared().iter().map(Tally::won).collect::<Vec<_>>()
        };
        let both = vec![weak.clone(), strong.clone()];
        assert_eq!(compare(vec![both.clone(), both.clone()]), [Some(0.2), Some(0.2)]);
        let half = vec![weak.clone(), none.clone()];
        assert_eq!(compare(vec![half, both.clone()]), [Some(1.6), Some(1.6)]);
        let nobody = vec![none.clone(), none.clone()];
        assert_eq!(compare(vec![nobody.clone(), both.clone()]), [None, Some(0.2)]);
        assert_eq!(compare(vec![nobody.clone(), nobody]), [None, None]);
        // No opponent in common: nothing to compare.
        let second = vec![none.clone(), strong];
        assert_eq!(compare(vec![vec![weak, none], second]), [None, None]);
    }
}
