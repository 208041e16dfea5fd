//! Positions for engines without `setboard`.

use std::fmt::Write as _;

/// The commands that set up a position in Forsyth-Edwards notation by `edit`, after `new` and `force`; `None` if they
/// cannot express it: kings and rooks on their first squares can always castle, and en passant is impossible.
#[must_use]
pub fn edit_commands(fen: &str) -> Option<String> {
    let mut fields = fen.split(' ');
    let (board, side, rights, en_passant) =
        (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let mut pieces = Vec::new();
    let rows: Vec<&str> = board.split('/').collect();
    if rows.len() != 8 {
        return None;
    }
    for (row, rank) in rows.iter().zip((1..=8_u8).rev()) {
        let mut file = 0;
        for letter in row.chars() {
            if let Some(empty) = letter.to_digit(9) {
                file += empty;
                continue;
            }
            let name = "abcdefgh".chars().nth(usize::try_from(file).ok()?)?;
            if !"KQRBNP".contains(letter.to_ascii_uppercase()) {
                return None;
            }
            pieces.push((letter, format!("{name}{rank}")));
            file += 1;
        }
        if file != 8 {
            return None;
        }
    }
    let is_at =
        |letter: char, square: &str| pieces.iter().any(|(l, s)| *l == letter && s == square);
    let implied = [
        ('K', ('K', "e1"), ('R', "h1")),
        ('Q', ('K', "e1"), ('R', "a1")),
        ('k', ('k', "e8"), ('r', "h8")),
        ('q', ('k', "e8"), ('r', "a8")),
    ];
    let implied: String = implied
        .iter()
        .filter(|(_, king, rook)| is_at(king.0, king.1) && is_at(rook.0, rook.1))
        .map(|(right, ..)| *right)
        .collect();
    if rights.trim_matches('-') != implied || en_passant != "-" {
        return None;
    }
    let mut text = match side {
        "w" => String::new(),
        // `edit` leaves the turn: after a move of White it is Black's.
        "b" => "a2a3\n".to_owned(),
        _ => return None,
    };
    text.push_str("edit\n#\n");
    for is_white in [true, false] {
        for (letter, square) in &pieces {
            if letter.is_ascii_uppercase() == is_white {
                let _ = writeln!(text, "{}{square}", letter.to_ascii_uppercase());
            }
        }
        text.push_str(if is_white { "c\n" } else { ".\n" });
    }
    Some(text)
}
