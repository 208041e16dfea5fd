//! An invented game in which positions recur.

use std::fmt;

use spelrum_engine::search::Evaluate;
use spelrum_engine::{
    Before, Ending, Knowledge, Line, Position, Problem, Side, SideName, Termination,
    TerminationInfo,
};

use super::skirmish::mixed;

/// A counter that is moved along the arrows of a made-up map, with stairs that lead up only. The game
/// ends on some cells, at the top, and when a position appears for the `last`th time: drawn, or on
/// some maps won by the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Walk {
    cell: u8,
    level: u8,
    to_move: Side,
    map: Map,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Map {
    pub(crate) seed: u64,
    pub(crate) cells: u8,
    pub(crate) levels: u8,
    /// Which appearance of a position ends the game.
    pub(crate) last: u8,
}

const REPETITION: Termination =
    Termination::new(&TerminationInfo { name: "repetition", words: "the same position again" });

impl Walk {
    /// The start on the first map from this one on where there is something to choose.
    pub(crate) fn on(map: Map) -> Self {
        (map.seed..)
            .map(|seed| Self { cell: 0, level: 0, to_move: Side::First, map: Map { seed, ..map } })
            .find(|start| start.legal_move_count() >= 2)
            .unwrap()
    }

    /// The same position where another appearance ends the game.
    pub(crate) fn waiting_for(self, last: u8) -> Self {
        Self { map: Map { last, ..self.map }, ..self }
    }

    /// Something about the position, below a bound.
    fn part(&self, index: u64, bound: u64) -> u64 {
        mixed(mixed(self.map.seed) ^ self.canonical_key() << 8 ^ index) % bound
    }

    /// Where a move leads.
    fn target(&self, mv: u8) -> u64 {
        self.part(16 + u64::from(mv), 1 << 16)
    }
}

impl Position for Walk {
    type Move = u8;

    const SIDES: [SideName; 2] =
        [SideName { word: "first", letter: 'f' }, SideName { word: "second", letter: 's' }];

    const HISTORY_MATTERS: bool = true;

    fn to_move(&self) -> Side {
        self.to_move
    }

    fn ending(&self) -> Option<Ending> {
        let winners = [None, Some(Side::First), Some(Side::Second)];
        let ending = Ending {
            winner: winners[self.part(0, 3) as usize],
            termination: Termination::FULL_BOARD,
        };
        (self.level == self.map.levels || self.part(1, 9) == 0).then_some(ending)
    }

    fn legal_moves(&self, moves: &mut Vec<u8>) {
        moves.extend(0..self.legal_move_count() as u8);
    }

    fn legal_move_count(&self) -> u32 {
        if self.is_over() { 0 } else { 1 + self.part(2, 3) as u32 }
    }

    fn nth_legal_move(&self, index: u32) -> u8 {
        index as u8
    }

    fn is_legal(&self, mv: u8) -> bool {
        u32::from(mv) < self.legal_move_count()
    }

    fn play_unchecked(&mut self, mv: u8) {
        let target = self.target(mv);
        let is_up = self.is_irreversible(mv);
        self.cell = (target % u64::from(self.map.cells)) as u8;
        self.level += u8::from(is_up);
        if !(target >> 12).is_multiple_of(5) {
            self.to_move = self.to_move.other();
        }
    }

    fn canonical_key(&self) -> u64 {
        u64::from(self.cell) << 8 | u64::from(self.level) << 1 | self.to_move.index() as u64
    }

    fn adjudicate(line: Line<'_, Self>) -> Option<Ending> {
        let Line { position, before } = line;
        let key = position.canonical_key();
        let earlier = before.iter().filter(|before| before.key == key).count();
        let winner = position.map.seed.is_multiple_of(4).then_some(position.to_move);
        (earlier + 1 >= usize::from(position.map.last))
            .then_some(Ending { winner, termination: REPETITION })
    }

    fn board(&self) -> String {
        self.to_string()
    }

    fn parse_move(&self, text: &str) -> Result<u8, Problem> {
        let error = |_| Problem::new(text.to_owned(), "a number");
        text.parse().map_err(error)
    }
}

impl fmt::Display for Walk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cell {} on level {}, {} to move", self.cell, self.level, self.to_move.index())
    }
}

impl Knowledge for Walk {
    const MOVE_CODES: usize = 256;

    type Orientation = ();

    fn move_code(mv: u8) -> u16 {
        u16::from(mv)
    }

    fn table_key(&self) -> u64 {
        self.canonical_key()
    }

    fn plies_left(&self) -> u32 {
        10_000
    }

    fn is_irreversible(&self, mv: u8) -> bool {
        (self.target(mv) >> 8).is_multiple_of(6)
    }
}

/// Few values, so that many tie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hunch;

impl Evaluate<Walk> for Hunch {
    fn evaluate(&self, position: &Walk) -> i32 {
        position.part(3, 7) as i32 - 3
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

/// A position and what came before it.
pub(crate) type Played = (Walk, Vec<Before<u8>>);

/// So many plies of a game, fewer if it would end. The moves are drawn from a seed.
pub(crate) fn played(start: Walk, plies: u32, seed: u64) -> Played {
    let (mut position, mut before) = (start, Vec::new());
    for ply in 0..plies {
        let drawn = mixed(seed ^ u64::from(ply) << 32) % u64::from(position.legal_move_count());
        let mv = position.nth_legal_move(drawn as u32);
        let mut next = position;
        next.play_unchecked(mv);
        let longer = [before.as_slice(), &[Before { mv, key: position.canonical_key() }]].concat();
        let line = Line { position: &next, before: &longer };
        if next.legal_move_count() < 2 || Walk::adjudicate(line).is_some() {
            break;
        }
        (position, before) = (next, longer);
    }
    (position, before)
}
