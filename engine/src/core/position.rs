//! The trait every game implements, and the words shared by all of them.

use std::fmt::{Debug, Display};
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::core::rng::{PlayoutRandom, Random};
use crate::core::termination::Termination;

/// One of a game's two sides. What the game calls them: [`Position::SIDES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Moves first from the start position of the game; not always from an opening.
    First,
    /// The other.
    Second,
}

impl Side {
    /// The opponent's side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// 0 for the first side, 1 for the second.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }
}

/// How a position that is over ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The winner, or `None` for a draw.
    pub winner: Option<Side>,
    /// Why it is over.
    pub termination: Termination,
}

/// What a game calls one of its sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SideName {
    /// In a sentence: "white", "x", "the first player".
    pub word: &'static str,
    /// In notations and tables.
    pub letter: char,
}

/// A position and the moves that led to it, from where the game began.
///
/// A position is Markov: it has all that its moves, its placement of pieces and its counters need.
/// What rules say of earlier positions, such as of repetition, is to be read here.
#[derive(Debug)]
pub struct Line<'a, P: Position> {
    /// The position reached.
    pub position: &'a P,
    /// The moves made before, in order, each with the key of the position that it was made in.
    pub before: &'a [Before<P::Move>],
}

/// A move made, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Before<M> {
    /// The move.
    pub mv: M,
    /// [`Position::canonical_key`] of the position that it was made in.
    pub key: u64,
}

impl<'a, P: Position> Line<'a, P> {
    /// A position of which no more is known, as if the game began there.
    #[must_use]
    pub const fn from_start(position: &'a P) -> Self {
        Self { position, before: &[] }
    }

    /// How the game ended: by the position itself, or by a rule that looks at the moves before.
    #[must_use]
    pub fn ending(self) -> Option<Ending> {
        let adjudicated = || if P::HISTORY_MATTERS { P::adjudicate(self) } else { None };
        self.position.ending().or_else(adjudicated)
    }
}

impl<P: Position> Clone for Line<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Position> Copy for Line<'_, P> {}

/// A position of a two-player game of perfect information, with all that its rules need.
///
/// Moves are played by copying: a position is small and `Clone`. Whose turn it is is the
/// position's own business, so that games with passes or double moves fit.
///
/// `Display` writes the compact notation that a game reads back to an equal position.
pub trait Position: Clone + Eq + Hash + Debug + Display + Send + Sync + 'static {
    /// A move. `Ord` is the canonical order in which [`Position::legal_moves`] lists moves.
    /// `Display` writes the notation that [`Position::parse_move`] reads.
    type Move: Copy + Eq + Ord + Hash + Debug + Display + Send + Sync + 'static;

    /// What the game calls its sides: who moves first from its start position, and the other.
    const SIDES: [SideName; 2];

    /// Whether the moves before a position may decide how the game goes on from it, as a rule on
    /// repetition does: then equal positions may have different values, and what a search promises
    /// on the ground that they have not ([`crate::ParameterInfo::promise_where`]) does not hold.
    const HISTORY_MATTERS: bool;

    /// Who moves now; in a position that is over, who would.
    fn to_move(&self) -> Side;

    /// How the game ended, or `None` while it goes on.
    fn ending(&self) -> Option<Ending>;

    /// Whether the game is over: whether [`Position::ending`] has an answer.
    fn is_over(&self) -> bool {
        self.ending().is_some()
    }

    /// Appends the legal moves in canonical order; none if and only if the game is over.
    fn legal_moves(&self, moves: &mut Vec<Self::Move>);

    /// The number of legal moves; 0 if and only if the game is over.
    fn legal_move_count(&self) -> u32;

    /// The legal move with this index in canonical order, without listing the others.
    ///
    /// # Panics
    /// If `index` is not below [`Position::legal_move_count`].
    fn nth_legal_move(&self, index: u32) -> Self::Move;

    /// A legal move, each equally likely, from one random number: always the one that
    /// [`Position::nth_legal_move`] has at [`Random::below`] the [`Position::legal_move_count`].
    ///
    /// # Panics
    /// If the game is over.
    fn random_move(&self, random: &mut Random) -> Self::Move {
        self.nth_legal_move(random.below(self.legal_move_count()))
    }

    /// The first move in canonical order that wins at once for who makes it, if there is one.
    ///
    /// A game that knows better than to make every move should say so.
    fn winning_move(&self) -> Option<Self::Move> {
        let mover = self.to_move();
        (0..self.legal_move_count()).map(|index| self.nth_legal_move(index)).find(|&mv| {
            let mut child = self.clone();
            child.play_unchecked(mv);
            child.ending().is_some_and(|ending| ending.winner == Some(mover))
        })
    }

    /// Plays random moves until the game is over or so many have been made, and says how many.
    ///
    /// Each legal move is equally likely: it is the one that [`Position::nth_legal_move`] has at
    /// [`PlayoutRandom::below`] the [`Position::legal_move_count`], one number for each move. A
    /// faster way of a game's own plays the same moves.
    fn play_randomly(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        let mut plies = 0;
        while plies < plies_max && !self.is_over() {
            self.play_unchecked(self.nth_legal_move(random.below(self.legal_move_count())));
            plies += 1;
        }
        plies
    }

    /// The same, but that a side with a [`Position::winning_move`] makes it, for which it needs no
    /// number.
    fn play_decisively(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        let mut plies = 0;
        while plies < plies_max && !self.is_over() {
            match self.winning_move() {
                Some(mv) => self.play_unchecked(mv),
                None => _ = self.play_randomly(random, 1),
            }
            plies += 1;
        }
        plies
    }

    /// Whether the move is legal here.
    fn is_legal(&self, mv: Self::Move) -> bool;

    /// Plays a legal move. What an illegal one does is unspecified, but memory-safe.
    fn play_unchecked(&mut self, mv: Self::Move);

    /// A key below 2^53 that is equal for positions that are equal up to the game's symmetries
    /// (and, but for hash collisions, only for those). Part of the recorded data: it never changes.
    fn canonical_key(&self) -> u64;

    /// How the game ended by a rule that looks at the moves before, in a position that goes on by
    /// itself. The arbiter asks after each move; a search may ask of any line.
    ///
    /// Only a game of which [`Position::HISTORY_MATTERS`] has such rules.
    fn adjudicate(_line: Line<'_, Self>) -> Option<Ending> {
        None
    }

    /// Whether no earlier position can come again after the last move, as far as the position itself shows it: in chess
    /// after a capture or a pawn move.
    fn is_after_irreversible_move(&self) -> bool {
        false
    }

    /// How far [`Side::First`] is ahead at the end of a game, in what the game counts
    /// (`Game::MARGIN`), such as discs: negative where the other side is. At most [`MARGIN_MAX`] either
    /// way, and of the winner's sign. `None` while the game goes on, and in a game that counts nothing.
    fn margin(&self) -> Option<i32> {
        None
    }

    /// The leaves of the full tree of this depth if no game in it ended early, saturating at
    /// 2^53 - 1: the yardstick that a report holds a search's evaluations against. `None` for a game
    /// that has no closed form for it.
    fn full_tree_leaves(&self, _depth: u32) -> Option<u64> {
        None
    }

    /// Whose turn it is, or how the game ended, in words.
    fn status(&self) -> String {
        match self.ending() {
            None => format!("{} to move", Self::side_name(self.to_move())),
            Some(ending) => Self::describe(ending),
        }
    }

    /// How a game ended, in words.
    #[must_use]
    fn describe(ending: Ending) -> String {
        match ending.winner {
            None => format!("a draw: {}", ending.termination.words()),
            Some(winner) => {
                format!("{} wins: {}", Self::side_name(winner), ending.termination.words())
            }
        }
    }

    /// The game's word for a side.
    #[must_use]
    fn side_name(side: Side) -> &'static str {
        Self::SIDES[side.index()].word
    }

    /// A multi-line board for people.
    fn board(&self) -> String;

    /// Reads a move in this position's notation. Legality is not checked.
    ///
    /// # Errors
    /// If the text is not a move of this game.
    fn parse_move(&self, text: &str) -> Result<Self::Move, NotationError>;
}

/// A text that is not a position or not a move, with what is wrong and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; {remedy}")]
pub struct NotationError {
    /// What is wrong, with the place.
    pub problem: String,
    /// What to write instead.
    pub remedy: String,
}

/// The greatest [`Position::margin`]: sums of squares over 90 million games stay below 2^53.
pub const MARGIN_MAX: i32 = 10_000;

/// The greatest number of leaves that [`Position::full_tree_leaves`] gives: 2^53 - 1.
pub(crate) const LEAVES_MAX: u64 = (1 << 53) - 1;

/// The product of the first `depth` numbers of moves, saturating at [`LEAVES_MAX`].
pub(crate) fn product_of_moves(moves: impl Iterator<Item = u64>, depth: u32) -> u64 {
    moves
        .take(usize::try_from(depth).unwrap_or(usize::MAX))
        .fold(1_u64, u64::saturating_mul)
        .min(LEAVES_MAX)
}

/// Mixes words into a key below 2^53, for all time: the highest 53 bits of what [`mix`] makes of them.
pub(crate) fn mix_key<const WORDS: usize>(words: [u64; WORDS]) -> u64 {
    mix(words) >> 11
}

/// Mixes words: from 0 on, each word is XORed in and the sum with 2^64 divided by the golden ratio goes
/// through the finaliser of SplitMix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number
/// generators", as revised by Vigna).
#[inline]
pub(crate) fn mix<const WORDS: usize>(words: [u64; WORDS]) -> u64 {
    words.into_iter().fold(0_u64, |state, word| {
        let mut z = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}
