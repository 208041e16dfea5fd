//! Endgames by their pieces.

use std::fmt;
use std::mem;
use std::str::FromStr;

use cozy_chess::{Board, Color, Piece};

use super::layout::Layout;
use crate::core::problem::Problem;
use crate::games::Chess;

/// The most pieces of an endgame, kings included.
pub const PIECES_MAX: usize = 4;

/// Possible pieces other than kings, in the order of names.
const OTHERS: [Piece; 5] = [Piece::Queen, Piece::Rook, Piece::Bishop, Piece::Knight, Piece::Pawn];

/// The pieces of an endgame: two kings and up to two others. Its name is that of white's pieces and
/// then of black's, each with the king first: `KBNK`, `KRKB`, `KPK`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endgame {
    name: String,
    /// White's king, black's king, white's other pieces, black's.
    men: Vec<(Color, Piece)>,
    layout: Layout,
}

impl Endgame {
    /// The name, such as `KBNK`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The endgame of a position's pieces, with the side as white that has more of them, or the
    /// greater: positions with colours exchanged share a table. `None` if there is no table: more
    /// than [`PIECES_MAX`] pieces, or a right to castle.
    #[must_use]
    pub fn from_position(position: &Chess) -> Option<Self> {
        let board = position.cozy();
        let is_large = board.occupied().len() as usize > PIECES_MAX;
        if is_large || has_castle_rights(board) {
            return None;
        }
        let others = |color| {
            let pieces = OTHERS.into_iter();
            let pieces_like =
                |piece| board.colored_pieces(color, piece).into_iter().map(move |_| piece);
            pieces.flat_map(pieces_like).collect::<Vec<Piece>>()
        };
        let (mut white, mut black) = (others(Color::White), others(Color::Black));
        // Greater pieces have greater numbers.
        if (black.len(), &black) > (white.len(), &white) {
            mem::swap(&mut white, &mut black);
        }
        let mut men = vec![(Color::White, Piece::King), (Color::Black, Piece::King)];
        men.extend(white.into_iter().map(|piece| (Color::White, piece)));
        men.extend(black.into_iter().map(|piece| (Color::Black, piece)));
        Some(Self::of_men(men))
    }

    /// The pieces as letters of FEN, in the order of a table's squares: white's king, black's king, white's
    /// other pieces, black's.
    pub fn letters(&self) -> impl Iterator<Item = char> + '_ {
        self.men.iter().map(|&(color, piece)| letter(color, piece))
    }

    /// Whether a pawn is among the pieces.
    #[must_use]
    pub const fn has_pawns(&self) -> bool {
        self.layout.has_pawns()
    }

    /// The endgame of these pieces, kings first, with the colours that [`Endgame::from_position`] gives it;
    /// for each of its pieces the place among those given, and whether colours are exchanged.
    pub(super) fn of_pieces(given: &[(Color, Piece)]) -> (Self, Vec<u8>, bool) {
        let others = |color| {
            let mut places: Vec<usize> =
                (2..given.len()).filter(|place| given[*place].0 == color).collect();
            places.sort_by_key(|place| std::cmp::Reverse(given[*place].1 as usize));
            places
        };
        let pieces = |places: &[usize]| -> (usize, Vec<Piece>) {
            (places.len(), places.iter().map(|place| given[*place].1).collect())
        };
        let (mut white, mut black) = (others(Color::White), others(Color::Black));
        let is_exchanged = pieces(&black) > pieces(&white);
        if is_exchanged {
            mem::swap(&mut white, &mut black);
        }
        let kings = if is_exchanged { [1, 0] } else { [0, 1] };
        let places = kings.into_iter().chain(white).chain(black);
        let places: Vec<u8> = places.map(|place| place as u8).collect();
        let men = places.iter().map(|place| {
            let (color, piece) = given[usize::from(*place)];
            (if is_exchanged { !color } else { color }, piece)
        });
        (Self::of_men(men.collect()), places, is_exchanged)
    }

    /// How its positions are numbered.
    pub(super) const fn layout(&self) -> Layout {
        self.layout
    }

    /// Each piece with its colour, in the order of a table's squares.
    pub(crate) fn men(&self) -> &[(Color, Piece)] {
        &self.men
    }

    /// The number of orders of like pieces: 2 if both others are the same, else 1.
    pub(super) fn orders(&self) -> u64 {
        if self.men.len() == PIECES_MAX && self.men[2] == self.men[3] { 2 } else { 1 }
    }

    fn of_men(men: Vec<(Color, Piece)>) -> Self {
        let of_color = |color| {
            men.iter()
                .filter(move |man| man.0 == color)
                .map(|man| letter(Color::White, man.1))
                .collect::<String>()
        };
        let layout = Layout::new(&men);
        Self { name: of_color(Color::White) + &of_color(Color::Black), men, layout }
    }
}

impl FromStr for Endgame {
    type Err = Problem;

    /// Accepts small letters, and a side's pieces in any order after its king.
    fn from_str(name: &str) -> Result<Self, Problem> {
        let wrong = |problem: String, remedy: &str| Err(Problem::new(problem, remedy.to_owned()));
        const HOW: &str = "write white's pieces and then black's, each with its king first, such as \
                           KRK, KBNK or KRKB";
        let mut pieces = Vec::new();
        for letter in name.chars() {
            let Ok(piece) = Piece::try_from(letter.to_ascii_lowercase()) else {
                return wrong(format!("{letter:?} is not a piece"), HOW);
            };
            pieces.push(piece);
        }
        let kings = pieces.iter().filter(|piece| **piece == Piece::King).count();
        if kings != 2 || pieces.first() != Some(&Piece::King) {
            let problem = match kings {
                0 => "it has no king".to_owned(),
                1 => "it has one king, not two".to_owned(),
                2 => "it does not begin with white's king".to_owned(),
                kings => format!("it has {kings} kings, not two"),
            };
            return wrong(problem, HOW);
        }
        if pieces.len() > PIECES_MAX {
            return wrong(
                format!("it has {} pieces", pieces.len()),
                &format!("a table has {PIECES_MAX} at most, the kings as well"),
            );
        }
        let mut men = vec![(Color::White, Piece::King), (Color::Black, Piece::King)];
        let black = pieces.iter().rposition(|piece| *piece == Piece::King).unwrap_or(0);
        for (color, others) in [
            (Color::White, &mut pieces[1..black].to_vec()),
            (Color::Black, &mut pieces[black + 1..].to_vec()),
        ] {
            others.sort_by_key(|piece| std::cmp::Reverse(*piece as usize));
            men.extend(others.iter().map(|piece| (color, *piece)));
        }
        Ok(Self::of_men(men))
    }
}

impl fmt::Display for Endgame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Whether either side may still castle: tables have no such positions.
pub(super) fn has_castle_rights(board: &Board) -> bool {
    let has_right = |color| {
        let rights = board.castle_rights(color);
        rights.short.is_some() || rights.long.is_some()
    };
    has_right(Color::White) || has_right(Color::Black)
}

/// A capital for white.
fn letter(color: Color, piece: Piece) -> char {
    let letter = char::from(piece);
    if color == Color::White { letter.to_ascii_uppercase() } else { letter }
}
