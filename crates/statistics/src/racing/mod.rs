//! Who is first: a race that drops players as soon as they are known not to be, with a stated error rate.
//!
//! Players are compared in rounds. In a round each player that is still in the race plays as many pairs as every other,
//! against the same opponents and from the same openings, so that the difference of two players' scores in a round is
//! free of what the opening gives to both. A player is out once such a difference to another is known to be below zero,
//! however often it was looked at (Maron and Moore 1994; best-arm identification by elimination: Kaufmann and
//! Kalyanakrishnan 2013).

mod sequence;
#[cfg(test)]
mod tests;

use sequence::{Sequence, Sums};

/// The greatest error rate of a race.
pub const RACE_ERROR_MAX: f64 = 0.5;

/// By how much equal mean scores may differ, since they are sums in different orders.
const ROUNDING: f64 = 1e-12;

/// When a race is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RaceRule {
    error_rate: f64,
    within: f64,
    rounds: u64,
}

impl RaceRule {
    /// A race of at most so many rounds that calls a wrong player first in at most a share `error_rate` of races: one
    /// that is more than `within` points per game worse than another. `None` unless the rate is above 0 and at most
    /// [`RACE_ERROR_MAX`], `within` at least 0 and below 1, and there is a round.
    #[must_use]
    pub fn new(error_rate: f64, within: f64, rounds: u64) -> Option<Self> {
        let is_one = error_rate > 0.0
            && error_rate <= RACE_ERROR_MAX
            && (0.0..1.0).contains(&within)
            && rounds > 0;
        is_one.then_some(Self { error_rate, within, rounds })
    }

    /// The greatest probability with which the race calls a wrong player first.
    #[must_use]
    pub const fn error_rate(&self) -> f64 {
        self.error_rate
    }

    /// By how many points per game the first may be worse than another player.
    #[must_use]
    pub const fn within(&self) -> f64 {
        self.within
    }

    /// The most rounds.
    #[must_use]
    pub const fn rounds(&self) -> u64 {
        self.rounds
    }
}

/// Whether a player may still be first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chance {
    /// It may.
    In,
    /// It is known not to be.
    Out {
        /// The number of rounds after which this was known.
        after: u64,
        /// A player that is better.
        by: usize,
    },
}

/// The result of a race that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaceVerdict {
    /// This player is first.
    First(usize),
    /// No other player is better than this one by more than the rule allows.
    Within(usize),
    /// It is not known after the last round.
    Unknown,
}

/// A race under way: pure, and a function of its rounds alone.
#[derive(Clone, Debug)]
pub struct Race {
    rule: RaceRule,
    sequence: Sequence,
    chances: Vec<Chance>,
    scores: Vec<Sums>,
    /// Of the earlier minus the later player, by [`Self::place`].
    differences: Vec<Sums>,
    rounds: u64,
    verdict: Option<RaceVerdict>,
}

impl Race {
    /// A race of so many players, at least one, in which each plays so many pairs in a round.
    #[must_use]
    pub fn new(rule: RaceRule, players: usize, pairs_of_round: u64) -> Self {
        let others = players.saturating_sub(1).max(1) as f64;
        Self {
            rule,
            sequence: Sequence::new(rule.error_rate / others, rule.rounds, pairs_of_round),
            chances: vec![Chance::In; players],
            scores: vec![Sums::default(); players],
            differences: vec![Sums::default(); players * players.saturating_sub(1) / 2],
            rounds: 0,
            verdict: (players == 1).then_some(RaceVerdict::First(0)),
        }
    }

    /// Adds a round: the mean score of a game of each player, 0 to 1. Those of players that are out, or without any
    /// pair because games failed, are missing, and the player is not compared in this round. After the verdict this
    /// changes nothing.
    pub fn add_round(&mut self, scores: &[Option<f64>]) {
        if self.verdict.is_some() {
            return;
        }
        self.rounds += 1;
        let players: Vec<(usize, f64)> = self
            .still_in()
            .filter_map(|player| Some((player, scores.get(player).copied().flatten()?)))
            .collect();
        for (at, &(player, score)) in players.iter().enumerate() {
            self.scores[player].add(score);
            for &(later, other) in &players[at + 1..] {
                let place = self.place(player, later);
                self.differences[place].add(score - other);
            }
        }
        self.drop_players();
        self.verdict = self.judge();
    }

    /// The number of rounds.
    #[must_use]
    pub const fn rounds(&self) -> u64 {
        self.rounds
    }

    /// The verdict, once the race is over.
    #[must_use]
    pub const fn verdict(&self) -> Option<RaceVerdict> {
        self.verdict
    }

    /// Whether each player may still be first.
    #[must_use]
    pub fn chances(&self) -> &[Chance] {
        &self.chances
    }

    /// The mean score of a player over its rounds; `None` without any.
    #[must_use]
    pub fn score(&self, player: usize) -> Option<f64> {
        self.scores[player].mean()
    }

    /// The player that leads: of those that may be first, the one with the highest score, and of equals the earliest.
    /// Equal are means that differ by no more than rounding.
    #[must_use]
    pub fn leader(&self) -> usize {
        let score = |player: usize| self.score(player).unwrap_or(0.0);
        let better = |best: usize, player| {
            if score(player) > score(best) + ROUNDING { player } else { best }
        };
        self.still_in().reduce(better).unwrap_or(0)
    }

    /// By how many points per game the first player is better than the second, over the rounds that both played, and the
    /// ends between which the difference is known to be: each end by itself, for all looks together, errs with the
    /// probability that the race allows for one pair of players.
    #[must_use]
    pub fn lead(&self, player: usize, over: usize) -> [f64; 3] {
        if player == over {
            return [0.0; 3];
        }
        let [mean, low, high] = self
            .sequence
            .interval(&self.differences[self.place(player.min(over), player.max(over))]);
        if player < over { [mean, low, high] } else { [-mean, -high, -low] }
    }

    fn still_in(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.chances.len()).filter(|&player| self.chances[player] == Chance::In)
    }

    /// The place of the difference of an earlier player to a later one.
    const fn place(&self, player: usize, later: usize) -> usize {
        later * (later - 1) / 2 + player
    }

    /// Only a player that is in drops another, so that one remains.
    fn drop_players(&mut self) {
        let runners: Vec<usize> = self.still_in().collect();
        for &player in &runners {
            let mut best: Option<(f64, usize)> = None;
            for by in self.still_in().filter(|&by| by != player) {
                let [_, low, _] = self.lead(by, player);
                if low > best.map_or(0.0, |(low, _)| low) {
                    best = Some((low, by));
                }
            }
            if let Some((_, by)) = best {
                self.chances[player] = Chance::Out { after: self.rounds, by };
            }
        }
    }

    fn judge(&self) -> Option<RaceVerdict> {
        let leader = self.leader();
        let mut others = self.still_in().filter(|&player| player != leader).peekable();
        if others.peek().is_none() {
            return Some(RaceVerdict::First(leader));
        }
        if others.all(|other| self.lead(other, leader)[2] <= self.rule.within) {
            return Some(RaceVerdict::Within(leader));
        }
        (self.rounds >= self.rule.rounds).then_some(RaceVerdict::Unknown)
    }
}
