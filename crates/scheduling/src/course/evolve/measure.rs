//! Measuring a generation: who meets whom, and what came of it.

use std::mem;

use spelrum_engine::Random;
use spelrum_model::course::{EvolveSettings, Fitness, Meet};

use crate::course::outcome::CellOutcome;

/// What came of all games of an individual.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) games: u64,
    pub(super) failed: u64,
    pub(super) wins: u64,
    pub(super) draws: u64,
    pub(super) losses: u64,
    /// The sum of the margins.
    pub(super) margin: i64,
    /// How many rounds of a knock-out it survived.
    pub(super) rounds: u64,
    /// Whether it was measured before, and keeps that.
    pub(super) kept: bool,
}

/// Whom an individual meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Other {
    /// One of the sweep's players.
    Opponent(usize),
    /// Another of its generation.
    Individual(usize),
    /// One of the hall of fame.
    Champion(usize),
}

/// A generation that is being measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Measuring {
    tallies: Vec<Tally>,
    /// Of which earlier individual each is a copy, that is measured for both.
    copies: Vec<Option<usize>>,
    /// What is to be asked for, and has not been taken.
    wanted: Vec<(usize, Other)>,
    /// What was asked for and has not been told, the next last.
    due: Vec<(usize, Other)>,
    /// The individuals that are still in the knock-out, in the order in which they meet; none if it is over.
    bracket: Vec<usize>,
    /// Those of them that have come through the round so far.
    through: Vec<usize>,
    /// Of each game that nobody won in points or margin, who goes on: drawn beforehand.
    lots: Vec<bool>,
}

impl Measuring {
    /// Begins. Of `kept` individuals, and of copies, no game is played.
    pub(super) fn begin(
        meet: Meet,
        kept: Vec<Option<Tally>>,
        copies: Vec<Option<usize>>,
        (opponents, champions): (usize, usize),
        random: &mut Random,
    ) -> Self {
        let all = kept.len();
        let is_new = |&index: &usize| kept[index].is_none() && copies[index].is_none();
        let new: Vec<usize> = (0..all).filter(is_new).collect();
        let mut measuring = Self { copies, ..Self::default() };
        measuring.tallies = kept.into_iter().map(Option::unwrap_or_default).collect();
        let met = |&individual: &usize| {
            let opponents = (0..opponents).map(Other::Opponent);
            opponents.map(move |other| (individual, other)).collect::<Vec<_>>()
        };
        match meet {
            Meet::Opponents => measuring.wanted.extend(new.iter().flat_map(met)),
            Meet::League => {
                for one in 0..all {
                    let later = (one + 1)..all;
                    measuring.wanted.extend(later.map(|other| (one, Other::Individual(other))));
                }
            }
            Meet::KnockOut => {
                measuring.bracket = (0..all).collect();
                random.shuffle(&mut measuring.bracket);
                measuring.lots = (0..all).map(|_| random.below(2) == 0).collect();
                measuring.pair_up();
            }
        }
        if meet != Meet::KnockOut {
            for individual in new {
                let champions = (0..champions).map(Other::Champion);
                measuring.wanted.extend(champions.map(|other| (individual, other)));
            }
        }
        measuring
    }

    /// The next round: all meet in pairs. In the first, as many have a bye as are missing to a power of two, so
    /// that later rounds have none.
    fn pair_up(&mut self) {
        let byes = self.bracket.len().next_power_of_two() - self.bracket.len();
        for &individual in &self.bracket[..byes] {
            self.tallies[individual].rounds += 1;
        }
        self.through = self.bracket[..byes].to_vec();
        for pair in self.bracket[byes..].chunks_exact(2) {
            self.wanted.push((pair[0], Other::Individual(pair[1])));
        }
    }

    /// What is to be played now, in addition.
    pub(super) fn take_wanted(&mut self) -> Vec<(usize, Other)> {
        let wanted = mem::take(&mut self.wanted);
        // The earliest is told first.
        self.due.splice(..0, wanted.iter().rev().copied());
        wanted
    }

    /// Whether nothing is to be played or told any more.
    pub(super) fn is_done(&self) -> bool {
        self.due.is_empty() && self.wanted.is_empty()
    }

    /// What came of the next of those that were taken.
    pub(super) fn tell(&mut self, outcome: &CellOutcome) {
        let Some((individual, other)) = self.due.pop() else { return };
        self.tallies[individual].add(outcome);
        let Other::Individual(met) = other else { return };
        let seen = outcome.swapped();
        self.tallies[met].add(&seen);
        if self.bracket.is_empty() {
            return;
        }
        let ahead = (outcome.wins, outcome.margin_sum).cmp(&(outcome.losses, seen.margin_sum));
        let lot = self.lots.pop().unwrap_or(true);
        let winner = if ahead.is_gt() || (ahead.is_eq() && lot) { individual } else { met };
        self.tallies[winner].rounds += 1;
        self.through.push(winner);
        if self.due.is_empty() {
            self.bracket = mem::take(&mut self.through);
            match self.bracket.len() {
                0 | 1 => self.bracket.clear(),
                _ => self.pair_up(),
            }
        }
    }

    /// What came of each individual, in their order.
    pub(super) fn take_tallies(&mut self) -> Vec<Tally> {
        let mut tallies = mem::take(&mut self.tallies);
        for (index, copy) in mem::take(&mut self.copies).into_iter().enumerate() {
            if let Some(of) = copy
                && !tallies[index].kept
            {
                tallies[index] = Tally { kept: true, ..tallies[of].clone() };
            }
        }
        tallies
    }
}

impl Tally {
    fn add(&mut self, outcome: &CellOutcome) {
        self.games += outcome.games;
        self.failed += outcome.games_failed;
        self.wins += outcome.wins;
        self.draws += outcome.draws;
        self.losses += outcome.losses;
        self.margin += outcome.margin_sum;
    }

    /// How fit its individual is; `None` if a game failed, it has none, or it comes to no finite number.
    pub(super) fn fitness(&self, settings: &EvolveSettings) -> Option<f64> {
        if self.games == 0 || self.failed > 0 {
            return None;
        }
        let games = self.games as f64;
        let score = (self.wins as f64 + self.draws as f64 / 2.0) / games;
        let fitness = match (settings.meet, settings.fitness) {
            (Meet::KnockOut, _) => self.rounds as f64 + score,
            (_, Fitness::Score) => score,
            (_, Fitness::Study) => 100.0 * self.wins as f64 + self.margin as f64,
            (_, Fitness::Margin) => self.margin as f64 / games,
        };
        fitness.is_finite().then_some(fitness)
    }
}
