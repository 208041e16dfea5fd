//! Discs that can never be flipped.

/// The rows, columns and diagonals as steps between neighbours, and the squares that have a neighbour at the
/// lower and at the higher end.
const AXES: [(u32, u64, u64); 4] = [
    (1, 0xfefe_fefe_fefe_fefe, 0x7f7f_7f7f_7f7f_7f7f),
    (8, !0xff, !0 >> 8),
    (7, 0x7f7f_7f7f_7f7f_7f00, 0x00fe_fefe_fefe_fefe),
    (9, 0xfefe_fefe_fefe_fe00, 0x007f_7f7f_7f7f_7f7f),
];

/// Discs of the side with `own` that can never be flipped, some at least: along each of the four lines through
/// such a disc, the line is full, or it ends beside the disc, or the next disc is one of them.
pub(super) fn stable(own: u64, other: u64) -> u64 {
    let taken = own | other;
    let mut safe = [0; 4];
    for (safe, (step, has_lower, has_higher)) in safe.iter_mut().zip(AXES) {
        // A square is on a full line if no empty square can be reached along it.
        let mut open = !taken;
        for _ in 0..7 {
            open |= open << step & has_lower | open >> step & has_higher;
        }
        *safe = !open | !has_lower | !has_higher;
    }
    let mut stable = 0;
    loop {
        let mut next = own;
        for (safe, (step, has_lower, has_higher)) in safe.into_iter().zip(AXES) {
            next &= safe | stable << step & has_lower | stable >> step & has_higher;
        }
        if next == stable {
            return stable;
        }
        stable = next;
    }
}
