//! Problems that need attention, in words, with remedies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A problem that does not resolve itself, or that the user should know about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attention {
    /// Kind of problem.
    pub kind: AttentionKind,
    /// Name of the experiment concerned, if there is one.
    pub experiment: Option<String>,
    /// Number of games, results, workers, cells or bytes, depending on the kind.
    pub count: u64,
    /// The problem.
    pub problem: String,
    /// The remedy.
    pub remedy: String,
}

/// Kinds of problems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
pub enum AttentionKind {
    /// Differing results of one deterministic game (invariant 2).
    Conflicts,
    /// Games with a different result when other workers verified them.
    Deviating,
    /// Results that are not valid records of their games (invariant 11).
    Refused,
    /// Games that finally failed.
    FailedGames,
    /// Games that a player forfeited.
    Forfeits,
    /// Games that were lost with their workers more than once.
    LostGames,
    /// An experiment begun by another engine.
    OtherEngine,
    /// An experiment that is paused.
    Paused,
    /// A removal in progress.
    Removal,
    /// A file system that is nearly full.
    LittleSpace,
    /// Silent workers that hold games, or held them until recently.
    SilentWorkers,
    /// Games wait, and no worker is connected.
    NoWorkers,
    /// A cell whose games may need more memory than any worker has.
    TooLarge,
    /// Cells whose games need engines that no worker has.
    MissingEngines,
    /// Cells whose games require labels that no worker has.
    Unplaced,
    /// An excluded worker, which gets no games.
    Excluded,
    /// A worker that temporarily gets no games, because it fails far more often than others.
    Quarantined,
    /// A worker that gets no games of an engine, because only this worker forfeits them.
    Barred,
    /// A kind added by a later version.
    Other(String),
}

impl AttentionKind {
    pub(super) const ALL: [Self; 18] = [
        Self::Conflicts,
        Self::Deviating,
        Self::Refused,
        Self::FailedGames,
        Self::Forfeits,
        Self::LostGames,
        Self::OtherEngine,
        Self::Paused,
        Self::Removal,
        Self::LittleSpace,
        Self::SilentWorkers,
        Self::NoWorkers,
        Self::TooLarge,
        Self::MissingEngines,
        Self::Unplaced,
        Self::Excluded,
        Self::Quarantined,
        Self::Barred,
    ];

    /// Its name, in JSON and on the wire.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Conflicts => "conflicts",
            Self::Deviating => "deviating",
            Self::Refused => "refused",
            Self::FailedGames => "failed_games",
            Self::Forfeits => "forfeits",
            Self::LostGames => "lost_games",
            Self::OtherEngine => "other_engine",
            Self::Paused => "paused",
            Self::Removal => "removal",
            Self::LittleSpace => "little_space",
            Self::SilentWorkers => "silent_workers",
            Self::NoWorkers => "no_workers",
            Self::TooLarge => "too_large",
            Self::MissingEngines => "missing_engines",
            Self::Unplaced => "unplaced",
            Self::Excluded => "excluded",
            Self::Quarantined => "quarantined",
            Self::Barred => "barred",
            Self::Other(name) => name,
        }
    }

    /// The kind with this name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let kind = Self::ALL.into_iter().find(|kind| kind.name() == name);
        kind.unwrap_or_else(|| Self::Other(name.to_owned()))
    }
}

impl From<String> for AttentionKind {
    fn from(name: String) -> Self {
        Self::named(&name)
    }
}

impl From<AttentionKind> for String {
    fn from(kind: AttentionKind) -> Self {
        kind.name().to_owned()
    }
}
