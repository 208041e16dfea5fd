//! What is being thrown away.

/// What is removed of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removing {
    /// All of it.
    Everything,
    /// Its moves: games, rollups and results stay.
    Moves,
}

/// A removal at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// The experiment's name, which it may have lost.
    pub experiment: String,
    /// What of it goes.
    pub what: Removing,
    /// Games that there are to go through.
    pub games: u64,
    /// Of these, games that are done.
    pub games_done: u64,
    /// Whether the rows are gone, and the file is still to shrink.
    pub is_shrinking: bool,
}

impl Removing {
    /// Its name, in the database and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Everything => "everything",
            Self::Moves => "moves",
        }
    }

    /// What has this name; all of it, if it is of neither.
    #[must_use]
    pub fn named(name: &str) -> Self {
        if name == Self::Moves.name() { Self::Moves } else { Self::Everything }
    }
}
