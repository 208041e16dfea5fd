//! Wins with the next move, and defences against the opponent's, from tables.
//!
//! A position has eight turns and up to 36 placements, so finding a win by making each move takes
//! up to 288 positions. But a placement fills one cell, and a turn changes one quadrant: a few ANDs
//! over the lines that the quadrants fill show whether any placement wins with a given turn, and
//! the lines that lack one cell show which.

use super::bitboard::{Bitboard, LANE, LineParts, Lines, add_parts};
use super::moves::PentagoMove;
use super::patterns::{LINES, windows};

/// For each quadrant and its marbles: the lines of five that have a marble there.
static TOUCHED: [[u32; 512]; 4] = touched();
/// For each quadrant and its marbles: the greatest number of marbles on each line's part in the
/// quadrant over its turns, in two bits, laid out as for [`add_parts`].
static POTENTIAL: [[u64; 512]; 4] = potential();

/// The eight turns, as quadrant and direction, in the order of the moves.
const TURNS: [(usize, usize); 8] = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1)];

/// A lower bound on the marbles that a colour must still place to have five in a row, under any
/// rotation of the quadrants.
#[inline]
pub(super) fn missing(marbles: Bitboard) -> u32 {
    let part = |quadrant: usize| POTENTIAL[quadrant][marbles.quadrant(quadrant)];
    let [ones, twos, fours] = add_parts([part(0), part(1), part(2), part(3)]);
    if fours != 0 {
        u32::from(fours & ones == 0)
    } else if twos != 0 {
        2 + u32::from(twos & ones == 0)
    } else {
        4 + u32::from(ones == 0)
    }
}

/// The possible wins of one colour with one placement and one turn, were it to move.
#[derive(Clone, Copy)]
struct Attack {
    attacker: Bitboard,
    defender: Bitboard,
    /// The attacker's lines.
    lines: LineParts,
    /// For each quadrant, the lines without the defender's marbles in the other three.
    others_open: [u32; 4],
    /// For each quadrant, the lines that the defender fills in the other three.
    defended: [u32; 4],
}

/// The placements with which one turn wins.
#[derive(Clone, Copy)]
enum Wins {
    None,
    /// With any: the turn alone makes five.
    Any,
    /// With one on any of these cells, numbered by their places after the turn.
    On(Bitboard),
}

impl Attack {
    #[inline]
    fn new(attacker: Bitboard, defender: Bitboard) -> Self {
        let open = [0, 1, 2, 3].map(|quadrant| !TOUCHED[quadrant][defender.quadrant(quadrant)]);
        Self {
            attacker,
            defender,
            lines: attacker.line_parts(),
            others_open: all_but_one(open),
            defended: all_but_one(defender.full()),
        }
    }

    /// The placements with which this turn wins. A placement that makes five before it does not
    /// count.
    #[inline]
    fn wins(&self, (quadrant, direction): (usize, usize)) -> Wins {
        let attacker = self.attacker.turned_quadrant(quadrant, direction);
        let defender = self.defender.turned_quadrant(quadrant, direction);
        let defended = Lines::in_quadrant(quadrant, defender).complete;
        if defended & self.defended[quadrant] != 0 {
            return Wins::None;
        }
        let lines =
            self.lines.without_quadrant(quadrant).and(Lines::in_quadrant(quadrant, attacker));
        if lines.complete != 0 {
            return Wins::Any;
        }
        let open = lines.lacking_one & self.others_open[quadrant] & !TOUCHED[quadrant][defender];
        if open == 0 {
            return Wins::None;
        }
        Wins::On(self.attacker.turned(quadrant, direction).missing(open))
    }
}

/// Whether `own`, to move, can win at once.
#[inline]
pub(super) fn can_win(own: Bitboard, other: Bitboard, win_before_rotation: bool) -> bool {
    if missing(own) > 1 {
        return false;
    }
    if win_before_rotation && !own.completing().without(other).is_empty() {
        return true;
    }
    let attack = Attack::new(own, other);
    TURNS.into_iter().any(|turn| !matches!(attack.wins(turn), Wins::None))
}

/// The first move in canonical order that wins at once; `own` is to move.
pub(super) fn winning_move(
    own: Bitboard,
    other: Bitboard,
    win_before_rotation: bool,
) -> Option<PentagoMove> {
    if missing(own) > 1 {
        return None;
    }
    if win_before_rotation {
        let cells = own.completing().without(other);
        if !cells.is_empty() {
            return Some(PentagoMove::placement(cells.lowest()));
        }
    }
    let attack = Attack::new(own, other);
    let empty = Bitboard::ALL.without(own.or(other));
    let first_with = |turn: u32, (quadrant, direction)| {
        let cells = match attack.wins((quadrant, direction)) {
            Wins::None => return None,
            Wins::Any => empty,
            Wins::On(cells) => cells.turned(quadrant, 1 - direction),
        };
        (!cells.is_empty()).then(|| PentagoMove::with_turn(cells.lowest(), turn))
    };
    (0..).zip(TURNS).filter_map(|(number, turn)| first_with(number, turn)).min()
}

/// The defences of a side that cannot win at once against a loss at once or to the next reply.
pub(crate) struct Defence {
    /// For each turn, the cells on which a placement with it does not lose so.
    pub(crate) safe: [Bitboard; 8],
    /// For each turn, whether a placement elsewhere loses at once, rather than only to the reply.
    pub(crate) loses_at_once: [bool; 8],
}

/// The defence of `own`, which is to move, cannot win at once, and does not fill the board with
/// this move. `None` if no reply can win after any move.
#[inline]
pub(super) fn defence(
    own: Bitboard,
    other: Bitboard,
    win_before_rotation: bool,
) -> Option<Defence> {
    if missing(other) > 1 {
        return None;
    }
    let mut defence = Defence { safe: [Bitboard::EMPTY; 8], loses_at_once: [false; 8] };
    for (turn, (quadrant, direction)) in TURNS.into_iter().enumerate() {
        let (own, other) = (own.turned(quadrant, direction), other.turned(quadrant, direction));
        let empty = Bitboard::ALL.without(own.or(other));
        let safe = if other.has_five() {
            // Lost, unless the placement makes five for both.
            defence.loses_at_once[turn] = true;
            if own.has_five() { empty } else { own.completing().and(empty) }
        } else {
            unanswered(own, other, empty, win_before_rotation)
        };
        defence.safe[turn] = safe.turned(quadrant, 1 - direction);
    }
    Some(defence)
}

/// The cells among `empty` on which a marble of `own` leaves `other`, to move next, without a win.
///
/// If `other` wins by a placement on one cell, that cell must be occupied. A win with a turn is
/// also prevented by a marble that gives `own` five after that turn: then both have five.
fn unanswered(
    own: Bitboard,
    other: Bitboard,
    empty: Bitboard,
    win_before_rotation: bool,
) -> Bitboard {
    let mut safe = empty;
    if win_before_rotation {
        let winning = other.completing().and(empty);
        if !winning.is_empty() {
            if !winning.without_lowest().is_empty() {
                return Bitboard::EMPTY;
            }
            safe = winning;
        }
    }
    let attack = Attack::new(other, own);
    for (quadrant, direction) in TURNS {
        let taken = match attack.wins((quadrant, direction)) {
            Wins::None => continue,
            Wins::On(cells) if cells.without_lowest().is_empty() => cells,
            Wins::Any | Wins::On(_) => Bitboard::EMPTY,
        };
        let saving = taken.or(own.turned(quadrant, direction).completing());
        safe = safe.and(saving.turned(quadrant, 1 - direction));
        if safe.is_empty() {
            break;
        }
    }
    safe
}

/// For each of four sets, the intersection of the other three.
#[inline]
fn all_but_one([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    let (top, bottom) = (a & b, c & d);
    [b & bottom, a & bottom, top & d, top & c]
}

const fn touched() -> [[u32; 512]; 4] {
    let lines = windows::<5, LINES>();
    let mut table = [[0; 512]; 4];
    let mut quadrant = 0;
    while quadrant < 4 {
        let mut line = 0;
        while line < LINES {
            let part = (lines[line] >> (16 * quadrant)) & LANE;
            let mut marbles = 0;
            while marbles < 512 {
                if marbles as u64 & part != 0 {
                    table[quadrant][marbles] |= 1 << line;
                }
                marbles += 1;
            }
            line += 1;
        }
        quadrant += 1;
    }
    table
}

const fn potential() -> [[u64; 512]; 4] {
    let lines = windows::<5, LINES>();
    let mut table = [[0; 512]; 4];
    let mut quadrant = 0;
    while quadrant < 4 {
        let mut line = 0;
        while line < LINES {
            // Turning the line's part is turning the quadrant the other way.
            let part = (lines[line] >> (16 * quadrant)) & LANE;
            let mut parts = [part; 4];
            let mut turns = 1;
            while turns < 4 {
                parts[turns] = quarter_turned(parts[turns - 1]);
                turns += 1;
            }
            let mut marbles = 0;
            while marbles < 512 {
                let mut most = 0;
                let mut turns = 0;
                while turns < 4 {
                    let there = (marbles as u64 & parts[turns]).count_ones() as u64;
                    if there > most {
                        most = there;
                    }
                    turns += 1;
                }
                table[quadrant][marbles] |= (most & 1) << line | (most >> 1) << (32 + line);
                marbles += 1;
            }
            line += 1;
        }
        quadrant += 1;
    }
    table
}

const fn quarter_turned(cells: u64) -> u64 {
    const SOURCE: [u64; 9] = [6, 3, 0, 7, 4, 1, 8, 5, 2];
    let mut turned = 0;
    let mut to = 0;
    while to < 9 {
        turned |= ((cells >> SOURCE[to]) & 1) << to;
        to += 1;
    }
    turned
}
