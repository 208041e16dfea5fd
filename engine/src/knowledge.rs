//! What a game may know of its positions, so that a search need not find it out move by move.

use crate::position::Position;

/// A game's knowledge of its own positions.
///
/// What has a default is optional: what a game does not
/// provide, a search does without. Everything must be exact, since alpha-beta's switches promise
/// minimax's value.
pub trait Knowledge: Position {
    /// Codes of moves are below this.
    const MOVE_CODES: usize;

    /// One of the symmetries that map positions to equal ones.
    type Orientation: Copy + Default;

    /// A number for a move, the same in every position. Different moves of one position have
    /// different numbers.
    fn move_code(mv: Self::Move) -> u16;

    /// A key that equal positions share, and no others but by a collision of hashes: not those that
    /// are equal only up to the game's symmetries, which an evaluation may tell apart.
    fn table_key(&self) -> u64;

    /// A key for where the evaluation is symmetric: as [`Knowledge::table_key`], but it may be shared
    /// by positions that the game's symmetries map to each other as well, in a game where telling
    /// them apart would save nothing.
    fn symmetric_table_key(&self) -> u64 {
        self.table_key()
    }

    /// A key that positions share that are equal up to the game's symmetries, and the symmetry
    /// that maps this position to the one that the key stands for.
    fn reduced_key(&self) -> (u64, Self::Orientation) {
        (self.canonical_key(), Self::Orientation::default())
    }

    /// The code of the move that a symmetry maps this one to.
    fn oriented(code: u16, _orientation: Self::Orientation) -> u16 {
        code
    }

    /// The code of the move that a symmetry maps to this one.
    fn restored(code: u16, _orientation: Self::Orientation) -> u16 {
        code
    }

    /// Appends the legal moves in canonical order, but none that leads to the same position as one
    /// before it.
    fn distinct_moves(&self, moves: &mut Vec<Self::Move>) {
        self.legal_moves(moves);
    }

    /// Whether the side to move can win at once; `false` as well if the game does not know. It has
    /// a [`Position::winning_move`] then. Only for positions that are not over.
    fn can_win_at_once(&self) -> bool {
        false
    }

    /// Removes, from index `first` on, the moves that lose at once or to some immediate reply, and
    /// says what it found. Only for positions without a move that wins at once.
    fn remove_losing(&self, _moves: &mut Vec<Self::Move>, _first: usize) -> Sifted {
        Sifted::Unknown
    }

    /// The fewest plies after which the side to move, and the other side, may have won: lower
    /// bounds, at least 1.
    fn plies_to_win(&self) -> [u32; 2] {
        [1, 1]
    }

    /// How promising a move is by its kind alone, the better the greater.
    fn move_kind(&self, _mv: Self::Move) -> u8 {
        0
    }

    /// An upper bound on the plies that the game can still last.
    fn plies_left(&self) -> u32;
}

/// What [`Knowledge::remove_losing`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sifted {
    /// The game did not look: every move is still there, and any of them may lose to a reply.
    Unknown,
    /// None was removed: no immediate reply to any of them wins.
    AllSafe,
    /// Such moves were removed, the best of which loses like this; those that are left do not.
    Removed(Losing),
}

/// How a move loses that needs no search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Losing {
    /// It ends the game itself.
    AtOnce,
    /// The opponent wins with the next ply.
    ToTheReply,
}
