//! What a game may know of its positions, so that a search need not find it out move by move.

use crate::core::position::Position;

/// A game's knowledge of its own positions.
///
/// What has a default is optional: what a game does not provide, a search does without. Everything must
/// be exact, since alpha-beta's switches promise minimax's value, but for what only says how promising
/// a move is ([`Knowledge::move_kind`], [`Knowledge::exchange`], [`Knowledge::capture_rank`]).
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

    /// Whether the game has tactical moves: whether quiescence has something to look at.
    const HAS_TACTICS: bool = false;

    /// Appends, in canonical order, the legal moves that may change the static evaluation much at
    /// once (in chess: captures, en passant, promotions to a queen). Where the side to move
    /// [is in check](Knowledge::is_in_check), all legal moves are asked for instead.
    fn tactical_moves(&self, _moves: &mut Vec<Self::Move>) {}

    /// Whether a legal move is one of the [tactical](Knowledge::tactical_moves).
    fn is_tactical(&self, _mv: Self::Move) -> bool {
        false
    }

    /// What the exchange of pieces on a move's target gains who makes it, if both sides capture there
    /// only as long as it pays, in points of 100 a pawn (static exchange evaluation).
    fn exchange(&self, _mv: Self::Move) -> i32 {
        0
    }

    /// Whether that exchange loses material. A game may know it of most moves without playing the
    /// exchange out.
    fn loses_exchange(&self, mv: Self::Move) -> bool {
        self.exchange(mv) < 0
    }

    /// How promising a tactical move is by what it takes and with what (the most valuable victim first,
    /// then the least valuable attacker), the better the greater.
    fn capture_rank(&self, _mv: Self::Move) -> u16 {
        0
    }

    /// Whether the side to move stands in check: whether it must answer a threat now.
    fn is_in_check(&self) -> bool {
        false
    }

    /// The position with the other side to move, as if a move could be passed. `None` where that is
    /// not allowed (in check) or tells nothing (the side to move has nothing but pawns, and might be
    /// glad to pass).
    fn passed(&self) -> Option<Self> {
        None
    }

    /// Whether no position up to the one that a legal move is made in can come again after it (in
    /// chess: captures, pawn moves, moves that lose the right to castle). `false` as well if the game
    /// does not know.
    fn is_irreversible(&self, _mv: Self::Move) -> bool {
        false
    }
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
