//! The eight symmetries of the board, the 462 pairs of kings up to them, and the 1,806 pairs up to the
//! reversal of files, which alone keeps the way of pawns.

/// The number of pairs of kings up to symmetry.
pub(super) const PAIRS: usize = 462;

/// The [`Kings::code`] of two kings that touch, or share a square.
pub(super) const NO_PAIR: u16 = u16::MAX;

/// The image of each square under each symmetry. In its number, bit 0 reverses files, bit 1 ranks, and bit 2
/// then exchanges files and ranks; this never changes. 4 is the reflection that keeps the diagonal a1-h8.
pub(super) static IMAGES: [[u8; 64]; 8] = images();

/// The symmetry that keeps the diagonal a1-h8.
pub(super) const DIAGONAL: usize = 4;

/// The pairs of kings.
pub(super) static KINGS: Kings = kings();

/// Pairs of kings up to symmetry, and the symmetry from any pair to its representative.
pub(super) struct Kings {
    /// By the white king's square and the black king's: the pair's number in the lower nine bits, the
    /// symmetry that leads there in the next three; or [`NO_PAIR`].
    pub(super) code: [[u16; 64]; 64],
    /// The squares of each pair, white's first.
    pub(super) squares: [[u8; 2]; PAIRS],
    /// Whether both kings of a pair are on the diagonal a1-h8: then it is its own mirror image, and the other
    /// pieces of a position can be mirrored and in the table twice.
    pub(super) is_diagonal: [bool; PAIRS],
}

/// The number of pairs of kings up to the reversal of files.
pub(super) const MIRROR_PAIRS: usize = 1806;

/// The pairs of kings for endgames with pawns.
pub(super) static MIRROR_KINGS: MirrorKings = mirror_kings();

/// Pairs of kings up to the reversal of files: white's is on the files a to d.
pub(super) struct MirrorKings {
    /// By the white king's square and the black king's: the pair's number in the lower eleven bits, and 1 in
    /// the next if files are reversed; or [`NO_PAIR`].
    pub(super) code: [[u16; 64]; 64],
    /// The squares of each pair, white's first.
    pub(super) squares: [[u8; 2]; MIRROR_PAIRS],
}

const fn mirror_kings() -> MirrorKings {
    let mut kings = MirrorKings { code: [[NO_PAIR; 64]; 64], squares: [[0; 2]; MIRROR_PAIRS] };
    let mut number = 0;
    let mut pair = 0;
    while pair < 64 * 64 {
        let (white, black) = (pair / 64, pair % 64);
        if white % 8 < 4 && !do_touch(white, black) {
            kings.code[white][black] = number as u16;
            // Reversed files are the exclusive or with 7.
            kings.code[white ^ 7][black ^ 7] = number as u16 | 1 << 11;
            kings.squares[number] = [white as u8, black as u8];
            number += 1;
        }
        pair += 1;
    }
    assert!(number == MIRROR_PAIRS, "as many pairs as there are");
    kings
}

const fn images() -> [[u8; 64]; 8] {
    let mut images = [[0; 64]; 8];
    let mut symmetry = 0;
    while symmetry < 8 {
        let mut square = 0;
        while square < 64 {
            let mut file = square % 8;
            let mut rank = square / 8;
            if symmetry & 1 != 0 {
                file = 7 - file;
            }
            if symmetry & 2 != 0 {
                rank = 7 - rank;
            }
            let is_exchanged = symmetry & DIAGONAL != 0;
            let image = if is_exchanged { file * 8 + rank } else { rank * 8 + file };
            images[symmetry][square] = image as u8;
            square += 1;
        }
        symmetry += 1;
    }
    images
}

const fn kings() -> Kings {
    let images = images();
    let mut kings =
        Kings { code: [[NO_PAIR; 64]; 64], squares: [[0; 2]; PAIRS], is_diagonal: [false; PAIRS] };
    let mut number = 0;
    let mut pair = 0;
    while pair < 64 * 64 {
        let (white, black) = (pair / 64, pair % 64);
        if is_reduced(white, black) {
            kings.code[white][black] = number as u16;
            kings.squares[number] = [white as u8, black as u8];
            kings.is_diagonal[number] = is_on_diagonal(white) && is_on_diagonal(black);
            number += 1;
        }
        pair += 1;
    }
    assert!(number == PAIRS, "as many pairs as there are");
    pair = 0;
    while pair < 64 * 64 {
        let (white, black) = (pair / 64, pair % 64);
        let mut symmetry = 0;
        while kings.code[white][black] == NO_PAIR && symmetry < 8 {
            let image = [images[symmetry][white] as usize, images[symmetry][black] as usize];
            if is_reduced(image[0], image[1]) {
                kings.code[white][black] = kings.code[image[0]][image[1]] | (symmetry as u16) << 9;
            }
            symmetry += 1;
        }
        pair += 1;
    }
    kings
}

/// Whether the kings do not touch and are a representative pair.
const fn is_reduced(white: usize, black: usize) -> bool {
    let (file, rank) = (white % 8, white / 8);
    !do_touch(white, black) && file < 4 && rank <= file && (rank < file || black / 8 <= black % 8)
}

const fn do_touch(white: usize, black: usize) -> bool {
    (black % 8).abs_diff(white % 8) <= 1 && (black / 8).abs_diff(white / 8) <= 1
}

const fn is_on_diagonal(square: usize) -> bool {
    square % 8 == square / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of kings that do not touch is an image of its representative pair, by the
    /// recorded symmetry.
    #[test]
    fn all_pairs_of_kings_lead_to_their_reduced_pair() {
        let mut images = [0; PAIRS];
        for (white, black) in (0..64 * 64).map(|pair| (pair / 64, pair % 64)) {
            let code = KINGS.code[white][black];
            let touch =
                (white % 8).abs_diff(black % 8) <= 1 && (white / 8).abs_diff(black / 8) <= 1;
            assert_eq!(code == NO_PAIR, touch, "{white} {black}");
            if touch {
                continue;
            }
            let (number, symmetry) = (usize::from(code & 511), usize::from(code >> 9));
            let image = [IMAGES[symmetry][white], IMAGES[symmetry][black]];
            assert_eq!(image, KINGS.squares[number]);
            images[number] += 1;
        }
        // 3,612 pairs in all, four of each on the diagonal and eight of each elsewhere.
        for (number, images) in images.into_iter().enumerate() {
            assert_eq!(images, if KINGS.is_diagonal[number] { 4 } else { 8 });
        }
        assert_eq!(images.iter().sum::<u32>(), 3612);
    }
}
