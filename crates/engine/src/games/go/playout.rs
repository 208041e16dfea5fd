//! Random games, with groups and their liberties kept from move to move.
//!
//! Each free point beside a stone counts as a liberty of its group once for each such stone. A group whose
//! liberties are all one point is known by their number, sum and sum of squares: the number times the sum of
//! squares is the square of the sum exactly then (Cauchy and Schwarz). So no list of liberties is kept, and the
//! same moves are legal as in positions.

use super::cells::{Cells, SMALL, WORDS};
use super::{Go, GoMove, STRIDE, boards};
use crate::core::position::{Position, Side};
use crate::core::rng::PlayoutRandom;
use crate::core::wide::wide;

/// Bits of a set of points, with one row of border before and after.
const PLACES: usize = 21 * STRIDE as usize + 1;
/// The place of the point with bit 0.
const FIRST: usize = STRIDE as usize + 1;

const FREE: u8 = 2;
const BORDER: u8 = 3;

#[derive(Clone, Copy, Default)]
struct Group {
    liberties: u32,
    sum: u32,
    squares: u32,
    stones: u32,
}

impl Group {
    #[inline(always)]
    fn add(&mut self, place: usize) {
        let place = place as u32;
        self.liberties += 1;
        self.sum += place;
        self.squares += place * place;
    }

    #[inline(always)]
    fn remove(&mut self, place: usize) {
        let place = place as u32;
        self.liberties -= 1;
        self.sum -= place;
        self.squares -= place * place;
    }

    #[inline(always)]
    fn is_in_atari(&self) -> bool {
        u64::from(self.liberties) * u64::from(self.squares) == u64::from(self.sum).pow(2)
    }
}

struct Groups<const W: usize> {
    /// A side's number, [`FREE`] or [`BORDER`].
    points: [u8; PLACES],
    /// For each stone, the place of its group's entry in `groups`.
    group_of: [u16; PLACES],
    /// For each stone the next of its group, in a circle.
    next: [u16; PLACES],
    groups: [Group; PLACES],
    stones: [Cells<W>; 2],
    free: Cells<W>,
}

#[inline(always)]
const fn beside(place: usize) -> [usize; 4] {
    [place - STRIDE as usize, place - 1, place + 1, place + STRIDE as usize]
}

impl<const W: usize> Groups<W> {
    #[inline(always)]
    fn new(position: &Go) -> Self {
        let free = boards::<W>(position.size());
        let mut groups = Self {
            points: [BORDER; PLACES],
            group_of: [0; PLACES],
            next: [0; PLACES],
            groups: [Group::default(); PLACES],
            stones: [Cells::EMPTY; 2],
            free,
        };
        for row in 0..position.size() as usize {
            let first = FIRST + STRIDE as usize * row;
            groups.points[first..first + position.size() as usize].fill(FREE);
        }
        // Every part of a group with a free point beside it has one: none is captured on the way.
        for (side, stones) in position.stones.into_iter().enumerate() {
            stones.iter().for_each(|cell| _ = groups.place(cell, side, false));
        }
        groups
    }

    /// Puts a stone, removes what is captured, and returns the point of a ko.
    #[inline(always)]
    fn place(&mut self, cell: u32, side: usize, allows_suicide: bool) -> Option<u32> {
        let place = FIRST + cell as usize;
        let other = 1 - side;
        let stone = Cells::one(cell);
        self.points[place] = side as u8;
        self.stones[side] = self.stones[side].or(stone);
        self.free = self.free.without(stone);
        self.group_of[place] = place as u16;
        self.next[place] = place as u16;
        let mut group = Group { stones: 1, ..Group::default() };
        let mut is_alone = true;
        for near in beside(place) {
            match self.points[near] {
                FREE => group.add(near),
                BORDER => {}
                near_side => {
                    is_alone &= usize::from(near_side) == other;
                    self.groups[usize::from(self.group_of[near])].remove(place);
                }
            }
        }
        is_alone &= group.liberties == 0;
        self.groups[place] = group;
        let mut captured = 0;
        let mut captured_at = 0;
        for near in beside(place) {
            let near_side = usize::from(self.points[near]);
            if near_side == side {
                self.join(near, place);
            } else if near_side == other
                && self.groups[usize::from(self.group_of[near])].liberties == 0
            {
                captured += self.remove(near, other);
                captured_at = near;
            }
        }
        if captured == 0 && allows_suicide {
            let own = usize::from(self.group_of[place]);
            if self.groups[own].liberties == 0 {
                self.remove(place, side);
            }
        }
        (captured == 1 && is_alone).then(|| (captured_at - FIRST) as u32)
    }

    /// Joins two groups, if they are two.
    #[inline(always)]
    fn join(&mut self, a: usize, b: usize) {
        let [mut large, mut small] = [a, b].map(|place| usize::from(self.group_of[place]));
        if large == small {
            return;
        }
        if self.groups[large].stones < self.groups[small].stones {
            (large, small) = (small, large);
        }
        let added = self.groups[small];
        let group = &mut self.groups[large];
        group.liberties += added.liberties;
        group.sum += added.sum;
        group.squares += added.squares;
        group.stones += added.stones;
        let mut place = small;
        loop {
            self.group_of[place] = large as u16;
            place = usize::from(self.next[place]);
            if place == small {
                break;
            }
        }
        self.next.swap(large, small);
    }

    /// Removes a group, and returns the number of its stones.
    fn remove(&mut self, first: usize, side: usize) -> u32 {
        let count = self.groups[usize::from(self.group_of[first])].stones;
        let mut place = first;
        loop {
            self.points[place] = FREE;
            let stone = Cells::one((place - FIRST) as u32);
            self.stones[side] = self.stones[side].without(stone);
            self.free = self.free.or(stone);
            for near in beside(place) {
                if self.points[near] < FREE {
                    self.groups[usize::from(self.group_of[near])].add(place);
                }
            }
            place = usize::from(self.next[place]);
            if place == first {
                return count;
            }
        }
    }

    /// Points where a side may put a stone, apart from ko.
    #[inline(always)]
    fn placements(&self, side: usize, allows_suicide: bool) -> Cells<W> {
        let open = self.free.beside(self.free);
        let mut legal = open;
        for cell in self.free.without(open).iter() {
            let may_be_put = beside(FIRST + cell as usize).into_iter().any(|near| {
                let near_side = usize::from(self.points[near]);
                near_side < usize::from(FREE) && {
                    let is_own = near_side == side;
                    let group = &self.groups[usize::from(self.group_of[near])];
                    (is_own && allows_suicide) || is_own != group.is_in_atari()
                }
            });
            if may_be_put {
                legal = legal.or(Cells::one(cell));
            }
        }
        legal
    }
}

/// Plays random moves as [`Position::play_randomly`], or as [`Position::play_decisively`].
pub(super) fn play(
    position: &mut Go,
    random: &mut PlayoutRandom,
    plies_max: u32,
    is_decisive: bool,
) -> u32 {
    let plies_max =
        plies_max.min(position.plies_max() - u32::from(position.plies).min(position.plies_max()));
    if plies_max == 0 || position.is_over() {
        return 0;
    }
    if position.size <= 9 {
        wide!(play_in::<SMALL>(position, random, plies_max, is_decisive))
    } else {
        wide!(play_in::<WORDS>(position, random, plies_max, is_decisive))
    }
}

#[inline(always)]
fn play_in<const W: usize>(
    position: &mut Go,
    random: &mut PlayoutRandom,
    plies_max: u32,
    is_decisive: bool,
) -> u32 {
    let mut groups = Groups::<W>::new(position);
    let mut played = 0;
    while played < plies_max && position.passes < 2 {
        if is_decisive && (position.passes == 1 || position.is_last_ply()) {
            position.stones = groups.stones.map(Cells::resized);
            if let Some(mv) = position.winning_move() {
                // The game's last move.
                position.play_unchecked(mv);
                return played + 1;
            }
        }
        let side = position.to_move.index();
        let mut legal = groups.placements(side, position.allows_suicide);
        if let Some(ko) = position.ko {
            legal = legal.without(Cells::one(u32::from(ko)));
        }
        let count = legal.count();
        let index = random.below(count + 1);
        if index == count {
            position.passes += 1;
            position.ko = None;
        } else {
            let ko = groups.place(legal.nth(index), side, position.allows_suicide);
            position.ko = ko.map(|ko| ko as u16);
            position.passes = 0;
        }
        position.plies += 1;
        position.to_move = if side == 0 { Side::Second } else { Side::First };
        played += 1;
    }
    position.stones = groups.stones.map(Cells::resized);
    played
}

const _: () = assert!(GoMove::CODES + FIRST <= PLACES);
