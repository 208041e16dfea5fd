//! The place of a position among a table's values: how squares become an index.
//!
//! The pieces of a table are in groups. The leading group is placed first, up to symmetry: without pawns three
//! different pieces or the two kings, with pawns the pawns of one side. The pawns of the other side follow, and then
//! groups of like pieces, each by the squares that are left. The index is a sum over the groups, each with its own
//! factor; the file says in which order the factors grow.

use crate::material::{Material, PIECES_MAX};

/// Placements of three different pieces that lead, and of two kings that lead, up to symmetry.
const LEADING_THREE: u64 = 31_332;
const LEADING_KINGS: u64 = 462;

/// How the positions of one side to move (and with pawns of one file of the leading pawn) are numbered.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The pieces in the file's order: 1 for a pawn to 6 for a king, and 8 more for the second side.
    pub(crate) codes: Vec<u8>,
    groups: Vec<Group>,
    /// The number of places.
    pub(crate) size: u64,
    /// Of the leading pawns.
    has_pawns: bool,
}

#[derive(Debug)]
struct Group {
    len: usize,
    factor: u64,
}

impl Layout {
    /// The layout of a file's codes, with its `order` of the leading group and of the second group of pawns.
    /// `pawn_file` is that of the leading pawn, 0 to 3. `None` if these are not the pieces of `material`, or make
    /// no layout.
    pub(crate) fn new(
        material: Material,
        codes: Vec<u8>,
        order: [u8; 2],
        pawn_file: usize,
    ) -> Option<Self> {
        let stored = Material::from_codes(&codes)?;
        if stored != material && stored != material.exchanged() {
            return None;
        }
        let runs: Vec<usize> = codes.chunk_by(|one, other| one == other).map(<[u8]>::len).collect();
        if runs.len() != stored.kinds() {
            return None;
        }
        let is_pawn = |index: usize| codes[index] & 7 == 1;
        let has_pawns = material.pawns() != [0, 0];
        let mut lens = runs;
        let mut pawn_groups = 0;
        if has_pawns {
            pawn_groups = material.pawns().iter().filter(|&&pawns| pawns > 0).count();
            let mut start = 0;
            for &len in &lens[..pawn_groups] {
                if !is_pawn(start) {
                    return None;
                }
                start += len;
            }
        } else {
            let leading = if material.single_kinds() > 2 { 3 } else { 2 };
            let singles = lens.get(..leading)?.iter().all(|&len| len == 1);
            if !singles || (leading == 2 && codes[..2].iter().any(|code| code & 7 != 6)) {
                return None;
            }
            lens.splice(..leading, [leading]);
        }
        let mut layout = Self { codes, groups: Vec::new(), size: 1, has_pawns };
        layout.groups = lens.into_iter().map(|len| Group { len, factor: 0 }).collect();
        layout.set_factors(order, pawn_groups, pawn_file)?;
        Some(layout)
    }

    fn set_factors(&mut self, order: [u8; 2], pawn_groups: usize, pawn_file: usize) -> Option<()> {
        let first = pawn_groups.max(1);
        let led = self.groups.iter().take(first).map(|group| group.len).sum::<usize>();
        let mut free = 64 - led as u64;
        let mut rest = first;
        for place in 0..self.groups.len() {
            let (index, count) = if usize::from(order[0]) == place {
                let count = match (self.has_pawns, self.groups[0].len) {
                    (true, len) => LeadingPawns::new(len).sizes[pawn_file],
                    (false, 3) => LEADING_THREE,
                    (false, _) => LEADING_KINGS,
                };
                (0, count)
            } else if pawn_groups == 2 && usize::from(order[1]) == place {
                (1, choose(48 - self.groups[0].len as u64, self.groups[1].len))
            } else {
                let len = self.groups.get(rest)?.len;
                let count = choose(free, len);
                free -= len as u64;
                rest += 1;
                (rest - 1, count)
            };
            self.groups[index].factor = self.size;
            self.size = self.size.checked_mul(count)?;
        }
        self.groups.iter().all(|group| group.factor > 0).then_some(())
    }

    /// The number of pawns that lead; `None` without pawns.
    pub(crate) fn leading_pawns_len(&self) -> Option<usize> {
        self.has_pawns.then(|| self.groups[0].len)
    }

    /// The index of a position whose pieces stand on these squares, in the order of [`Layout::codes`]. `None` if a
    /// table has no such position.
    pub(crate) fn index(&self, squares: &mut [u8]) -> Option<u64> {
        debug_assert!(squares.len() <= PIECES_MAX, "a table has no more pieces");
        let leading = self.groups[0].len;
        let mut index = if self.has_pawns {
            self.leading_pawns(squares)
        } else {
            turn(squares, leading);
            if leading == 3 { three(squares) } else { kings(squares)? }
        } * self.groups[0].factor;
        let mut start = leading;
        for (number, group) in self.groups.iter().enumerate().skip(1) {
            let (before, after) = squares.split_at_mut(start);
            let own = &mut after[..group.len];
            own.sort_unstable();
            // The other side's pawns have no squares on the first rank.
            let is_pawns = self.has_pawns && number == 1 && self.codes[start] & 7 == 1;
            let skipped = if is_pawns { 8 } else { 0 };
            for (place, &square) in own.iter().enumerate() {
                let lower = before.iter().filter(|&&other| other < square).count() as u64;
                let left = u64::from(square).checked_sub(lower + skipped)?;
                index += choose(left, place + 1) * group.factor;
            }
            start += group.len;
        }
        (index < self.size).then_some(index)
    }

    fn leading_pawns(&self, squares: &mut [u8]) -> u64 {
        let leading = self.groups[0].len;
        if squares[0] & 7 > 3 {
            squares.iter_mut().for_each(|square| *square ^= 7);
        }
        squares[1..leading].sort_unstable_by_key(|&square| std::cmp::Reverse(pawn_rank(square)));
        let others = leading - 1;
        let first = LeadingPawns::new(leading).starts[lead_place(squares[0])];
        let rest = squares[1..leading].iter().enumerate();
        first + rest.map(|(place, &square)| choose(pawn_rank(square), others - place)).sum::<u64>()
    }
}

/// Brings the pawn that leads to the front, and returns the file, 0 to 3, by which a file's parts are told apart.
pub(crate) fn bring_leading_pawn_first(pawns: &mut [u8]) -> usize {
    if let Some(first) = (0..pawns.len()).min_by_key(|&index| lead_place(pawns[index])) {
        pawns.swap(0, first);
    }
    pawns.first().map_or(0, |&square| edge_distance(square))
}

/// The number of ways to choose.
fn choose(from: u64, count: usize) -> u64 {
    if from < count as u64 {
        return 0;
    }
    (0..count as u64).fold(1, |ways, chosen| ways * (from - chosen) / (chosen + 1))
}

/// How far a square's file is from the edge of the board, 0 to 3.
fn edge_distance(square: u8) -> usize {
    usize::from((square & 7).min(7 - (square & 7)))
}

/// The place of a square among those of a leading pawn: by files from the edge, then by ranks.
fn lead_place(square: u8) -> usize {
    edge_distance(square) * 6 + usize::from(square >> 3).saturating_sub(1)
}

/// The rank of a square among those of pawns: from 47 for a2 down to 0 for e7, so that a pawn that leads has a higher one
/// than the pawns that follow.
fn pawn_rank(square: u8) -> u64 {
    let rank = u64::from(square >> 3).clamp(1, 6);
    47 - 12 * edge_distance(square) as u64 - 2 * (rank - 1) - u64::from(square & 7 > 3)
}

/// The placements of leading pawns.
struct LeadingPawns {
    /// By the place of the first pawn: placements before it on its file.
    starts: [u64; 24],
    /// By its file.
    sizes: [u64; 4],
}

impl LeadingPawns {
    fn new(pawns: usize) -> Self {
        let (mut starts, mut sizes) = ([0; 24], [0; 4]);
        for (place, start) in starts.iter_mut().enumerate() {
            let size = &mut sizes[place / 6];
            *start = *size;
            let square = (place % 6 + 1) * 8 + place / 6;
            *size += choose(pawn_rank(square as u8), pawns - 1);
        }
        Self { starts, sizes }
    }
}

/// Turns the board so that the first piece is in the triangle a1-d1-d4, and the first of the leading pieces that is not
/// on the diagonal a1-h8 is below it.
fn turn(squares: &mut [u8], leading: usize) {
    if squares[0] & 7 > 3 {
        squares.iter_mut().for_each(|square| *square ^= 7);
    }
    if squares[0] >> 3 > 3 {
        squares.iter_mut().for_each(|square| *square ^= 56);
    }
    let off = squares[..leading].iter().find(|&&square| square >> 3 != square & 7);
    if off.is_some_and(|square| square >> 3 > square & 7) {
        squares.iter_mut().for_each(|square| *square = *square >> 3 | (*square & 7) << 3);
    }
}

fn is_diagonal(square: u8) -> bool {
    square >> 3 == square & 7
}

/// The number of a square below the diagonal a1-h8, by ranks.
fn lower_place(square: u8) -> u64 {
    let (file, rank) = (u64::from(square & 7), u64::from(square >> 3));
    (rank * 7 + file).saturating_sub(rank * rank.saturating_sub(1) / 2 + rank + 1)
}

/// The number of a square of the triangle a1-d1-d4: first those below the diagonal.
fn triangle_place(square: u8) -> u64 {
    let (file, rank) = (u64::from(square & 7), u64::from(square >> 3));
    match rank {
        _ if file == rank => 6 + rank,
        0 => file - 1,
        1 => file + 1,
        _ => 5,
    }
}

/// Three different pieces on a turned board.
fn three(squares: &[u8]) -> u64 {
    let [one, two, last] = [squares[0], squares[1], squares[2]];
    let below_two = u64::from(two > one);
    let below_last = u64::from(last > one) + u64::from(last > two);
    let diagonal = |square: u8| u64::from(square & 7);
    // By how many of the pieces are on the diagonal, each with its number of placements.
    let (after_one, after_two, after_three) = (6 * 63 * 62, 4 * 28 * 62, 4 * 7 * 28);
    if !is_diagonal(one) {
        (triangle_place(one) * 63 + u64::from(two) - below_two) * 62 + u64::from(last) - below_last
    } else if !is_diagonal(two) {
        after_one + (diagonal(one) * 28 + lower_place(two)) * 62 + u64::from(last) - below_last
    } else if !is_diagonal(last) {
        let pair = diagonal(one) * 7 + diagonal(two) - below_two;
        after_one + after_two + pair * 28 + lower_place(last)
    } else {
        let pair = diagonal(one) * 7 + diagonal(two) - below_two;
        after_one + after_two + after_three + pair * 6 + diagonal(last) - below_last
    }
}

/// Two kings on a turned board; `None` if they touch. Pairs are numbered by the first king's place in the triangle,
/// pairs on the diagonal after all others.
fn kings(squares: &[u8]) -> Option<u64> {
    let triangle = [1, 2, 3, 10, 11, 19, 0, 9, 18, 27_u8];
    let mut number = 0;
    for on_diagonal in [false, true] {
        for one in triangle {
            for other in 0..64_u8 {
                let is_far = (one & 7).abs_diff(other & 7).max((one >> 3).abs_diff(other >> 3)) > 1;
                let is_on_diagonal = is_diagonal(one) && is_diagonal(other);
                let is_above = is_diagonal(one) && other >> 3 > other & 7;
                if is_far && !is_above && is_on_diagonal == on_diagonal {
                    if squares[..2] == [one, other] {
                        return Some(number);
                    }
                    number += 1;
                }
            }
        }
    }
    None
}
