//! Every value follows from the values of its successors, by the moves of `cozy-chess`.
//!
//! Over a whole table that is a proof: a mate is one, a win in n has a successor lost in n - 1 and none
//! that is lost sooner, a loss in n has none but wins and the longest in n - 1, and a draw has a
//! successor that is one and none that is lost.

use std::collections::{BTreeMap, BTreeSet};

use cozy_chess::{BitBoard, Board, Color, Piece};
use spelrum_engine::games::Chess;
use spelrum_engine::tables::{Endgame, EndgameTable, TablePosition, TableValue};
use spelrum_engine::{Game as _, Side};

/// A table and those that captures and promotions lead to.
pub(crate) struct Tables {
    main: EndgameTable,
    others: BTreeMap<String, EndgameTable>,
}

impl Tables {
    pub(crate) fn make(name: &str) -> Self {
        let main = EndgameTable::make(&name.parse().expect("a name"), |_| {});
        let men: Vec<_> = main.endgame().letters().map(man).collect();
        let others = left_after_conversions(&men)
            .into_iter()
            .map(|name| {
                let endgame: Endgame = name.parse().expect("a name");
                (endgame.name().to_owned(), EndgameTable::make(&endgame, |_| {}))
            })
            .collect();
        Self { main, others }
    }

    pub(crate) fn main(&self) -> &EndgameTable {
        &self.main
    }

    pub(crate) fn value(&self, board: &Board) -> Option<TableValue> {
        let mut men = vec![(Color::White, Piece::King), (Color::Black, Piece::King)];
        for color in Color::ALL {
            for piece in PIECES {
                let count = board.colored_pieces(color, piece).len();
                men.extend((0..count).map(|_| (color, piece)));
            }
        }
        let name = name_of(&men);
        let is_main = name == self.main.endgame().name();
        let table = if is_main { &self.main } else { &self.others[&name] };
        value(table, &men, board)
    }

    /// What the successors say.
    pub(crate) fn value_by_successors(&self, board: &Board) -> TableValue {
        let (mut win, mut loss, mut has_draw) = (None, None, false);
        board.generate_moves(|moves| {
            for mv in moves {
                let mut child = board.clone();
                child.play_unchecked(mv);
                match self.value(&child).expect("a legal move leads to a legal position") {
                    TableValue::Loss { plies } => {
                        win = Some(win.map_or(plies + 1, |best: u32| best.min(plies + 1)));
                    }
                    TableValue::Draw => has_draw = true,
                    TableValue::Win { plies } => loss = loss.max(Some(plies + 1)),
                }
            }
            false
        });
        match (win, has_draw, loss) {
            (Some(plies), _, _) => TableValue::Win { plies },
            (None, true, _) => TableValue::Draw,
            (None, false, Some(plies)) => TableValue::Loss { plies },
            (None, false, None) if !board.checkers().is_empty() => TableValue::Loss { plies: 0 },
            (None, false, None) => TableValue::Draw,
        }
    }

    /// Positions of the table of which one in so many is checked; those on the diagonal have more that
    /// can go wrong. How many that were.
    pub(crate) fn check(&self, one_in: usize, one_in_on_diagonal: usize) -> usize {
        let mut checked = 0;
        for (is_diagonal, one_in) in [(false, one_in), (true, one_in_on_diagonal)] {
            let is_wanted = |position: &TablePosition| (position.images == 4) == is_diagonal;
            let positions = self.main.positions().filter(is_wanted);
            for position in positions.step_by(one_in) {
                let fen = self.main.fen(&position);
                let board: Board = fen.parse().unwrap_or_else(|error| panic!("{fen}: {error}"));
                assert_eq!(self.value(&board), Some(position.value), "{fen}");
                assert_eq!(self.value_by_successors(&board), position.value, "{fen}");
                checked += 1;
            }
        }
        checked
    }
}

/// All but the king, in the order of names.
const PIECES: [Piece; 5] = [Piece::Queen, Piece::Rook, Piece::Bishop, Piece::Knight, Piece::Pawn];

type Men = Vec<(Color, Piece)>;

/// The endings after each capture, promotion, and capture with promotion.
fn left_after_conversions(men: &Men) -> BTreeSet<String> {
    let without = |men: &Men, captured: usize| {
        let mut left = men.clone();
        left.remove(captured);
        name_of(&left)
    };
    let mut all: BTreeSet<String> = (2..men.len()).map(|captured| without(men, captured)).collect();
    for pawn in (2..men.len()).filter(|place| men[*place].1 == Piece::Pawn) {
        for piece in &PIECES[..4] {
            let mut promoted = men.clone();
            promoted[pawn].1 = *piece;
            let enemies = (2..men.len()).filter(|place| men[*place].0 != men[pawn].0);
            all.extend(enemies.map(|captured| without(&promoted, captured)));
            all.insert(name_of(&promoted));
        }
    }
    all
}

fn man(letter: char) -> (Color, Piece) {
    let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
    (color, letter.to_ascii_lowercase().try_into().expect("a piece"))
}

fn name_of(men: &[(Color, Piece)]) -> String {
    let letters = |color| men.iter().filter(move |man| man.0 == color).map(|man| char::from(man.1));
    letters(Color::White).chain(letters(Color::Black)).collect::<String>().to_ascii_uppercase()
}

fn value(table: &EndgameTable, men: &[(Color, Piece)], board: &Board) -> Option<TableValue> {
    let has_pawn = |color| men.contains(&(color, Piece::Pawn));
    if board.en_passant().is_some() && has_pawn(Color::White) && has_pawn(Color::Black) {
        let position = Chess::parse(&Chess::rules(), &board.to_string()).expect("a position");
        return table.value(&position);
    }
    let mut taken = BitBoard::EMPTY;
    let mut squares = [0; 4];
    for (place, &(color, piece)) in squares.iter_mut().zip(men) {
        let square = (board.colored_pieces(color, piece) & !taken).next_square()?;
        taken |= square.bitboard();
        *place = square as u8;
    }
    let side = if board.side_to_move() == Color::White { Side::First } else { Side::Second };
    table.value_at(side, &squares[..men.len()])
}

#[cfg(test)]
mod tests {
    use cozy_chess::{Board, BoardBuilder, Color, Square, get_king_moves};
    use spelrum_engine::Random;

    use super::{Tables, man};

    /// What `cozy-chess` takes for legal with the men on these squares.
    fn legal(tables: &Tables, turn: Color, squares: [Square; 4]) -> Option<Board> {
        let mut builder = BoardBuilder::empty();
        builder.side_to_move = turn;
        for ((color, piece), square) in tables.main.endgame().letters().map(man).zip(squares) {
            if builder.square_mut(square).replace((piece, color)).is_some() {
                return None;
            }
        }
        let do_kings_touch = get_king_moves(squares[0]).has(squares[1]);
        if do_kings_touch { None } else { builder.build().ok() }
    }

    #[test]
    fn tables_have_the_legal_positions_and_no_others() {
        let mut random = Random::from_key([9; 32]);
        for name in ["KBNK", "KRKB", "KQQK", "KNPK"] {
            let tables = Tables::make(name);
            let mut known = 0;
            for _ in 0..50_000 {
                let squares: [Square; 4] =
                    std::array::from_fn(|_| Square::index(random.below(64) as usize));
                for (turn, side) in Color::ALL.into_iter().zip(super::super::SIDES) {
                    let at = squares.map(|square| square as u8);
                    let value = tables.main.value_at(side, &at);
                    let board = legal(&tables, turn, squares);
                    assert_eq!(value.is_some(), board.is_some(), "{name} {turn} {squares:?}");
                    known += u32::from(value.is_some());
                }
            }
            assert!(known > 20_000, "{name}: {known}");
        }
    }

    #[test]
    fn every_value_of_three_pieces_follows_from_its_successors() {
        for name in ["KRK", "KQK", "KBK", "KNK", "KKR", "KPK", "KKP"] {
            let tables = Tables::make(name);
            let checked = tables.check(1, 1);
            assert_eq!(checked, tables.main().positions().count(), "{name}");
        }
    }

    #[test]
    fn values_of_four_pieces_follow_from_their_successors() {
        for name in ["KBNK", "KBBK", "KNNK", "KRKB", "KQKR", "KBKN", "KRKR", "KKBN"] {
            let checked = Tables::make(name).check(997, 23);
            assert!(checked > 3_000, "{name}: {checked}");
        }
    }
}
