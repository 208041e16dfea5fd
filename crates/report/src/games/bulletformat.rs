//! Positions of chess as bullet's trainer reads them: 32 bytes each (its crate bulletformat, `ChessBoard`).

use spelrum_engine::Outcome;

/// A position by FEN with the score and the result of the side to move, all seen from that side: its pieces are
/// white, and it plays upwards. `None` if the text is no board of chess with at most 32 pieces.
///
/// Little-endian: the occupied squares (a1 is the lowest bit), four bits for each piece in their order (pawn 0 to
/// king 5, and 8 more for the opponent's), the score, the result (0 lost, 1 drawn, 2 won), the square of the own
/// king, that of the other king from its own side, and three bytes of zero.
pub(super) fn board(fen: &str, score: i32, outcome: Outcome) -> Option<[u8; 32]> {
    let mut fields = fen.split(' ');
    let (rows, is_black) = (fields.next()?, fields.next()? == "b");
    let mut rows: Vec<&str> = rows.split('/').collect();
    // From the own side's first rank.
    if !is_black {
        rows.reverse();
    }
    let (mut occupied, mut pieces, mut kings) = (0_u64, [0_u8; 16], [0_u8; 2]);
    let mut count = 0_usize;
    for (rank, row) in (0_u8..8).zip(rows) {
        let mut file = 0_u8;
        for letter in row.chars() {
            if let Some(empty) = letter.to_digit(9) {
                file += u8::try_from(empty).ok()?;
                continue;
            }
            let kind = u8::try_from("pnbrqk".find(letter.to_ascii_lowercase())?).ok()?;
            let is_other = letter.is_ascii_lowercase() != is_black;
            let square = 8 * rank + file;
            if file > 7 {
                return None;
            }
            occupied |= 1 << square;
            *pieces.get_mut(count / 2)? |= (kind | u8::from(is_other) << 3) << (4 * (count % 2));
            if kind == 5 {
                kings[usize::from(is_other)] = if is_other { square ^ 56 } else { square };
            }
            count += 1;
            file += 1;
        }
    }
    let score = i16::try_from(score.clamp(i16::MIN.into(), i16::MAX.into())).ok()?;
    let result = match outcome {
        Outcome::Loss => 0,
        Outcome::Draw => 1,
        Outcome::Win => 2,
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&occupied.to_le_bytes());
    bytes[8..24].copy_from_slice(&pieces);
    bytes[24..26].copy_from_slice(&score.to_le_bytes());
    bytes[26..29].copy_from_slice(&[result, kings[0], kings[1]]);
    Some(bytes)
}
