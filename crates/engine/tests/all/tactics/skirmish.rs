//! An invented game with all features that a search of chess uses.

use std::fmt;

use spelrum_engine::search::Evaluate;
use spelrum_engine::{Ending, Knowledge, Position, Problem, Side, SideName, Termination};

/// A tree made up by hashing the moves made so far: who moves, which moves are tactical and what they
/// gain, checks, whether a pass tells anything, and who has won are all read from the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Skirmish {
    hash: u64,
    plies_left: u32,
    width_max: u64,
    to_move: Side,
}

/// One step of the hash: the multiplication and shift of MurmurHash3's finaliser (Appleby 2011).
pub(crate) fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 33).wrapping_add(1).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}

/// Stands for a pass among the moves that are hashed.
const PASS: u64 = 1_000;

impl Skirmish {
    /// The first tree from this seed on whose root has something to choose.
    pub(crate) fn new(seed: u64, plies: u32, width_max: u64) -> Self {
        let to_move = if seed.is_multiple_of(2) { Side::First } else { Side::Second };
        (seed..)
            .map(|seed| Self { hash: mixed(seed), plies_left: plies, width_max, to_move })
            .find(|root| root.legal_move_count() >= 2)
            .unwrap()
    }

    fn part(&self, index: u32, bound: u64) -> u64 {
        (self.hash >> (8 * index) & 0xff) % bound
    }

    /// Something about a move, below a bound.
    fn of_move(&self, mv: u8, index: u32, bound: u64) -> u64 {
        (mixed(self.hash ^ 0x1_0000 ^ u64::from(mv)) >> (8 * index) & 0xff) % bound
    }
}

impl Position for Skirmish {
    type Move = u8;

    const SIDES: [SideName; 2] =
        [SideName { word: "first", letter: 'f' }, SideName { word: "second", letter: 's' }];

    const HISTORY_MATTERS: bool = false;

    fn to_move(&self) -> Side {
        self.to_move
    }

    fn ending(&self) -> Option<Ending> {
        let winners = [None, Some(Side::First), Some(Side::Second)];
        let ending = Ending {
            winner: winners[self.part(1, 3) as usize],
            termination: Termination::FULL_BOARD,
        };
        (self.plies_left == 0 || self.part(2, 8) == 0).then_some(ending)
    }

    fn legal_moves(&self, moves: &mut Vec<u8>) {
        moves.extend(0..self.legal_move_count() as u8);
    }

    fn legal_move_count(&self) -> u32 {
        if self.is_over() { 0 } else { 1 + self.part(3, self.width_max) as u32 }
    }

    fn nth_legal_move(&self, index: u32) -> u8 {
        index as u8
    }

    fn is_legal(&self, mv: u8) -> bool {
        u32::from(mv) < self.legal_move_count()
    }

    fn play_unchecked(&mut self, mv: u8) {
        self.hash = mixed(self.hash ^ u64::from(mv));
        self.plies_left -= 1;
        // Now and then a side moves twice.
        if self.part(0, 5) > 0 {
            self.to_move = self.to_move.other();
        }
    }

    fn canonical_key(&self) -> u64 {
        self.hash >> 11
    }

    fn board(&self) -> String {
        self.to_string()
    }

    fn parse_move(&self, text: &str) -> Result<u8, Problem> {
        let error = |_| Problem::new(text.to_owned(), "a number");
        text.parse().map_err(error)
    }
}

impl fmt::Display for Skirmish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}/{}", self.hash, self.plies_left)
    }
}

impl Knowledge for Skirmish {
    const MOVE_CODES: usize = 256;

    type Orientation = ();

    fn move_code(mv: u8) -> u16 {
        u16::from(mv)
    }

    fn table_key(&self) -> u64 {
        self.hash
    }

    fn plies_left(&self) -> u32 {
        self.plies_left
    }

    const HAS_TACTICS: bool = true;

    fn tactical_moves(&self, moves: &mut Vec<u8>) {
        let legal = 0..self.legal_move_count() as u8;
        moves.extend(legal.filter(|&mv| self.is_tactical(mv)));
    }

    fn is_tactical(&self, mv: u8) -> bool {
        self.of_move(mv, 0, 5) < 2
    }

    fn exchange(&self, mv: u8) -> i32 {
        assert!(self.is_tactical(mv), "only of tactical moves");
        (self.of_move(mv, 1, 5) as i32 - 2) * 100
    }

    fn capture_rank(&self, mv: u8) -> u16 {
        self.of_move(mv, 2, 4) as u16
    }

    fn is_in_check(&self) -> bool {
        self.part(5, 4) == 0
    }

    fn passed(&self) -> Option<Self> {
        let says_nothing = self.is_in_check() || self.part(6, 5) == 0;
        let hash = mixed(self.hash ^ PASS);
        (!says_nothing).then_some(Self { hash, to_move: self.to_move.other(), ..*self })
    }
}

/// Few values, so that many tie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hunch;

impl Evaluate<Skirmish> for Hunch {
    fn evaluate(&self, position: &Skirmish) -> i32 {
        assert!(!position.is_over(), "a position that is over has no static value");
        position.part(4, 9) as i32 - 4
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}
