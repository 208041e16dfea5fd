//! Notes on a course: its runs, their trials and their results.
//!
//! Notes affect nothing; they are stored for people, with the cells and outcomes that they follow from. A run's result
//! is stored only in its notes, so that a report needs no course.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Error;
use spelrum_engine::Parameters;

use super::generation::{Generation, Individual, Scored};
use super::kind::CourseKind;
use super::race::RaceStandings;
use crate::plan::cell::AxisValue;

/// A note on one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Noted {
    /// The number of the run, from 0.
    pub run: u64,
    /// The note.
    pub note: Note,
}

/// A fact about a run. Each is noted once per step and trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// The run begins.
    Begun(Begun),
    /// The run tries settings: the step and the trial within it, both from 0.
    Tried(u64, u64, Tried),
    /// The run's best estimate after a step.
    Estimated(u64, Estimated),
    /// The measured quality of that estimate.
    Confirmed(Confirmed),
    /// An individual: its generation and its index there, both from 0.
    Individual(u64, u64, Individual),
    /// The result of this individual.
    Scored(u64, u64, Scored),
    /// A measured generation.
    Generation(u64, Generation),
    /// The run is done.
    Ended(Ended),
}

/// A run that begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Begun {
    /// The run's kind.
    pub kind: CourseKind,
    /// The player that the run decides about; for a race, the names of all that are compared.
    pub player: String,
    /// The names of its opponents.
    pub opponents: Vec<String>,
    /// Its place on the grid's axes.
    pub axes: Vec<Place>,
    /// The initial settings, if any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start: Vec<Setting>,
}

/// A place on an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AxisPlace")]
pub struct Place {
    /// The axis.
    pub axis: String,
    /// The value there.
    #[serde(flatten)]
    pub value: AxisValue,
}

/// Settings tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// One for each parameter.
    pub settings: Vec<Setting>,
}

/// A value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// The parameter's name in sweeps.
    pub parameter: String,
    /// Its value.
    #[serde(flatten)]
    pub value: AxisValue,
}

/// The best settings known so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimated {
    /// One for each parameter.
    pub estimates: Vec<Estimate>,
    /// The standings of a race after the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race: Option<RaceStandings>,
}

/// The best value known so far of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ParameterEstimate")]
pub struct Estimate {
    /// The parameter's name in sweeps.
    pub parameter: String,
    /// The best guess.
    #[serde(flatten)]
    pub value: AxisValue,
    /// Its 95% interval, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Bounds>,
}

/// The ends of an interval. An end beyond the tried range is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bounds {
    /// The lower end.
    pub low: Option<AxisValue>,
    /// The upper end.
    pub high: Option<AxisValue>,
}

/// The best settings against those that a run began with, by games that decided nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Confirmed {
    /// The score of the best settings: against the same player with the first settings, or against the opponents.
    pub found: SettingsScore,
    /// The score of the first settings against the same opponents; absent if the best settings met the first ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<SettingsScore>,
}

/// A finished run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// All parameters of the best player, if the run decides which parameters that player has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub player: Option<Parameters>,
}

/// A score with its 95% interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsScore {
    /// The number of games counted.
    pub games: u64,
    /// The mean score of a game, over whole pairs.
    pub score: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Confirmed {
    /// The gain per game of the best settings over the first ones, with the ends of its 95% interval: for two scores by
    /// Newcombe's (1998) square and add; for one score against the other, twice its excess over a half.
    #[must_use]
    pub fn gain(&self) -> [f64; 3] {
        let SettingsScore { score, low, high, .. } = self.found;
        let Some(start) = &self.start else {
            return [score, low, high].map(|share| 2.0 * share - 1.0);
        };
        let gain = score - start.score;
        let both = |first: f64, second: f64| (first * first + second * second).sqrt();
        [
            gain,
            gain - both(score - low, start.high - start.score),
            gain + both(high - score, start.score - start.low),
        ]
    }
}

impl Note {
    /// The kind's name in the database.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Begun(_) => "begun",
            Self::Tried(..) => "tried",
            Self::Estimated(..) => "estimated",
            Self::Confirmed(_) => "confirmed",
            Self::Individual(..) => "individual",
            Self::Scored(..) => "scored",
            Self::Generation(..) => "generation",
            Self::Ended(_) => "ended",
        }
    }

    /// The step and the trial; 0 where there is none.
    #[must_use]
    pub const fn place(&self) -> (u64, u64) {
        match self {
            Self::Begun(_) | Self::Confirmed(_) | Self::Ended(_) => (0, 0),
            Self::Estimated(step, _) | Self::Generation(step, _) => (*step, 0),
            Self::Tried(step, trial, _)
            | Self::Individual(step, trial, _)
            | Self::Scored(step, trial, _) => (*step, *trial),
        }
    }

    /// The content, as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let json = match self {
            Self::Begun(begun) => serde_json::to_string(begun),
            Self::Tried(_, _, tried) => serde_json::to_string(tried),
            Self::Estimated(_, estimated) => serde_json::to_string(estimated),
            Self::Confirmed(confirmed) => serde_json::to_string(confirmed),
            Self::Individual(_, _, individual) => serde_json::to_string(individual),
            Self::Scored(_, _, scored) => serde_json::to_string(scored),
            Self::Generation(_, generation) => serde_json::to_string(generation),
            Self::Ended(ended) => serde_json::to_string(ended),
        };
        json.expect("texts, numbers and lists have a JSON")
    }

    /// Parses a note from [its kind](Self::kind), [its place](Self::place) and [its JSON](Self::json); `None` for an
    /// unknown kind.
    ///
    /// # Errors
    /// If the JSON does not fit the kind.
    pub fn read(kind: &str, (step, trial): (u64, u64), json: &str) -> Result<Option<Self>, Error> {
        Ok(Some(match kind {
            "begun" => Self::Begun(serde_json::from_str(json)?),
            "tried" => Self::Tried(step, trial, serde_json::from_str(json)?),
            "estimated" => Self::Estimated(step, serde_json::from_str(json)?),
            "confirmed" => Self::Confirmed(serde_json::from_str(json)?),
            "individual" => Self::Individual(step, trial, serde_json::from_str(json)?),
            "scored" => Self::Scored(step, trial, serde_json::from_str(json)?),
            "generation" => Self::Generation(step, serde_json::from_str(json)?),
            "ended" => Self::Ended(serde_json::from_str(json)?),
            _ => return Ok(None),
        }))
    }
}
