//! What is to be known of a course: of its runs, of what they tried, and of what they found.
//!
//! Notes change nothing; they are stored with the cells and outcomes that they follow from, for people. What a
//! run found is in them and nowhere else, so that a report needs no course.

use serde::{Deserialize, Serialize};
use serde_json::Error;
use spelrum_engine::Parameters;

use super::generation::{Generation, Individual, Scored};
use super::kind::CourseKind;
use crate::plan::cell::AxisValue;

/// A note on one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Noted {
    /// The number of the run, from 0.
    pub run: u64,
    /// What there is to be known.
    pub note: Note,
}

/// What there is to be known of a run. Each is noted once for each step and trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// It begins.
    Begun(Begun),
    /// It tries something: in which step, as which trial of the step, both from 0.
    Tried(u64, u64, Tried),
    /// What it holds for the best after a step.
    Estimated(u64, Estimated),
    /// How good that proved to be.
    Confirmed(Confirmed),
    /// An individual: of which generation, and with which index there, both from 0.
    Individual(u64, u64, Individual),
    /// How this individual did.
    Scored(u64, u64, Scored),
    /// A generation that is measured.
    Generation(u64, Generation),
    /// It is done.
    Ended(Ended),
}

/// A run that begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Begun {
    /// Of which kind it is.
    pub kind: CourseKind,
    /// The player that it decides about.
    pub player: String,
    /// Whom it meets.
    pub opponents: Vec<String>,
    /// Its place on the grid's axes.
    pub axes: Vec<Place>,
    /// The settings that it begins with, where it begins with some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start: Vec<Setting>,
}

/// A place on an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The axis.
    pub axis: String,
    /// The value there.
    #[serde(flatten)]
    pub value: AxisValue,
}

/// Settings that are tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// One for each parameter.
    pub settings: Vec<Setting>,
}

/// A value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// The parameter's name in sweeps.
    pub parameter: String,
    /// Its value.
    #[serde(flatten)]
    pub value: AxisValue,
}

/// The best settings, as far as is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimated {
    /// One for each parameter.
    pub estimates: Vec<Estimate>,
}

/// The best value of a parameter, as far as is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The parameter's name in sweeps.
    pub parameter: String,
    /// The best guess.
    #[serde(flatten)]
    pub value: AxisValue,
    /// Its 95% interval, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Bounds>,
}

/// The ends of an interval. One that lies beyond what is tried is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// The lower.
    pub low: Option<AxisValue>,
    /// The upper.
    pub high: Option<AxisValue>,
}

/// The best settings against those that a run began with, by games that nothing else was decided by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confirmed {
    /// What the best settings scored: against the same player with the first settings, or against the opponents.
    pub found: SettingsScore,
    /// What the first settings scored against the same opponents; absent where the best ones met them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<SettingsScore>,
}

/// A run that is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// All parameters of the best player, if the run decided which of them it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub player: Option<Parameters>,
}

/// A score with its 95% interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SettingsScore {
    /// Over how many games that count.
    pub games: u64,
    /// The mean score of a game, over whole pairs.
    pub score: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper.
    pub high: f64,
}

impl Confirmed {
    /// How much more of a game's point the best settings score than the first ones, with the ends of its 95% interval:
    /// of two scores by Newcombe's (1998) square and add; of one against the other twice what it is above a half.
    #[must_use]
    pub fn gain(&self) -> [f64; 3] {
        let SettingsScore { score, low, high, .. } = self.found;
        let Some(start) = &self.start else { return [score, low, high].map(|it| 2.0 * it - 1.0) };
        let gain = score - start.score;
        let both = |one: f64, other: f64| (one * one + other * other).sqrt();
        [
            gain,
            gain - both(score - low, start.high - start.score),
            gain + both(high - score, start.score - start.low),
        ]
    }
}

impl Note {
    /// Of which kind it is: what the database calls it.
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

    /// Of which step, and of which trial: 0 where it is of none.
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

    /// What it says, as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let json = match self {
            Self::Begun(it) => serde_json::to_string(it),
            Self::Tried(_, _, it) => serde_json::to_string(it),
            Self::Estimated(_, it) => serde_json::to_string(it),
            Self::Confirmed(it) => serde_json::to_string(it),
            Self::Individual(_, _, it) => serde_json::to_string(it),
            Self::Scored(_, _, it) => serde_json::to_string(it),
            Self::Generation(_, it) => serde_json::to_string(it),
            Self::Ended(it) => serde_json::to_string(it),
        };
        json.expect("texts, numbers and lists have a JSON")
    }

    /// Reads a note again from [its kind](Self::kind), [its place](Self::place) and [its JSON](Self::json).
    /// `None` of a kind that is not known.
    ///
    /// # Errors
    /// If the JSON is not that of such a note.
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
