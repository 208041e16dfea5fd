//! Tests the parts against slow references that turn the quadrants of one board at a time.

use std::cell::Cell;
use std::time::Duration;

use super::super::bitboard::Bitboard;
use super::super::cell_bits::bit_of_cell;
use super::super::patterns::{LINES, windows};
use super::deepening::{Deepening, Found};
use super::fives::{Fives, OneMore, fives};
use super::forward::{Forward, Goal, Halt};
use super::open_lines::OpenLines;
use super::retrograde::{self, Retrograde};
use super::rotations::Rotations;
use super::subsets::{self, Ranks};
use super::{is_reached, reaches, turns_into};
use crate::core::budget::Budget;
use crate::core::host::{Host, Timeless};
use crate::core::limits::Limits;
use crate::core::position::Position;
use crate::core::rng::Random;
use crate::games::Pentago;

/// The turns of the four quadrants for a bit of a set.
fn turns_of(bit: u32, parity: u32) -> [u32; 4] {
    let others = [bit >> 1 & 3, bit >> 3 & 3, bit >> 5 & 3];
    let first = (0..4)
        .find(|first| first / 2 == bit & 1 && (first + others.iter().sum::<u32>()) % 2 == parity);
    [first.unwrap(), others[0], others[1], others[2]]
}

fn bit_of(turns: [u32; 4]) -> u32 {
    turns[0] / 2 + 2 * turns[1] + 8 * turns[2] + 32 * turns[3]
}

fn has(set: Rotations, bit: u32) -> bool {
    set.0 >> bit & 1 == 1
}

fn single(bit: u32) -> Rotations {
    Rotations(1 << bit)
}

#[test]
fn every_rotation_has_the_neighbours_that_one_quarter_turn_makes() {
    for parity in 0..2 {
        for bit in 0..128 {
            let turns = turns_of(bit, parity);
            assert_eq!(bit_of(turns), bit);
            let mut expected = Rotations::NONE;
            for quadrant in 0..4 {
                for by in [1, 3] {
                    let mut turned = turns;
                    turned[quadrant] = (turned[quadrant] + by) % 4;
                    expected = expected.or(single(bit_of(turned)));
                    if turns == [0; 4] {
                        assert_eq!(Rotations::one_turned(quadrant, by), single(bit_of(turned)));
                    }
                }
            }
            assert_eq!(single(bit).turned(), expected, "{turns:?}");
        }
    }
}

#[test]
fn fives_are_those_of_every_board_turned() {
    let mut random = Random::from_key([5; 32]);
    for _ in 0..300 {
        let density = 1 + random.below(3);
        let marbles = (0..36).fold(Bitboard::EMPTY, |marbles, cell| {
            let here = random.below(4) < density;
            let cell = Bitboard::cell(bit_of_cell(cell));
            if here { marbles.or(cell) } else { marbles }
        });
        let found = fives(marbles);
        for parity in 0..2 {
            for bit in 0..128 {
                let mut board = marbles;
                for (quadrant, turns) in turns_of(bit, parity).into_iter().enumerate() {
                    board = (0..turns).fold(board, |board, _| board.turned(quadrant, 0));
                }
                assert_eq!(has(found[parity as usize], bit), board.has_five(), "{marbles:?}");
            }
        }
    }
}

/// A board on which each cell has a marble of either side or none, in random proportion.
fn random_boards(random: &mut Random) -> [Bitboard; 2] {
    let density = 1 + random.below(3);
    let mut boards = [Bitboard::EMPTY; 2];
    for cell in 0..36 {
        let side = random.below(6);
        if side < 2 * density && side < 4 {
            let board = &mut boards[side as usize % 2];
            *board = board.or(Bitboard::cell(bit_of_cell(cell)));
        }
    }
    boards
}

#[test]
fn fives_with_one_more_marble_are_those_of_the_board_with_it() {
    let mut random = Random::from_key([8; 32]);
    for _ in 0..500 {
        let [own, other] = random_boards(&mut random);
        let empty = Bitboard::ALL.without(own.or(other));
        let found = OneMore::new(own, empty);
        assert_eq!(found.fives, fives(own));
        for parity in 0..2 {
            let mut any = found.fives[parity];
            for bit in empty.cells() {
                let with = fives(own.or(Bitboard::cell(bit)))[parity];
                assert_eq!(found.fives[parity].or(found.made(bit, parity)), with, "{own:?} {bit}");
                assert!(found.cells.has(bit) || found.made(bit, parity).is_empty());
                any = any.or(with);
                let but = empty.without(Bitboard::cell(bit)).cells();
                let but = but.fold(found.fives[parity], |any, bit| any.or(found.made(bit, parity)));
                assert_eq!(found.any_but(bit, parity), but);
            }
            assert_eq!(found.any(parity), any);
        }
    }
}

/// Over all rotations: the fewest marbles that a line without any of the other side's lacks.
#[test]
fn the_closest_line_is_that_of_every_board_turned() {
    let lines = windows::<5, LINES>();
    let mut random = Random::from_key([9; 32]);
    for _ in 0..300 {
        let [own, other] = random_boards(&mut random);
        let turned = |board: Bitboard, turns: u32| {
            (0..4).fold(board, |board, quadrant| {
                let by = turns >> (2 * quadrant) & 3;
                (0..by).fold(board, |board, _| board.turned(quadrant, 0))
            })
        };
        let lacking = |own: Bitboard, other: Bitboard| {
            let boards = (0..256).map(|turns| [turned(own, turns), turned(other, turns)]);
            let of_board = |[own, other]: [Bitboard; 2]| {
                let open = lines.iter().filter(move |&&line| line & other.bits() == 0);
                open.map(move |&line| 5 - (line & own.bits()).count_ones()).min()
            };
            boards.filter_map(of_board).min().unwrap_or(u32::MAX)
        };
        let found = OpenLines::new(own, other);
        assert_eq!(found.closest().0, lacking(own, other), "{own:?} {other:?}");
        let empty = Bitboard::ALL.without(own.or(other));
        for bit in empty.cells().take(3) {
            let cell = Bitboard::cell(bit);
            assert_eq!(found.with_own(bit).closest().0, lacking(own.or(cell), other));
            assert_eq!(found.with_others(bit).closest().0, lacking(own, other.or(cell)));
        }
    }
}

#[test]
fn sets_are_ranked_in_order_and_move_in_and_out_of_masks() {
    let mut ranks = Ranks::default();
    let mut budget = Budget::new(&Limits::default(), &Timeless);
    for cells in [1, 5, 9] {
        ranks.cover(cells, &mut budget).unwrap();
        for size in 0..=cells + 1 {
            let sets: Vec<u32> = subsets::of_size(cells, size).collect();
            let slow: Vec<u32> =
                (0..1_u32 << cells).filter(|set| set.count_ones() == size).collect();
            assert_eq!(sets, slow);
            assert_eq!(sets.len(), subsets::count(cells, size));
            for (rank, &set) in sets.iter().enumerate() {
                assert_eq!(ranks.rank(set), rank);
            }
        }
    }
    let mut random = Random::from_key([6; 32]);
    for _ in 0..1000 {
        let mask = random.below(1 << subsets::CELLS_MAX);
        let set = random.below(1 << mask.count_ones());
        let (mut slow, mut rest) = (0, set);
        for cell in (0..subsets::CELLS_MAX).filter(|cell| mask >> cell & 1 == 1) {
            slow |= (rest & 1) << cell;
            rest >>= 1;
        }
        assert_eq!(subsets::scatter(set, mask), slow);
        assert_eq!(subsets::gather(slow, mask), set);
    }
}

/// A position after this many random moves, the game not being over.
fn random_position(plies: u32, win_before_rotation: bool, random: &mut Random) -> Pentago {
    loop {
        let mut position = Pentago::empty(win_before_rotation);
        while !position.is_over() && position.marbles() < plies {
            let mv = position.random_move(random);
            position.play_unchecked(mv);
        }
        if !position.is_over() {
            return position;
        }
    }
}

/// Both ways of solving give the same value and moves, in tables and without.
#[test]
fn the_search_and_the_retrograde_pass_agree() {
    let mut random = Random::from_key([7; 32]);
    for number in 0..60 {
        let position = random_position(27 + number % 9, number % 3 != 0, &mut random);
        let marbles = [position.own(), position.other()];
        let before = position.win_before_rotation();
        let mut budget = Budget::new(&Limits::default(), &Timeless);
        let mut moves = Vec::new();
        position.legal_moves(&mut moves);
        let cells = position.empty_cells();
        let tables = Fives::in_tables(marbles, &mut budget).unwrap();
        let mut retrograde = Retrograde::default();
        let mut is_reached = false;
        let nodes = budget.nodes();
        let both: Vec<[Rotations; 2]> =
            Retrograde::default().run(&tables, before, Goal::Win, &mut budget).unwrap();
        assert_eq!(budget.nodes() - nodes, retrograde::boards(cells.count()));
        for goal in [Goal::Win, Goal::WinOrDraw] {
            let nodes = budget.nodes();
            let worked_out: Vec<[Rotations; 1]> =
                retrograde.run(&tables, before, goal, &mut budget).unwrap();
            assert_eq!(budget.nodes() - nodes, retrograde::boards(cells.count()));
            let worked_out: Vec<_> = worked_out.into_iter().flatten().collect();
            let index = usize::from(goal == Goal::WinOrDraw);
            let of_both: Vec<_> = both.iter().map(|good| good[index]).collect();
            assert_eq!(of_both, worked_out, "{position}, {goal:?}");
            let worked_out: Vec<_> =
                moves.iter().map(|&mv| reaches(mv, cells, &worked_out)).collect();
            is_reached = is_reached || worked_out.contains(&true);
            for fives in [&tables, &Fives::as_needed(marbles)] {
                let mut forward = Forward::default();
                let mut run = forward.start(fives, before, 100_000, &mut budget).unwrap();
                let found = run.good_after(goal).unwrap();
                let found: Vec<_> = moves.iter().map(|&mv| reaches(mv, cells, &found)).collect();
                assert_eq!(found, worked_out, "{position}, {goal:?}");
                assert_eq!(run.root_reaches(goal).unwrap(), is_reached, "{position}, {goal:?}");
            }
        }
    }
}

/// Deepening to the end of the game gives the same value as the search to the end; a win comes with
/// moves that win. Its results with few nodes are never wrong.
#[test]
fn deepening_agrees_with_the_search_to_the_end() {
    let mut random = Random::from_key([10; 32]);
    let (mut values, mut undecided) = ([0; 3], 0);
    for number in 0..1500 {
        let position = random_position(25 + number % 10, number % 3 != 0, &mut random);
        if position.winning_move().is_some() {
            continue;
        }
        let marbles = [position.own(), position.other()];
        let before = position.win_before_rotation();
        let mut budget = Budget::new(&Limits::default(), &Timeless);
        let mut forward = Forward::default();
        let fives = Fives::as_needed(marbles);
        let mut run = forward.start(&fives, before, u64::MAX, &mut budget).unwrap();
        let good = run.good_after(Goal::Win).unwrap();
        let value = if is_reached(&good) {
            1
        } else {
            i32::from(run.root_reaches(Goal::WinOrDraw).unwrap()) - 1
        };
        let mut deepening = Deepening::default();
        let found = deepening.run(marbles, before, u64::MAX, &mut budget).unwrap();
        assert_eq!(found.value(), value, "{position}");
        if let Found::Win(bit, won) = found {
            let mut moves = Vec::new();
            position.legal_moves(&mut moves);
            moves.retain(|&mv| mv.bit() == bit && turns_into(mv, won));
            assert!(!moves.is_empty(), "{position}");
            for mv in moves {
                assert!(reaches(mv, position.empty_cells(), &good), "{position} {mv}");
            }
        }
        for allowance in [5, 50, 500] {
            match deepening.run(marbles, before, allowance, &mut budget) {
                Ok(found) => assert_eq!(found.value(), value, "{position}"),
                Err(Halt::Allowance) => undecided += 1,
                Err(Halt::Stop(stop)) => panic!("{stop:?}"),
            }
        }
        values[(value + 1) as usize] += 1;
    }
    assert!(values.iter().all(|&count| count >= 10), "{values:?}");
    assert!(undecided > 0);
}

/// Counts the looks, and aborts at one of them.
struct Counting {
    looks: Cell<u64>,
    aborts_at: u64,
}

impl Host for Counting {
    fn wall(&self) -> Duration {
        Duration::ZERO
    }

    fn cpu(&self) -> Duration {
        Duration::ZERO
    }

    fn aborted(&self) -> bool {
        self.looks.set(self.looks.get() + 1);
        self.looks.get() >= self.aborts_at
    }
}

/// Work within a budget; returns whether it was completed.
type Work = dyn Fn(&mut Budget<'_>) -> bool;

/// All work without nodes is done in small pieces.
#[test]
fn tables_are_made_with_looks_at_the_clock() {
    let mut random = Random::from_key([11; 32]);
    let position = random_position(36 - 14, true, &mut random);
    let marbles = [position.own(), position.other()];
    let sets = 1_u64 << 14;
    let looks = |aborts_at: u64, work: &Work| {
        let host = Counting { looks: Cell::new(0), aborts_at };
        let mut budget = Budget::new(&Limits::default(), &host);
        let is_done = work(&mut budget);
        assert_eq!(budget.nodes(), 0);
        (host.looks.get(), is_done)
    };
    let pieces = sets.div_ceil(u64::from(subsets::SETS_BETWEEN_LOOKS));
    let tables = move |budget: &mut Budget<'_>| Fives::in_tables(marbles, budget).is_ok();
    let ranks = |budget: &mut Budget<'_>| Ranks::default().cover(14, budget).is_ok();
    for (expected, work) in [(2 * pieces, &tables as &Work), (pieces, &ranks)] {
        assert_eq!(looks(u64::MAX, work), (expected, true));
        for aborts_at in [1, 2, expected] {
            assert_eq!(looks(aborts_at, work), (aborts_at, false));
        }
    }
}
