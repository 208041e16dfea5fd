//! The courses that sweeps ask for, as a plan has them: `[find]`, `[tune]` and `[evolve]`.

use spelrum_engine::Parameters;

use super::evolve_settings::EvolveSettings;
use super::find_settings::FindSettings;
use super::kind::CourseKind;
use super::note::Setting;
use super::tune_settings::TuneSettings;
use crate::plan::cell::PlannedCell;

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

impl RunSettings {
    /// What its player begins with, of what it decides.
    #[must_use]
    pub fn start(&self) -> Vec<Setting> {
        match self {
            Self::Find(_) | Self::Evolve(_) => Vec::new(),
            Self::Tune(tune) => tune.start(),
        }
    }

    /// Whether what it decides of a player is all of its parameters, and not some.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        match self {
            Self::Find(_) | Self::Evolve(_) => false,
            Self::Tune(_) => true,
        }
    }

    /// Whether its player meets the opponents of its meetings, and not only its own kind.
    #[must_use]
    pub const fn meets_opponents(&self) -> bool {
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
