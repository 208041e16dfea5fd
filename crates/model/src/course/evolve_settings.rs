//! Settings of an `[evolve]` run.

use spelrum_engine::expression::FeatureInfo;
use spelrum_optimize::genetic_programming::breeding::Breeding;
use spelrum_optimize::genetic_programming::selection::Parsimony;

/// The settings of an `[evolve]` run.
#[derive(Clone, Debug, PartialEq)]
pub struct EvolveSettings {
    /// The player's parameter whose formula is bred.
    pub parameter: String,
    /// The features of the game that formulas may use.
    pub features: &'static [FeatureInfo],
    /// The settings for breeding generations.
    pub breeding: Breeding,
    /// The number of generations, including the first: at least 1.
    pub generations: u64,
    /// The measure of fitness.
    pub fitness: Fitness,
    /// The cost of size in ranking.
    pub parsimony: Parsimony,
    /// The opponents of individuals.
    pub meet: Meet,
    /// The number of best individuals of earlier generations that every individual also meets.
    pub hall_of_fame: usize,
    /// The individuals that are measured again.
    pub reevaluate: Reevaluate,
    /// The number of games per meeting, if different from a cell of the sweep: even.
    pub games: Option<u64>,
}

/// The fitness of an individual by its games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fitness {
    /// Points per game: 1 for a win, ½ for a draw.
    Score,
    /// The study's fitness: 100 for each win, plus the sum of the margins of all games.
    Study,
    /// The mean margin of its games.
    Margin,
}

impl Fitness {
    /// All measures, with their names in sweeps.
    pub const ALL: [(&'static str, Self); 3] =
        [("score", Self::Score), ("study", Self::Study), ("margin", Self::Margin)];

    /// Whether it needs margins.
    #[must_use]
    pub const fn needs_margins(self) -> bool {
        matches!(self, Self::Study | Self::Margin)
    }
}

/// The opponents of individuals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Meet {
    /// Each meets all of the sweep's opponents.
    #[default]
    Opponents,
    /// Each meets every other of its generation.
    League,
    /// A knock-out within the generation: fitness is the number of rounds survived, plus the points per game, below 1,
    /// to order those that survive equally many.
    KnockOut,
}

impl Meet {
    /// All ways to meet, with their names in sweeps.
    pub const ALL: [(&'static str, Self); 3] =
        [("opponents", Self::Opponents), ("league", Self::League), ("knock-out", Self::KnockOut)];
}

/// The individuals that are measured despite an earlier measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reevaluate {
    /// All individuals, in every generation.
    Always,
    /// Children only. The elite keep their fitness, as in the study.
    Children,
    /// Only formulas that the run has not measured yet.
    New,
}

impl Reevaluate {
    /// All policies, with their names in sweeps.
    pub const ALL: [(&'static str, Self); 3] =
        [("children", Self::Children), ("new", Self::New), ("always", Self::Always)];
}

impl EvolveSettings {
    /// Most cells of a run against this many opponents.
    #[must_use]
    pub fn cells(&self, opponents: u64) -> u64 {
        let all = self.breeding.population as u64;
        let elite = self.breeding.elite as u64;
        let hall = |generation: u64| generation.min(self.hall_of_fame as u64);
        let of_hall: u64 = match self.hall_of_fame {
            0 => 0,
            _ => (0..self.generations).map(hall).fold(0, u64::saturating_add).saturating_mul(all),
        };
        let met = match self.meet {
            Meet::Opponents => {
                let kept = match self.reevaluate {
                    Reevaluate::Always => 0,
                    Reevaluate::Children | Reevaluate::New => elite.min(all),
                };
                let children = (all - kept).saturating_mul(self.generations.saturating_sub(1));
                children.saturating_add(all).saturating_mul(opponents)
            }
            Meet::League => (all * all.saturating_sub(1) / 2).saturating_mul(self.generations),
            Meet::KnockOut => all.saturating_sub(1).saturating_mul(self.generations),
        };
        met.saturating_add(of_hall)
    }

    /// Whether individuals meet the opponents, and whether they meet their own kind.
    #[must_use]
    pub const fn meets(&self) -> [bool; 2] {
        let meets_opponents = matches!(self.meet, Meet::Opponents);
        [meets_opponents, !meets_opponents || self.hall_of_fame > 0]
    }

    /// The total number of individuals that a run breeds.
    #[must_use]
    pub fn individuals(&self) -> u64 {
        self.generations.saturating_mul(self.breeding.population as u64)
    }
}
