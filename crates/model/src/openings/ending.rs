//! Openings from the table of a chess ending.

use std::sync::Arc;

use spelrum_engine::games::Chess;
use spelrum_engine::tables::{self, Endgame, EndgameTable, TablePosition, TableValue};
use spelrum_engine::{Random, Rules, Side};

use super::OpeningsError;
use crate::conditions::ToMove;
use crate::seeds;
use crate::seeds::Key;

/// The requested positions of an ending; see [`crate::conditions::OpeningsRule::Ending`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    pub(super) ending: &'a str,
    pub(super) to_move: ToMove,
    pub(super) distance: Option<[u32; 2]>,
    pub(super) stratified: bool,
}

/// The positions that white wins, each once up to symmetry, as indices of the table in playing order. The openings key
/// shuffles each stratum, the nearest first; the first index of a position stands for it, and is turned or mirrored by
/// a symmetry that follows from the key and the index.
///
/// A round takes one position of each stratum that has any left, in the order of distances; without strata all
/// positions are in one.
#[derive(Debug)]
pub(super) struct Ending {
    table: Arc<EndgameTable>,
    key: Key,
    /// At least one; none is empty.
    strata: Vec<Vec<u32>>,
    count: u64,
}

impl Ending {
    pub(super) fn new(rules: &Rules, wanted: Wanted<'_>, key: Key) -> Result<Self, OpeningsError> {
        if *rules != Chess::rules() {
            return Err(OpeningsError::NotChess);
        }
        let endgame: Endgame = wanted.ending.parse().map_err(OpeningsError::Ending)?;
        let table = tables::shared(&endgame);
        let mut strata: Vec<Vec<u32>> = Vec::new();
        for place in 0..table.len() {
            let Some(moves) =
                table.position(place).and_then(|position| moves_to_mate(&position, wanted))
            else {
                continue;
            };
            if table.first_place(place) != place {
                continue;
            }
            let stratum = if wanted.stratified { moves as usize } else { 0 };
            if strata.len() <= stratum {
                strata.resize(stratum + 1, Vec::new());
            }
            strata[stratum].push(u32::try_from(place).expect("a table of four pieces is smaller"));
        }
        strata.retain(|stratum| !stratum.is_empty());
        if strata.is_empty() {
            return Err(OpeningsError::NoWin {
                ending: endgame.name().to_owned(),
                to_move: wanted.to_move,
                distance: wanted.distance,
            });
        }
        let mut random = Random::from_key(key);
        strata.iter_mut().for_each(|stratum| random.shuffle(stratum));
        let count = strata.iter().map(|stratum| stratum.len() as u64).sum();
        Ok(Self { table, key, strata, count })
    }

    /// The number of openings before they repeat.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The cost of finding and holding them, as [`super::Openings::cost`] counts.
    pub(super) fn cost(&self) -> u64 {
        /// Table entries examined in the time of a move.
        const PLACES_OF_A_MOVE: u64 = 4;
        self.count + self.table.len() as u64 / PLACES_OF_A_MOVE
    }

    /// The opening with this number, in chess notation.
    pub(super) fn opening(&self, number: u64) -> Arc<str> {
        let (place, position) = self.position(number);
        let turn = seeds::opening_turn(&self.key, u64::from(place));
        Arc::from(self.table.turned_fen(&position, turn))
    }

    /// Plies to mate from the opening with this number.
    pub(super) fn plies_to_mate(&self, number: u64) -> Option<u32> {
        self.position(number).1.value.plies()
    }

    fn position(&self, number: u64) -> (u32, TablePosition) {
        let place = self.place(number % self.count);
        (place, self.table.position(place as usize).expect("only places with a position are kept"))
    }

    /// The index of the position with this number, which is below their count.
    fn place(&self, number: u64) -> u32 {
        let mut left = number;
        let mut rounds_before = 0;
        loop {
            // Rounds are alike until a stratum is exhausted.
            let open = || self.strata.iter().filter(|stratum| stratum.len() > rounds_before);
            let strata = open().count() as u64;
            let used_up = open().map(Vec::len).min().expect("less than the count is left");
            let alike = (used_up - rounds_before) as u64 * strata;
            if left < alike {
                let round = rounds_before + (left / strata) as usize;
                let stratum = open().nth((left % strata) as usize).expect("less than their number");
                return stratum[round];
            }
            left -= alike;
            rounds_before = used_up;
        }
    }
}

/// White's moves until mate, if the position is wanted.
fn moves_to_mate(position: &TablePosition, wanted: Wanted<'_>) -> Option<u32> {
    let moves = match (wanted.to_move, position.to_move(), position.value) {
        (ToMove::White, Side::First, TableValue::Win { plies }) => plies.div_ceil(2),
        // A position already mated, with no plies, cannot be played on.
        (ToMove::Black, Side::Second, TableValue::Loss { plies }) if plies > 0 => plies / 2,
        _ => return None,
    };
    let is_wanted = wanted.distance.is_none_or(|[from, to]| (from..=to).contains(&moves));
    is_wanted.then_some(moves)
}
