//! A game's knowledge of its positions, which saves a search from deriving it move by move.

use crate::core::position::Position;

/// A game's knowledge of its own positions.
///
/// Methods with a default are optional; a search works without them. All must be exact, since alpha-beta's
/// switches promise minimax's value, except those that only rank moves ([`Knowledge::move_kind`],
/// [`Knowledge::exchange`], [`Knowledge::capture_rank`]).
pub trait Knowledge: Position {
    /// Upper bound (exclusive) of move codes.
    const MOVE_CODES: usize;

    /// One of the symmetries that map positions to equal ones.
    type Orientation: Copy + Default;

    /// A number for a move, the same in every position. Different moves of one position have
    /// different numbers.
    fn move_code(mv: Self::Move) -> u16;

    /// A key that equal positions share, and no others except by a hash collision. Positions that
    /// are equal only up to the game's symmetries have different keys, since an evaluation may
    /// distinguish them.
    fn table_key(&self) -> u64;

    /// A key for symmetric evaluations: as [`Knowledge::table_key`], but positions that the game's symmetries
    /// map to each other may share it, in games where distinguishing them would save nothing.
    fn symmetric_table_key(&self) -> u64 {
        self.table_key()
    }

    /// A key shared by positions that are equal up to the game's symmetries, and the symmetry that
    /// maps this position to the one that the key represents.
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

    /// Appends the legal moves in canonical order, without moves that lead to the same position as
    /// an earlier one.
    fn distinct_moves(&self, moves: &mut Vec<Self::Move>) {
        self.legal_moves(moves);
    }

    /// Whether the side to move can win at once; also `false` if the game cannot tell. If so, there
    /// is a [`Position::winning_move`]. Only for positions that are not over.
    fn can_win_at_once(&self) -> bool {
        false
    }

    /// Removes, from index `first` on, the moves that lose at once or to an immediate reply, and
    /// returns the finding. Only for positions without a move that wins at once.
    fn remove_losing(&self, _moves: &mut Vec<Self::Move>, _first: usize) -> Sifted {
        Sifted::Unknown
    }

    /// Lower bounds, at least 1, on the plies after which the side to move, and the other side, may
    /// have won.
    fn plies_to_win(&self) -> [u32; 2] {
        [1, 1]
    }

    /// How promising a move is by its kind alone; greater is better.
    fn move_kind(&self, _mv: Self::Move) -> u8 {
        0
    }

    /// An upper bound on the plies that the game can still last.
    fn plies_left(&self) -> u32;

    /// Whether the game has tactical moves, which quiescence search needs.
    const HAS_TACTICS: bool = false;

    /// Appends, in canonical order, the legal moves that may change the static evaluation much at
    /// once (in chess: captures, en passant, promotions to a queen). Where the side to move [is in
    /// check](Knowledge::is_in_check), searches use all legal moves instead.
    fn tactical_moves(&self, _moves: &mut Vec<Self::Move>) {}

    /// Whether a legal move is one of the [tactical](Knowledge::tactical_moves).
    fn is_tactical(&self, _mv: Self::Move) -> bool {
        false
    }

    /// Material gained by the exchange of pieces on a move's target, if both sides capture there only as long
    /// as it pays, in points of 100 a pawn (static exchange evaluation).
    fn exchange(&self, _mv: Self::Move) -> i32 {
        0
    }

    /// Whether that exchange loses material. A game may decide this for most moves without
    /// computing the exchange.
    fn loses_exchange(&self, mv: Self::Move) -> bool {
        self.exchange(mv) < 0
    }

    /// How promising a tactical move is by its victim and attacker (most valuable victim first, then least
    /// valuable attacker); greater is better.
    fn capture_rank(&self, _mv: Self::Move) -> u16 {
        0
    }

    /// Whether the side to move is in check: it must answer a threat now.
    fn is_in_check(&self) -> bool {
        false
    }

    /// The position with the other side to move, as if the move were passed. `None` where passing is not
    /// allowed (in check) or means nothing (the side to move has only pawns and might gain by passing).
    fn passed(&self) -> Option<Self> {
        None
    }

    /// Whether no position up to the one in which a legal move is made can recur after it (in chess:
    /// captures, pawn moves, moves that lose the right to castle). Also `false` if the game cannot tell.
    fn is_irreversible(&self, _mv: Self::Move) -> bool {
        false
    }
}

/// The finding of [`Knowledge::remove_losing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sifted {
    /// The game did not look: every move is still there, and any of them may lose to a reply.
    Unknown,
    /// No move was removed: no immediate reply to any of them wins.
    AllSafe,
    /// Losing moves were removed, the best of which loses like this; the remaining ones do not.
    Removed(Losing),
}

/// How a move loses, as far as that needs no search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Losing {
    /// It ends the game itself.
    AtOnce,
    /// The opponent wins with the next ply.
    ToTheReply,
}
