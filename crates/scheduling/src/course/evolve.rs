//! `[evolve]`: formulas that evaluate positions, bred by genetic programming.
//!
//! A run proceeds generation by generation. All games of a generation are requested together, or round by
//! round in a knock-out; their results give each individual's fitness, and the next generation is bred.

mod measure;
mod note;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::mem;

use spelrum_engine::expression::Expression;
use spelrum_engine::{Random, Value};
use spelrum_model::course::{
    Estimate, Estimated, EvolveSettings, Note, RUN_GENERATION, RUN_INDIVIDUAL, RUN_MEETS,
    Reevaluate,
};
use spelrum_model::{AxisValue, seeds};
use spelrum_optimize::genetic_programming::breeding::{Bred, Operator};
use spelrum_optimize::genetic_programming::selection::{Candidate, Ranking};

use self::measure::{Measuring, Rival, Tally};
use super::outcome::CellOutcome;
use super::run::{Asked, Opponent, Run};

/// A run of `[evolve]` under way.
pub(super) struct EvolveRun {
    settings: EvolveSettings,
    /// The seed of its draws, and the number of the run.
    seed: (u64, u64),
    /// Number of opponents beside its own kind.
    opponents: usize,
    /// Its generation, from 0; `None` before the first request.
    generation: Option<u64>,
    /// The individuals of this generation.
    individuals: Vec<Bred>,
    /// Results of the previous generation, in the order of its individuals.
    before: Vec<Tally>,
    measuring: Measuring,
    /// Results of every measured formula, if kept.
    measured: BTreeMap<Expression, Tally>,
    /// The best of earlier generations, each once, the latest last.
    hall_of_fame: Vec<Expression>,
    /// Number of its cells with each definition's parts: equal ones get different seeds.
    series: BTreeMap<(Expression, Option<Expression>, usize), u64>,
    /// Games to be requested.
    wanted: Vec<Asked>,
    notes: Vec<Note>,
    has_ended: bool,
}

impl EvolveRun {
    /// A run before its first generation. Its draws follow from the seed and the run's number.
    pub(super) fn new(settings: &EvolveSettings, seed: (u64, u64), opponents: usize) -> Self {
        Self {
            settings: settings.clone(),
            seed,
            opponents,
            generation: None,
            individuals: Vec::new(),
            before: Vec::new(),
            measuring: Measuring::default(),
            measured: BTreeMap::new(),
            hall_of_fame: Vec::new(),
            series: BTreeMap::new(),
            wanted: Vec::new(),
            notes: Vec::new(),
            has_ended: false,
        }
    }

    /// The random numbers of a generation.
    fn random(&self, generation: u64) -> Random {
        Random::from_key(seeds::evolution_key(self.seed.0, self.seed.1, generation))
    }

    /// Goes on until it has to wait for games, or has ended.
    fn go_on(&mut self) {
        while !self.has_ended && self.measuring.is_done() {
            match self.generation {
                None => {
                    let bred = self.settings.breeding.first(&mut self.random(0));
                    self.begin_generation(0, bred);
                }
                Some(generation) => self.finish_generation(generation),
            }
        }
    }

    fn begin_generation(&mut self, generation: u64, bred: Vec<Bred>) {
        self.generation = Some(generation);
        self.individuals = bred;
        self.series.clear();
        let features = self.settings.features;
        for (index, bred) in (0..).zip(&self.individuals) {
            let individual = note::individual(bred, features);
            self.notes.push(Note::Individual(generation, index, individual));
        }
        let kept = self.individuals.iter().map(|bred| self.kept(bred)).collect();
        let mut copies = vec![None; self.individuals.len()];
        if self.settings.reevaluate == Reevaluate::New {
            let mut first = BTreeMap::new();
            for (index, bred) in self.individuals.iter().enumerate() {
                let earlier = *first.entry(&bred.tree).or_insert(index);
                copies[index] = (earlier < index).then_some(earlier);
            }
        }
        let mut random = self.random(generation);
        self.measuring = Measuring::begin(
            self.settings.meet,
            kept,
            copies,
            (self.opponents, self.hall_of_fame.len()),
            &mut random,
        );
        self.want();
    }

    /// The result of an individual that needs no game.
    fn kept(&self, bred: &Bred) -> Option<Tally> {
        let is_elite = bred.operator == Operator::Elite;
        let of_parent = || self.before.get(*bred.parents.first()?).cloned();
        match self.settings.reevaluate {
            Reevaluate::Always => None,
            Reevaluate::Children => of_parent().filter(|_| is_elite),
            Reevaluate::New => {
                of_parent().filter(|_| is_elite).or_else(|| self.measured.get(&bred.tree).cloned())
            }
        }
    }

    /// Requests the games that measuring needs now.
    fn want(&mut self) {
        let generation = self.generation.unwrap_or(0);
        for (individual, rival) in self.measuring.take_wanted() {
            let tree = &self.individuals[individual].tree;
            let (opponent, formula) = match rival {
                Rival::Opponent(number) => (Opponent::Player(number), None),
                Rival::Individual(index) => {
                    (Opponent::OwnKind, Some(self.individuals[index].tree.clone()))
                }
                Rival::Champion(place) => {
                    (Opponent::OwnKind, Some(self.hall_of_fame[place].clone()))
                }
            };
            let number = match rival {
                Rival::Opponent(number) => number,
                Rival::Individual(_) | Rival::Champion(_) => 0,
            };
            let copies = self.series.entry((tree.clone(), formula.clone(), number)).or_insert(0);
            let copy = *copies;
            *copies += 1;
            let parameters = |tree: &Expression| {
                let text = Value::Text(tree.text(self.settings.features));
                vec![(self.settings.parameter.clone(), text)]
            };
            let met = match rival {
                Rival::Opponent(_) => None,
                Rival::Individual(index) => Some(AxisValue::from_integer(index as u64)),
                Rival::Champion(place) => {
                    let text = format!("champion {place}");
                    Some(AxisValue { number: None, text })
                }
            };
            let mut axes = vec![
                (RUN_GENERATION.to_owned(), AxisValue::from_integer(generation)),
                (RUN_INDIVIDUAL.to_owned(), AxisValue::from_integer(individual as u64)),
            ];
            axes.extend(met.map(|met| (RUN_MEETS.to_owned(), met)));
            self.wanted.push(Asked {
                parameters: parameters(tree),
                opponent,
                opponent_parameters: formula.as_ref().map(parameters).unwrap_or_default(),
                // A generation shares its openings, and every generation has new ones.
                series: Some((generation, copy)),
                games: self.settings.games,
                axes,
            });
        }
    }

    /// Ends a measured generation: records its fitness, and breeds the next.
    fn finish_generation(&mut self, generation: u64) {
        let tallies = self.measuring.take_tallies();
        let settings = &self.settings;
        let candidate = |(bred, tally): (&Bred, &Tally)| Candidate {
            fitness: tally.fitness(settings),
            size: bred.tree.size(),
        };
        let candidates: Vec<Candidate> =
            self.individuals.iter().zip(&tallies).map(candidate).collect();
        let ranking = Ranking::new(&candidates, settings.parsimony);
        for (index, tally) in tallies.iter().enumerate() {
            let rank = ranking.order.iter().position(|place| *place == index).unwrap_or(index);
            let scored = note::scored(tally, candidates[index].fitness, rank as u64);
            self.notes.push(Note::Scored(generation, index as u64, scored));
        }
        let trees: Vec<Expression> =
            self.individuals.iter().map(|bred| bred.tree.clone()).collect();
        self.notes
            .push(Note::Generation(generation, note::generation(&trees, &candidates, &ranking)));
        let best = &trees[ranking.order[0]];
        let text = best.text(settings.features);
        self.notes.push(Note::Estimated(
            generation,
            Estimated {
                estimates: vec![Estimate {
                    parameter: settings.parameter.clone(),
                    value: AxisValue { number: None, text },
                    interval: None,
                }],
                race: None,
            },
        ));
        if settings.hall_of_fame > 0 {
            self.hall_of_fame.retain(|champion| champion != best);
            self.hall_of_fame.push(best.clone());
            let over = self.hall_of_fame.len().saturating_sub(settings.hall_of_fame);
            self.hall_of_fame.drain(..over);
        }
        if settings.reevaluate == Reevaluate::New {
            let keep = |tally: &Tally| Tally { kept: true, ..tally.clone() };
            // An individual with failed games is measured again when it recurs.
            let measured = trees.iter().zip(&tallies).filter(|(_, tally)| tally.failed == 0);
            self.measured.extend(measured.map(|(tree, tally)| (tree.clone(), keep(tally))));
        }
        let next = generation + 1;
        if next >= settings.generations {
            self.has_ended = true;
            return;
        }
        let bred = settings.breeding.next(&trees, &ranking, &mut self.random(next));
        self.before = tallies.into_iter().map(|tally| Tally { kept: true, ..tally }).collect();
        self.begin_generation(next, bred);
    }
}

impl Run for EvolveRun {
    fn ask(&mut self) -> Vec<Asked> {
        self.go_on();
        mem::take(&mut self.wanted)
    }

    fn tell(&mut self, _number: u64, outcome: &CellOutcome) {
        self.measuring.tell(outcome);
        self.want();
        self.go_on();
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }

    fn take_notes(&mut self) -> Vec<Note> {
        mem::take(&mut self.notes)
    }
}
