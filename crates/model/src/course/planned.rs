//! Planned courses of sweeps: `[find]`, `[tune]`, `[evolve]` and `[race]`.

use spelrum_engine::Parameters;

use super::evolve_settings::EvolveSettings;
use super::find_settings::FindSettings;
use super::kind::CourseKind;
use super::note::Setting;
use super::parameter::set_parameter;
use super::race::RaceSettings;
use super::tune_settings::TuneSettings;
use crate::plan::cell::PlannedCell;

/// The runs of a sweep with a course, in the order of the grid.
#[derive(Clone, Debug, PartialEq)]
pub struct CoursePlan {
    /// The runs; at least one.
    pub runs: Vec<PlannedRun>,
}

/// One run: a course at one point of the grid.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRun {
    /// The run's settings.
    pub settings: RunSettings,
    /// Template cells of the run: one for each opponent, in the order of the pairing; at least one.
    pub meetings: Vec<Meeting>,
}

/// A template cell of a run. It is not played itself: the parameters that the run decides have placeholder values.
#[derive(Clone, Debug, PartialEq)]
pub struct Meeting {
    /// The cell.
    pub cell: PlannedCell,
    /// The index of the player that the run decides about: 0 or 1; 0 for both.
    pub subject: usize,
}

/// The settings of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum RunSettings {
    /// Finds the value of a parameter at which two players are even.
    Find(FindSettings),
    /// Searches for the best settings of a player.
    Tune(Box<TuneSettings>),
    /// Breeds formulas.
    Evolve(Box<EvolveSettings>),
    /// Finds which of several players is first.
    Race(RaceSettings),
}

impl RunSettings {
    /// The initial values of the parameters that the run decides.
    #[must_use]
    pub fn start(&self) -> Vec<Setting> {
        match self {
            Self::Find(_) | Self::Evolve(_) | Self::Race(_) => Vec::new(),
            Self::Tune(tune) => tune.start(),
        }
    }

    /// Whether the run decides all parameters of a player.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        match self {
            Self::Find(_) | Self::Evolve(_) | Self::Race(_) => false,
            Self::Tune(_) => true,
        }
    }

    /// Whether its player meets other opponents than its own kind.
    #[must_use]
    pub const fn meets_opponents(&self) -> bool {
        match self {
            Self::Find(_) | Self::Tune(_) | Self::Race(_) => true,
            Self::Evolve(evolve) => evolve.meets()[0],
        }
    }

    /// The run's kind.
    #[must_use]
    pub const fn kind(&self) -> CourseKind {
        match self {
            Self::Find(_) => CourseKind::Find,
            Self::Tune(_) => CourseKind::Tune,
            Self::Evolve(_) => CourseKind::Evolve,
            Self::Race(_) => CourseKind::Race,
        }
    }

    /// Its player with the longest games and most memory, based on one from its meetings.
    #[must_use]
    pub fn dearest(&self, mut player: Parameters) -> Parameters {
        match self {
            Self::Find(FindSettings { parameter, .. }) => {
                set_parameter(&mut player, &parameter.key, parameter.value(parameter.high));
                player
            }
            Self::Tune(tune) => tune.dearest(),
            // All formulas take about the same time.
            Self::Evolve(_) | Self::Race(_) => player,
        }
    }

    /// Its player, based on one from its meetings, at the ends of what the run tries: every value of a parameter lies
    /// between two of these, or is a choice in one of them.
    #[must_use]
    pub fn ends(&self, player: &Parameters) -> Vec<Parameters> {
        match self {
            Self::Find(FindSettings { parameter, .. }) => {
                let at = |number: f64| {
                    let mut player = player.clone();
                    set_parameter(&mut player, &parameter.key, parameter.value(number));
                    player
                };
                vec![at(parameter.low), at(parameter.high)]
            }
            Self::Tune(tune) => tune.ends(),
            Self::Evolve(_) | Self::Race(_) => vec![player.clone()],
        }
    }

    /// Most cells that the run creates against this many opponents.
    #[must_use]
    pub fn cells_at_most(&self, opponents: u64) -> u64 {
        match self {
            Self::Find(find) => find.steps.saturating_mul(opponents),
            Self::Tune(tune) => tune.cells_at_most(opponents),
            Self::Evolve(evolve) => evolve.cells(opponents),
            Self::Race(race) => race.rule.rounds().saturating_mul(opponents),
        }
    }

    /// Most individuals that the run breeds.
    #[must_use]
    pub fn individuals(&self) -> u64 {
        match self {
            Self::Find(_) | Self::Tune(_) | Self::Race(_) => 0,
            Self::Evolve(evolve) => evolve.individuals(),
        }
    }

    /// Most games of the run, given the number of its template cells and of the games of each.
    #[must_use]
    pub fn games_at_most(&self, meetings: u64, games: u64) -> u64 {
        match self {
            Self::Find(find) => find.steps.saturating_mul(meetings.saturating_mul(games)),
            Self::Tune(tune) => tune.games_at_most(meetings, games),
            Self::Evolve(evolve) => {
                evolve.cells(meetings).saturating_mul(evolve.games.unwrap_or(games))
            }
            Self::Race(race) => race.rule.rounds().saturating_mul(meetings.saturating_mul(games)),
        }
    }
}

impl PlannedRun {
    /// Most games of the run.
    #[must_use]
    pub fn games_at_most(&self) -> u64 {
        let games = self.meetings.iter().map(|meeting| meeting.cell.games).max().unwrap_or(0);
        self.settings.games_at_most(self.meetings.len() as u64, games)
    }
}

impl CoursePlan {
    /// The kind of its runs.
    #[must_use]
    pub fn kind(&self) -> CourseKind {
        self.runs.first().map_or(CourseKind::Find, |run| run.settings.kind())
    }

    /// Most games of all its runs together.
    #[must_use]
    pub fn games_at_most(&self) -> u64 {
        self.runs.iter().map(PlannedRun::games_at_most).fold(0, u64::saturating_add)
    }
}
