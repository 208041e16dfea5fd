//! What a run of `[evolve]` does.

use spelrum_engine::expression::FeatureInfo;
use spelrum_optimize::genetic_programming::breeding::Breeding;
use spelrum_optimize::genetic_programming::selection::Parsimony;

/// What a run of `[evolve]` does.
#[derive(Clone, Debug, PartialEq)]
pub struct EvolveSettings {
    /// The player's parameter whose formula is bred.
    pub parameter: String,
    /// What formulas may count, by the game.
    pub features: &'static [FeatureInfo],
    /// How generations are made.
    pub breeding: Breeding,
    /// How many generations there are, the first among them: at least 1.
    pub generations: u64,
    /// What is fit.
    pub fitness: Fitness,
    /// What size costs where individuals are ranked.
    pub parsimony: Parsimony,
    /// Whom individuals meet.
    pub meet: Meet,
    /// How many of the best of earlier generations everybody meets, too.
    pub hall_of_fame: usize,
    /// Who is measured again.
    pub reevaluate: Reevaluate,
    /// How many games a meeting has, if not as many as a cell of the sweep: even.
    pub games: Option<u64>,
}

/// How fit an individual is by its games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fitness {
    /// Points per game: 1 for a win, ½ for a draw.
    Score,
    /// The study's: 100 for each win, and the sum of the margins of all games.
    Study,
    /// The mean margin of its games.
    Margin,
}

impl Fitness {
    /// All of them, with their names in sweeps.
    pub const ALL: [(&'static str, Self); 3] =
        [("score", Self::Score), ("study", Self::Study), ("margin", Self::Margin)];

    /// Whether it asks for margins.
    #[must_use]
    pub const fn needs_margins(self) -> bool {
        matches!(self, Self::Study | Self::Margin)
    }
}

/// Whom individuals meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Meet {
    /// Each meets all of the sweep's opponents.
    #[default]
    Opponents,
    /// Each meets every other of its generation.
    League,
    /// Those of a generation meet in a knock-out: how many rounds one survives is its fitness, and its points
    /// per game, below 1, tell apart those that survive as many.
    KnockOut,
}

impl Meet {
    /// All of them, with their names in sweeps.
    pub const ALL: [(&'static str, Self); 3] =
        [("opponents", Self::Opponents), ("league", Self::League), ("knock-out", Self::KnockOut)];
}

/// Who is measured, although something is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reevaluate {
    /// Everybody, in every generation.
    Always,
    /// Children. The elite keep what they have: so did the study.
    Children,
    /// Formulas that the run has not measured yet.
    New,
}

impl Reevaluate {
    /// All of them, with their names in sweeps.
    pub const ALL: [(&'static str, Self); 3] =
        [("always", Self::Always), ("children", Self::Children), ("new", Self::New)];
}

impl EvolveSettings {
    /// How many cells a run has at most, that meets so many opponents.
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

    /// Whether individuals meet the opponents, and whether they meet others of their own kind.
    #[must_use]
    pub const fn meets(&self) -> [bool; 2] {
        let meets_opponents = matches!(self.meet, Meet::Opponents);
        [meets_opponents, !meets_opponents || self.hall_of_fame > 0]
    }

    /// How many individuals a run breeds in all.
    #[must_use]
    pub fn individuals(&self) -> u64 {
        self.generations.saturating_mul(self.breeding.population as u64)
    }
}
