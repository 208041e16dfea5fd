//! A game invented by hashing: every seed is another tree of uneven width and depth, in which the
//! same side may move twice, games end anywhere, moves that are legal in one position are illegal
//! in the next, and values tie often.

use std::fmt;

use spelrum_engine::search::Evaluate;
use spelrum_engine::{Ending, Position, Problem, Side, SideName, Termination};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Thicket {
    /// A hash of the seed and all moves so far: everything else is read from its bits.
    key: u64,
    ply: u32,
    last_ply: u32,
    widest: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Branch(u8);

impl Thicket {
    /// A tree in which no game is longer than `last_ply` and no position has more than `widest`
    /// (2 to 8) moves; the root has at least two.
    pub(crate) fn new(seed: u64, last_ply: u32, widest: u32) -> Self {
        assert!((2..=8).contains(&widest) && last_ply > 0);
        let mut seed = seed;
        loop {
            let thicket = Self { key: mix(seed), ply: 0, last_ply, widest };
            if thicket.legal_move_count() >= 2 {
                return thicket;
            }
            seed = mix(seed ^ 0xA5);
        }
    }

    fn legal_mask(&self) -> u32 {
        let mask = (self.key >> 8) as u32 & ((1 << self.widest) - 1);
        match self.ending() {
            None => mask.max(1),
            Some(_) => 0,
        }
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Position for Thicket {
    type Move = Branch;

    const SIDES: [SideName; 2] =
        [SideName { word: "first", letter: 'f' }, SideName { word: "second", letter: 's' }];

    const HISTORY_MATTERS: bool = false;

    fn to_move(&self) -> Side {
        if self.key & 1 == 0 { Side::First } else { Side::Second }
    }

    fn ending(&self) -> Option<Ending> {
        let is_over =
            self.ply == self.last_ply || (self.ply > 0 && (self.key >> 16).is_multiple_of(9));
        is_over.then(|| Ending {
            winner: [None, Some(Side::First), Some(Side::Second)][((self.key >> 24) % 3) as usize],
            termination: Termination::FULL_BOARD,
        })
    }

    fn legal_moves(&self, moves: &mut Vec<Branch>) {
        let mask = self.legal_mask();
        moves.extend((0..8).filter(|bit| mask >> bit & 1 == 1).map(Branch));
    }

    fn legal_move_count(&self) -> u32 {
        self.legal_mask().count_ones()
    }

    fn nth_legal_move(&self, index: u32) -> Branch {
        let mut moves = Vec::new();
        self.legal_moves(&mut moves);
        moves[index as usize]
    }

    fn is_legal(&self, mv: Branch) -> bool {
        self.legal_mask() >> mv.0 & 1 == 1
    }

    fn play_unchecked(&mut self, mv: Branch) {
        self.key = mix(self.key ^ u64::from(mv.0));
        self.ply += 1;
    }

    fn canonical_key(&self) -> u64 {
        self.key >> 11
    }

    fn board(&self) -> String {
        self.to_string()
    }

    fn parse_move(&self, text: &str) -> Result<Branch, Problem> {
        text.parse()
            .map(Branch)
            .map_err(|_| Problem::new(format!("{text:?} is not a branch"), "write its number"))
    }
}

impl fmt::Display for Thicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.key, self.ply, self.last_ply, self.widest)
    }
}

impl fmt::Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Values from -3 to 3, so that many tie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Foliage;

impl Evaluate<Thicket> for Foliage {
    fn is_symmetric(&self) -> bool {
        true
    }

    fn evaluate(&self, position: &Thicket) -> i32 {
        assert!(position.ending().is_none(), "positions that are over have no static value");
        ((position.key >> 32) % 7) as i32 - 3
    }
}
