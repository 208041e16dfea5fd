//! What needs attention: in words, with what to do.

/// Something that will not mend itself, or that somebody should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attention {
    /// What kind of thing it is.
    pub kind: AttentionKind,
    /// The name of the experiment that it is about, if it is about one.
    pub experiment: Option<String>,
    /// Of games, results, workers, cells or bytes, as the kind says.
    pub count: u64,
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub remedy: String,
}

/// What kinds of things need attention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttentionKind {
    /// Results of one deterministic game that differ (invariant 2).
    Conflicts,
    /// Games that came out otherwise when other workers verified them.
    Deviating,
    /// Results that are not records of their games (invariant 11).
    Refused,
    /// Games that finally failed.
    FailedGames,
    /// Games that a player forfeited.
    Forfeits,
    /// Games that were lost with their workers more than once.
    LostGames,
    /// An experiment that another engine has begun.
    OtherEngine,
    /// An experiment that is paused.
    Paused,
    /// Something that is being thrown away.
    Removal,
    /// A file system that is nearly full.
    LittleSpace,
    /// Workers that are silent and hold games, or held them until lately.
    SilentWorkers,
    /// Games that wait for workers, and none is there.
    NoWorkers,
    /// A cell whose games may need more memory than any worker has.
    TooLarge,
    /// Cells whose games need engines that no worker has.
    MissingEngines,
    /// Cells whose games are for workers with labels that none has.
    Unplaced,
    /// A worker that gets no games, since somebody has excluded it.
    Excluded,
    /// A worker that gets none for a while, since it fails much more than others.
    Quarantined,
    /// A worker that gets no games of an engine, since it forfeits them and others do not.
    Barred,
    /// A kind that a later version has added.
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
        let known = Self::ALL.into_iter().find(|kind| kind.name() == name);
        known.unwrap_or_else(|| Self::Other(name.to_owned()))
    }
}
