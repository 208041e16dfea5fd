//! The trait that every game implements, and the types that all games share.

use std::fmt::{Debug, Display};
use std::hash::Hash;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_names::Names;

use crate::core::problem::Problem;
use crate::core::rng::{PlayoutRandom, Random};
use crate::core::termination::Termination;

/// One of a game's two sides. Its names in a game: [`Position::SIDES`].
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    Names,
)]
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

/// The end of a finished game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The winner, or `None` for a draw.
    pub winner: Option<Side>,
    /// The reason for its end.
    pub termination: Termination,
}

/// A game's names for one of its sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SideName {
    /// For sentences: "white", "x", "the first player".
    pub word: &'static str,
    /// For notations and tables.
    pub letter: char,
}

/// A position and the moves that led to it, from the start of the game.
///
/// A position is Markov: it has all that its moves, its placement of pieces and its counters need.
/// Rules that depend on earlier positions, such as repetition, read them here.
#[derive(Debug)]
pub struct Line<'a, P: Position> {
    /// The position reached.
    pub position: &'a P,
    /// The earlier moves, in order, each with the key of the position in which it was made.
    pub before: &'a [Before<P::Move>],
}

/// A move and the position in which it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Before<M> {
    /// The move.
    pub mv: M,
    /// [`Position::canonical_key`] of that position.
    pub key: u64,
}

impl<'a, P: Position> Line<'a, P> {
    /// A position without history, as if the game began there.
    #[must_use]
    pub const fn from_start(position: &'a P) -> Self {
        Self { position, before: &[] }
    }

    /// How the game ended: by the position itself, or by a rule on the moves before.
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

/// A position of a two-player game of perfect information, complete for its rules.
///
/// Moves are played by copying: a position is small and `Clone`. A position states whose turn it
/// is, so games may have passes or double moves.
///
/// `Display` writes the compact notation, which a game reads back to an equal position.
pub trait Position: Clone + Eq + Hash + Debug + Display + Send + Sync + 'static {
    /// A move. `Ord` is the canonical order in which [`Position::legal_moves`] lists moves.
    /// `Display` writes the notation that [`Position::parse_move`] reads.
    type Move: Copy + Eq + Ord + Hash + Debug + Display + Send + Sync + 'static;

    /// The game's names for its sides: the one that moves first from its start position, and the
    /// other.
    const SIDES: [SideName; 2];

    /// Whether the moves before a position may affect how the game continues, as a repetition rule
    /// does: then equal positions may have different values, and search guarantees that assume
    /// otherwise ([`crate::ParameterInfo::promise_where`]) do not hold.
    const HISTORY_MATTERS: bool;

    /// The side to move; in a finished game, the side that would move.
    fn to_move(&self) -> Side;

    /// How the game ended, or `None` while it goes on.
    fn ending(&self) -> Option<Ending>;

    /// Whether the game is over: whether [`Position::ending`] has a value.
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

    /// [`Position::legal_move_count`], and [`Position::nth_legal_move`] of the index that `pick` chooses below it.
    ///
    /// Games that do the same work for both should override this.
    ///
    /// # Panics
    /// If the game is over, or the index is not below the count.
    fn pick_move(&self, pick: impl FnOnce(u32) -> u32) -> (u32, Self::Move) {
        let legal_moves = self.legal_move_count();
        (legal_moves, self.nth_legal_move(pick(legal_moves)))
    }

    /// A legal move, each equally likely, from one random number: always
    /// [`Position::nth_legal_move`] of [`Random::below`] the [`Position::legal_move_count`].
    ///
    /// # Panics
    /// If the game is over.
    fn random_move(&self, random: &mut Random) -> Self::Move {
        self.pick_move(|legal_moves| random.below(legal_moves)).1
    }

    /// The first move in canonical order that wins at once for the mover, if there is one.
    ///
    /// Games that can find it without making every move should override this.
    fn winning_move(&self) -> Option<Self::Move> {
        let mover = self.to_move();
        (0..self.legal_move_count()).map(|index| self.nth_legal_move(index)).find(|&mv| {
            let mut child = self.clone();
            child.play_unchecked(mv);
            child.ending().is_some_and(|ending| ending.winner == Some(mover))
        })
    }

    /// Plays random moves until the game is over or `plies_max` have been made, and returns their
    /// number.
    ///
    /// Each legal move is equally likely: it is [`Position::nth_legal_move`] of
    /// [`PlayoutRandom::below`] the [`Position::legal_move_count`], one number for each move. A
    /// game's faster implementation plays the same moves.
    fn play_randomly(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        let mut plies = 0;
        while plies < plies_max && !self.is_over() {
            self.play_unchecked(self.nth_legal_move(random.below(self.legal_move_count())));
            plies += 1;
        }
        plies
    }

    /// The same, except that a side with a [`Position::winning_move`] makes it, without using a
    /// random number.
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

    /// Plays a legal move. The effect of an illegal one is unspecified, but memory-safe.
    fn play_unchecked(&mut self, mv: Self::Move);

    /// A key below 2^53 that is equal for positions that are equal up to the game's symmetries
    /// (and, except for hash collisions, only for those). Part of the recorded data: it never
    /// changes.
    fn canonical_key(&self) -> u64;

    /// How the game ended by a rule on earlier moves, in a position that is not over by itself. The
    /// arbiter calls this after each move; a search may call it for any line.
    ///
    /// Only games with [`Position::HISTORY_MATTERS`] have such rules.
    fn adjudicate(_line: Line<'_, Self>) -> Option<Ending> {
        None
    }

    /// Whether no earlier position can recur after the last move, as far as the position itself shows it: in
    /// chess after a capture or a pawn move.
    fn is_after_irreversible_move(&self) -> bool {
        false
    }

    /// The lead of [`Side::First`] at the end of a game, in the game's unit (`Game::MARGIN`), such as discs;
    /// negative if the other side leads. At most [`MARGIN_MAX`] either way, with the winner's sign. `None`
    /// while the game goes on, and in a game without margins.
    fn margin(&self) -> Option<i32> {
        None
    }

    /// The leaves of the full tree of this depth if no game in it ended early, saturating at 2^53 - 1: the
    /// reference for a search's evaluations. `None` for a game without a closed form.
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

    /// Parses a move in this position's notation, without checking legality.
    ///
    /// # Errors
    /// If the text is not a move of this game.
    fn parse_move(&self, text: &str) -> Result<Self::Move, Problem>;
}

/// The greatest [`Position::margin`]: sums of squares over 90 million games stay below 2^53.
pub const MARGIN_MAX: i32 = 10_000;

/// The greatest result of [`Position::full_tree_leaves`]: 2^53 - 1.
pub(crate) const LEAVES_MAX: u64 = (1 << 53) - 1;

/// The product of the first `depth` numbers of moves, saturating at [`LEAVES_MAX`].
pub(crate) fn product_of_moves(moves: impl Iterator<Item = u64>, depth: u32) -> u64 {
    moves
        .take(usize::try_from(depth).unwrap_or(usize::MAX))
        .fold(1_u64, u64::saturating_mul)
        .min(LEAVES_MAX)
}

/// Mixes words into a key below 2^53: the highest 53 bits of [`mix`]. It never changes.
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
