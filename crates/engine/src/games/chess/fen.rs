//! Parses FEN leniently: the last fields may be missing, as in EPD, and separated by several blanks. A parsed
//! position is one that a game can have; each error names the field and a remedy.

use std::fmt;

use cozy_chess::{
    BitBoard, Board, BoardBuilder, BoardBuilderError, CastleRights, Color, File, Piece, Rank,
    Square, get_king_moves, get_line_rays,
};

use super::{CLOCK_MAX, Chess, moves};
use crate::core::problem::Problem;

/// The start position of chess.
pub(super) const INITIAL: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// The most pieces of a side, and the most pawns.
const PIECES_MAX: u32 = 16;
const PAWNS_MAX: u32 = 8;

/// A small letter for black, a capital for white.
pub(super) fn cased(letter: char, color: Color) -> char {
    if color == Color::White { letter.to_ascii_uppercase() } else { letter }
}

/// The letters of the pieces, row by row from the eighth rank down.
pub(super) fn rows(board: &Board) -> impl Iterator<Item = [Option<char>; 8]> {
    Rank::ALL.into_iter().rev().map(move |rank| {
        File::ALL.map(|file| {
            let square = Square::new(file, rank);
            Some(cased(board.piece_on(square)?.into(), board.color_on(square)?))
        })
    })
}

pub(super) fn write(position: &Chess, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Chess { board, is_chess960 } = position;
    for (row, pieces) in rows(board).enumerate() {
        f.write_str(if row == 0 { "" } else { "/" })?;
        let mut empty = 0;
        for piece in pieces.into_iter().chain([Some(' ')]) {
            match piece {
                None => empty += 1,
                Some(piece) => {
                    if empty > 0 {
                        write!(f, "{empty}")?;
                    }
                    empty = 0;
                    f.write_str(piece.to_string().trim())?;
                }
            }
        }
    }
    let side = char::from(board.side_to_move());
    let rights = [Color::White, Color::Black].map(|color| *board.castle_rights(color));
    write!(f, " {side} {} ", castling_text(rights, *is_chess960))?;
    match position.en_passant() {
        None => f.write_str("-")?,
        Some(file) => {
            let rank = Rank::Sixth.relative_to(board.side_to_move());
            write!(f, "{}", Square::new(file, rank))?;
        }
    }
    write!(f, " {} {}", board.halfmove_clock(), board.fullmove_number())
}

/// Rights to castle, white's first and the king's side first.
fn castling_text(rights: [CastleRights; 2], by_files: bool) -> String {
    let mut text = String::new();
    for (rights, color) in rights.into_iter().zip([Color::White, Color::Black]) {
        for (file, usual) in [(rights.short, 'k'), (rights.long, 'q')] {
            let Some(file) = file else { continue };
            text.push(cased(if by_files { file.into() } else { usual }, color));
        }
    }
    if text.is_empty() { "-".to_owned() } else { text }
}

/// The FEN with all of black's given to white and the other way round, each on the other's side of the board. Colours
/// are told apart by case.
pub(super) fn with_colors_exchanged(fen: &str) -> String {
    let other_case = |text: &str| -> String {
        let other = |c: char| {
            if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
        };
        text.chars().map(other).collect()
    };
    let fields = fen.split(' ').enumerate().map(|(field, text)| match field {
        0 => text.split('/').rev().map(other_case).collect::<Vec<String>>().join("/"),
        1 => if text == "w" { "b" } else { "w" }.to_owned(),
        2 => {
            let (white, black): (String, String) =
                other_case(text).chars().partition(char::is_ascii_uppercase);
            white + &black
        }
        3 => text.replace('3', "?").replace('6', "3").replace('?', "6"),
        _ => text.to_owned(),
    });
    fields.collect::<Vec<String>>().join(" ")
}

/// Parses a position of the same game as `start`.
pub(super) fn read(start: &Chess, text: &str) -> Result<Chess, Problem> {
    let is_chess960 = start.is_chess960;
    let read = || {
        let mut fields = text.trim_matches(is_mark).split_whitespace();
        let Some(placement) = fields.next() else {
            return Err(Problem::new("it is empty", FIELDS));
        };
        let [side, castling, en_passant, clock, number] =
            ["w", "-", "-", "0", "1"].map(|usual| fields.next().unwrap_or(usual));
        if let Some(seventh) = fields.next() {
            let problem = format!("a FEN has at most six fields, and `{seventh}` is a seventh");
            return Err(Problem::new(problem, FIELDS));
        }
        let mut builder = BoardBuilder::empty();
        read_placement(&mut builder, placement)?;
        builder.side_to_move = read_side(side)?;
        let pieces = Pieces::from_builder(&builder);
        check_pieces(&pieces)?;
        builder.castle_rights = read_castling(&pieces, castling, is_chess960)?;
        builder.en_passant = read_en_passant(&builder, en_passant)?;
        builder.halfmove_clock = read_number("the fifth field", clock, 0..=CLOCK_MAX.into())? as u8;
        // Some programs count from 0.
        builder.fullmove_number = read_number("the sixth field", number, 0..=u16::MAX)?.max(1);
        build(&builder)
    };
    match read() {
        Ok(board) => Ok(Chess { board, is_chess960 }),
        Err(Problem { what, remedy, .. }) => Err(Problem::new(
            format!("`{text}` is not a chess position: {what}"),
            format!("{remedy}; the start of chess is `{INITIAL}`"),
        )),
    }
}

/// The fields of a FEN, for error messages.
const FIELDS: &str = "write pieces, side to move, castling, en passant, plies without capture or pawn's move, and the \
                      move's number";

/// Marks of an encoding and of the end of a file, which are not part of the text.
pub(super) fn is_mark(character: char) -> bool {
    character == BYTE_ORDER_MARK || character == END_OF_FILE_MARK
}

/// Some editors begin files with it.
const BYTE_ORDER_MARK: char = '\u{feff}';
/// Ctrl-Z, which ends files of DOS programs.
pub(super) const END_OF_FILE_MARK: char = '\u{1a}';

fn read_placement(builder: &mut BoardBuilder, text: &str) -> Result<(), Problem> {
    let rows: Vec<&str> = text.split('/').collect();
    if rows.len() != Rank::NUM {
        return Err(Problem::new(
            format!("the first field has {} ranks", rows.len()),
            "write eight ranks from the eighth down, with a slash between them",
        ));
    }
    for (&rank, row) in Rank::ALL.iter().rev().zip(rows) {
        let wrong = |problem: String| {
            let number = rank as usize + 1;
            let remedy = "write each rank's pieces as letters of pnbrqk, white's as capitals, and \
                          how many squares in a row are empty as one digit: eight squares in all";
            Problem::new(format!("rank {number} is `{row}`, {problem}"), remedy)
        };
        let mut file = 0;
        let mut is_after_digit = false;
        for character in row.chars() {
            let digit = character.to_digit(10);
            match digit {
                Some(_) if is_after_digit => return Err(wrong("two digits in a row".to_owned())),
                Some(empty @ 1..=8) => file += empty as usize,
                Some(_) | None => {
                    let small = character.to_ascii_lowercase();
                    let Ok(piece) = Piece::try_from(small) else {
                        return Err(wrong(format!("where `{character}` is no piece")));
                    };
                    let color = if character == small { Color::Black } else { Color::White };
                    if let Some(&file) = File::ALL.get(file) {
                        *builder.square_mut(Square::new(file, rank)) = Some((piece, color));
                    }
                    file += 1;
                }
            }
            is_after_digit = digit.is_some();
        }
        if file != File::NUM {
            return Err(wrong(format!("{file} squares")));
        }
    }
    Ok(())
}

fn read_side(text: &str) -> Result<Color, Problem> {
    match text {
        "w" => Ok(Color::White),
        "b" => Ok(Color::Black),
        _ => Err(Problem::new(
            format!("the second field, whose turn it is, is `{text}`"),
            "write w or b there",
        )),
    }
}

/// The squares of each side's pieces of each kind.
struct Pieces([[BitBoard; Piece::NUM]; Color::NUM]);

impl Pieces {
    fn from_builder(builder: &BoardBuilder) -> Self {
        let mut pieces = [[BitBoard::EMPTY; Piece::NUM]; Color::NUM];
        for square in Square::ALL {
            if let Some((piece, color)) = builder.square(square) {
                pieces[color as usize][piece as usize] |= square.bitboard();
            }
        }
        Self(pieces)
    }

    const fn squares(&self, piece: Piece, color: Color) -> BitBoard {
        self.0[color as usize][piece as usize]
    }
}

fn color_name(color: Color) -> &'static str {
    if color == Color::White { "white" } else { "black" }
}

/// Whether a game can have these pieces, on any squares.
fn check_pieces(pieces: &Pieces) -> Result<(), Problem> {
    for color in [Color::White, Color::Black] {
        let name = color_name(color);
        let squares_of = |piece| pieces.squares(piece, color);
        let count = |piece| squares_of(piece).len();
        if count(Piece::King) != 1 {
            return Err(Problem::new(
                format!("{name} has {} kings", count(Piece::King)),
                "give each side one king",
            ));
        }
        let last_ranks = Rank::First.bitboard() | Rank::Eighth.bitboard();
        if let Some(square) = (squares_of(Piece::Pawn) & last_ranks).next_square() {
            return Err(Problem::new(
                format!("there is a pawn on {square}"),
                "a pawn on the last rank has become another piece, and none starts on the first",
            ));
        }
        let all: u32 = Piece::ALL.into_iter().map(count).sum();
        if all > PIECES_MAX || count(Piece::Pawn) > PAWNS_MAX {
            return Err(Problem::new(
                format!("{name} has {all} pieces, {} of them pawns", count(Piece::Pawn)),
                format!("a side has {PIECES_MAX} pieces at most, {PAWNS_MAX} of them pawns"),
            ));
        }
        let at_first =
            [(Piece::Knight, 2), (Piece::Bishop, 2), (Piece::Rook, 2), (Piece::Queen, 1)];
        let promoted: u32 =
            at_first.into_iter().map(|(piece, first)| count(piece).saturating_sub(first)).sum();
        if promoted + count(Piece::Pawn) > PAWNS_MAX {
            return Err(Problem::new(
                format!(
                    "{name} has {} pawns, and {promoted} pieces more than at the start",
                    count(Piece::Pawn)
                ),
                "a piece more than at the start was a pawn: take away as many pawns",
            ));
        }
    }
    let king = |color| pieces.squares(Piece::King, color);
    if king(Color::White).into_iter().any(|white| king(Color::Black).has(white))
        || king(Color::White)
            .into_iter()
            .any(|white| !get_king_moves(white).is_disjoint(king(Color::Black)))
    {
        return Err(Problem::new("the kings stand beside each other", "put them further apart"));
    }
    Ok(())
}

fn read_castling(
    pieces: &Pieces,
    text: &str,
    is_chess960: bool,
) -> Result<[CastleRights; 2], Problem> {
    let remedy = if is_chess960 {
        "write the files of the rooks that may castle, white's as capitals, such as HAha, or KQkq for the outermost \
         rooks, or - if none may"
    } else {
        "write those of KQkq that still hold, or - if none does; other files of rooks are Chess960"
    };
    let wrong =
        |problem: String| Problem::new(format!("the third field, castling, {problem}"), remedy);
    let mut rights = [CastleRights::EMPTY; 2];
    if text == "-" {
        return Ok(rights);
    }
    for character in text.chars() {
        let letter = character.to_ascii_lowercase();
        let is_known = match letter {
            'k' | 'q' | 'a' | 'h' => true,
            'b'..='g' => is_chess960,
            _ => false,
        };
        if !is_known {
            return Err(wrong(format!("is `{text}`")));
        }
        let color = if character.is_ascii_uppercase() { Color::White } else { Color::Black };
        let name = color_name(color);
        let rank = Rank::First.relative_to(color);
        let king = pieces.squares(Piece::King, color) & rank.bitboard();
        let home = |king: &File| is_chess960 || *king == File::E;
        let Some(king) = king.next_square().map(Square::file).filter(home) else {
            return Err(wrong(format!("has `{character}`, but {name}'s king is not at home")));
        };
        let rooks = pieces.squares(Piece::Rook, color) & rank.bitboard();
        let rook_files = || rooks.into_iter().map(Square::file);
        let file = match letter {
            'k' if is_chess960 => rook_files().filter(|&file| file > king).max(),
            'q' if is_chess960 => rook_files().filter(|&file| file < king).min(),
            'k' => Some(File::H),
            'q' => Some(File::A),
            _ => moves::square(letter, '1').map(Square::file),
        };
        let Some(file) = file else {
            let problem = format!("has `{character}`, but {name} has no rook on that side");
            return Err(wrong(problem));
        };
        let rook = Square::new(file, rank);
        if !rooks.has(rook) {
            return Err(wrong(format!("has `{character}`, but there is no rook on {rook}")));
        }
        let rights = &mut rights[color as usize];
        let right = if file > king { &mut rights.short } else { &mut rights.long };
        if right.is_some_and(|known| known != file) {
            let problem =
                format!("is `{text}`: two rooks of {name} cannot castle on the same side");
            return Err(wrong(problem));
        }
        *right = Some(file);
    }
    Ok(rights)
}

fn read_en_passant(builder: &BoardBuilder, text: &str) -> Result<Option<Square>, Problem> {
    if text == "-" {
        return Ok(None);
    }
    let mover = !builder.side_to_move;
    let on = |square: Square| builder.square(square);
    let characters: Vec<char> = text.chars().collect();
    let square = match characters.as_slice() {
        [file, rank] => moves::square(*file, *rank),
        _ => None,
    };
    let has_passed = |target: &Square| {
        let file = target.file();
        let of_rank = |rank: Rank| Square::new(file, rank.relative_to(mover));
        target.rank() == Rank::Third.relative_to(mover)
            && on(of_rank(Rank::Second)).is_none()
            && on(*target).is_none()
            && on(of_rank(Rank::Fourth)) == Some((Piece::Pawn, mover))
    };
    match square.filter(has_passed) {
        Some(square) => Ok(Some(square)),
        None => Err(Problem::new(
            format!("the fourth field, en passant, is `{text}`"),
            format!(
                "write the square that a pawn of {} has just passed with its double step, or - if \
                 none has",
                color_name(mover)
            ),
        )),
    }
}

fn read_number(
    field: &str,
    text: &str,
    range: std::ops::RangeInclusive<u16>,
) -> Result<u16, Problem> {
    // `parse` also accepts a sign.
    let digits = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let number = digits.and_then(|digits| digits.parse().ok());
    number.filter(|number| range.contains(number)).ok_or_else(|| {
        Problem::new(
            format!("{field} is `{text}`"),
            format!("write a number from {} to {} there", range.start(), range.end()),
        )
    })
}

fn build(builder: &BoardBuilder) -> Result<Board, Problem> {
    let board = builder.build().map_err(|error| {
        use BoardBuilderError as Error;
        match error {
            Error::InvalidBoard => Problem::new(
                format!("{} is in check and has just moved", color_name(!builder.side_to_move)),
                "give the move to the other side, or take the check away",
            ),
            Error::InvalidEnPassant => Problem::new(
                "the fourth field, en passant, does not go with the check that is given",
                "write - there",
            ),
            Error::InvalidCastlingRights
            | Error::InvalidHalfMoveClock
            | Error::InvalidFullmoveNumber => {
                Problem::new(error.to_string(), "compare it with a position that is right")
            }
        }
    })?;
    // The last move can have opened a line or given check itself, but not twice along one line.
    let [first, second] = {
        let mut checkers = board.checkers().into_iter();
        [checkers.next(), checkers.next()]
    };
    let king = board.king(board.side_to_move());
    if let (Some(first), Some(second)) = (first, second)
        && get_line_rays(first, second).has(king)
    {
        return Err(Problem::new(
            format!("{first} and {second} give check along one line"),
            "no move gives check from both ends of a line",
        ));
    }
    if board.checkers().len() > 2 {
        return Err(Problem::new(
            format!("{} pieces give check at once", board.checkers().len()),
            "no move gives check with more than two pieces",
        ));
    }
    Ok(board)
}
