//! Measuring a generation: pairings and results.

use std::mem;

use spelrum_engine::Random;
use spelrum_model::course::{EvolveSettings, Fitness, Meet};

use crate::course::outcome::CellOutcome;

/// Results of all games of an individual.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) games: u64,
    pub(super) failed: u64,
    pub(super) wins: u64,
    pub(super) draws: u64,
    pub(super) losses: u64,
    /// The sum of the margins.
    pub(super) margin: i64,
    /// Rounds of a knock-out survived.
    pub(super) rounds: u64,
    /// Whether it keeps an earlier measurement.
    pub(super) kept: bool,
}

/// The other side of an individual's game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rival {
    /// One of the sweep's players.
    Opponent(usize),
    /// Another individual of its generation.
    Individual(usize),
    /// A champion of the hall of fame.
    Champion(usize),
}

/// A generation being measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Measuring {
    tallies: Vec<Tally>,
    /// For each individual, the earlier one that it copies, measured for both.
    copies: Vec<Option<usize>>,
    /// Games to request.
    wanted: Vec<(usize, Rival)>,
    /// Requested games without an outcome, the next last.
    due: Vec<(usize, Rival)>,
    /// Individuals still in the knock-out, in the order in which they meet; empty when it is over.
    bracket: Vec<usize>,
    /// Winners of the current round so far.
    through: Vec<usize>,
    /// For each game even in points and margin, who goes on: drawn beforehand.
    lots: Vec<bool>,
}

impl Measuring {
    /// Begins. `kept` individuals and copies play no games.
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
            let opponents = (0..opponents).map(Rival::Opponent);
            opponents.map(move |rival| (individual, rival)).collect::<Vec<_>>()
        };
        match meet {
            Meet::Opponents => measuring.wanted.extend(new.iter().flat_map(met)),
            Meet::League => {
                for earlier in 0..all {
                    let later = (earlier + 1)..all;
                    measuring.wanted.extend(later.map(|index| (earlier, Rival::Individual(index))));
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
                let champions = (0..champions).map(Rival::Champion);
                measuring.wanted.extend(champions.map(|rival| (individual, rival)));
            }
        }
        measuring
    }

    /// Pairs up the next round. In the first, as many individuals have a bye as are missing to a power of two,
    /// so that later rounds have none.
    fn pair_up(&mut self) {
        let byes = self.bracket.len().next_power_of_two() - self.bracket.len();
        for &individual in &self.bracket[..byes] {
            self.tallies[individual].rounds += 1;
        }
        self.through = self.bracket[..byes].to_vec();
        for pair in self.bracket[byes..].chunks_exact(2) {
            self.wanted.push((pair[0], Rival::Individual(pair[1])));
        }
    }

    /// Takes the games to request now.
    pub(super) fn take_wanted(&mut self) -> Vec<(usize, Rival)> {
        let wanted = mem::take(&mut self.wanted);
        // The earliest gets its outcome first.
        self.due.splice(..0, wanted.iter().rev().copied());
        wanted
    }

    /// Whether no game or outcome is pending.
    pub(super) fn is_done(&self) -> bool {
        self.due.is_empty() && self.wanted.is_empty()
    }

    /// Receives the outcome of the next requested game.
    pub(super) fn tell(&mut self, outcome: &CellOutcome) {
        let Some((individual, rival)) = self.due.pop() else { return };
        self.tallies[individual].add(outcome);
        let Rival::Individual(met) = rival else { return };
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

    /// Results of each individual, in order.
    pub(super) fn take_tallies(&mut self) -> Vec<Tally> {
        let mut tallies = mem::take(&mut self.tallies);
        for (index, copy) in mem::take(&mut self.copies).into_iter().enumerate() {
            if let Some(original) = copy
                && !tallies[index].kept
            {
                tallies[index] = Tally { kept: true, ..tallies[original].clone() };
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

    /// Fitness of its individual; `None` if a game failed, there are no games, or the value is not finite.
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
