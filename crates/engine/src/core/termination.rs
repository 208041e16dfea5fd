//! Reasons for a game's end: a stored name, and a text for people.

use std::fmt;

use serde::{Serialize, Serializer};

/// The reason for a game's end. Each game declares its own beside its rules; the arbiter's and
/// those that several games share are here. The names are stored in the results database and never
/// change.
#[derive(Clone, Copy)]
pub struct Termination(&'static TerminationInfo);

/// The name and text of a [`Termination`].
#[derive(Debug)]
pub struct TerminationInfo {
    /// The name that is stored, such as `five_by_rotation`.
    pub name: &'static str,
    /// Why the game ended, in words for people.
    pub words: &'static str,
}

impl Termination {
    /// The board is full: a draw, unless the game is one of filling it.
    pub const FULL_BOARD: Self =
        Self::new(&TerminationInfo { name: "full_board", words: "the board is full" });
    /// The side to move has no move left, and loses.
    pub const CANNOT_MOVE: Self =
        Self::new(&TerminationInfo { name: "cannot_move", words: "the side to move cannot move" });
    /// The game reached the sweep's greatest number of plies: adjudicated a draw.
    pub const MAX_PLIES: Self = Self::new(&TerminationInfo {
        name: "max_plies",
        words: "the game reached its greatest number of plies",
    });
    /// Adjudicated a loss by both players' scores, or by the loser's.
    pub const RESIGN_RULE: Self = Self::new(&TerminationInfo {
        name: "resign_rule",
        words: "by the players' scores one side had lost",
    });
    /// Adjudicated a draw by both players' scores: neither side was ahead.
    pub const DRAW_RULE: Self = Self::new(&TerminationInfo {
        name: "draw_rule",
        words: "by the players' scores the game was level",
    });
    /// Adjudicated by an exact table.
    pub const TABLE: Self =
        Self::new(&TerminationInfo { name: "table", words: "an exact table gives the result" });
    /// Adjudicated by the worker's Syzygy tables.
    pub const SYZYGY: Self =
        Self::new(&TerminationInfo { name: "syzygy", words: "a Syzygy table gives the result" });
    /// A player answered with something that is not a legal move, and loses.
    pub const ILLEGAL_MOVE: Self =
        Self::new(&TerminationInfo { name: "illegal_move", words: "an illegal move" });
    /// A player failed in the middle of the game, and loses.
    pub const CRASH: Self = Self::new(&TerminationInfo { name: "crash", words: "a player failed" });
    /// A player overstepped its time, and loses.
    pub const TIME_FORFEIT: Self = Self::new(&TerminationInfo {
        name: "time_forfeit",
        words: "a player overstepped its time",
    });
    /// A player did not answer within any allowed wait, and loses.
    pub const STALL: Self =
        Self::new(&TerminationInfo { name: "stall", words: "a player did not answer" });
    /// A player gave the game up.
    pub const RESIGNATION: Self =
        Self::new(&TerminationInfo { name: "resignation", words: "a player gave up" });

    /// The ends that the arbiter may give any game.
    pub const OF_ARBITER: &[Self] = &[
        Self::MAX_PLIES,
        Self::RESIGN_RULE,
        Self::DRAW_RULE,
        Self::TABLE,
        Self::SYZYGY,
        Self::ILLEGAL_MOVE,
        Self::CRASH,
        Self::TIME_FORFEIT,
        Self::STALL,
        Self::RESIGNATION,
    ];

    /// Whether the losing side ended the game, rather than the position.
    #[must_use]
    pub fn is_forfeit(self) -> bool {
        Self::OF_ARBITER.contains(&self) && !self.is_adjudication()
    }

    /// Whether the sweep's rules for unfinished games ended it, rather than the position or a player.
    #[must_use]
    pub fn is_adjudication(self) -> bool {
        [Self::MAX_PLIES, Self::RESIGN_RULE, Self::DRAW_RULE, Self::TABLE, Self::SYZYGY]
            .contains(&self)
    }

    /// A termination that a game declares.
    #[must_use]
    pub const fn new(info: &'static TerminationInfo) -> Self {
        Self(info)
    }

    /// The name that is stored.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Why the game ended, in words for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        self.0.words
    }
}

impl PartialEq for Termination {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Termination {}

impl fmt::Debug for Termination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Termination {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
