//! Where a cell ends, the slow way: a plain loop over what came of its games, in number order.

use spelrum_model::CellId;
use spelrum_scheduling::stopping::{Points, Settled};
use spelrum_statistics::{StopRule, Tally};

/// After so many pairs the first opening of a cell comes again, where its players are taken to repeat themselves.
/// Two in three of the larger numbers are such cells, once they have a rule; the number says whether they do
/// ([`moves_hash`]).
pub(crate) fn round_of(cell: CellId) -> Option<u64> {
    let number = cell.0.cast_unsigned();
    (number >= 100 && !number.is_multiple_of(3)).then_some(1 + number % 7 * 4)
}

/// The hash of a game's moves: of players that repeat themselves that of the first game from its opening, and of
/// some others as well but for one game.
pub(crate) fn moves_hash(cell: CellId, number: u64) -> u64 {
    match round_of(cell) {
        Some(pairs) if cell.0 % 2 == 0 => number % (2 * pairs),
        Some(pairs) if number != 2 * pairs + 5 => number % (2 * pairs),
        _ => number + (1 << 40),
    }
}

/// What decides where a cell ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) rule: Option<StopRule>,
    /// In pairs.
    pub(crate) round: Option<u64>,
}

/// Pairs after the first round that tell whether players repeat themselves.
const LOOKS: u64 = 8;

impl Ends {
    /// Of a cell with this rule.
    pub(crate) fn new(cell: CellId, rule: Option<StopRule>) -> Self {
        Self { rule, round: round_of(cell).filter(|_| rule.is_some()) }
    }

    /// Up to where games are handed out, given how far it was read and where it ends.
    pub(crate) fn handed_out(self, (decided, stop): (u64, Option<u64>)) -> Option<u64> {
        let looked =
            self.round.filter(|pairs| decided <= 2 * pairs).map(|pairs| 2 * (pairs + LOOKS));
        stop.or(looked)
    }

    /// How far the pairs are read, and where the cell ends there: decided number and stop number.
    pub(crate) fn decide(self, settled: &[Option<Settled>]) -> (u64, Option<u64>) {
        let Some(rule) = self.rule else { return (0, None) };
        let mut tally = Tally::new(true);
        let mut checkpoint: u64 = 25;
        let mut pairs: u64 = 0;
        for pair in settled.chunks(2) {
            if Some(pairs) == self.round {
                match repeats(settled, pairs) {
                    None => break,
                    Some(true) => return (2 * pairs, Some(2 * pairs)),
                    Some(false) => {}
                }
            }
            let [Some(first), Some(second)] = pair else { break };
            pairs += 1;
            if let (Settled::Played(first, _), Settled::Played(second, _)) = (first, second) {
                tally.add(half_points(*first) + half_points(*second));
            }
            if pairs == checkpoint {
                if rule.is_reached(&tally, None) {
                    return (2 * pairs, Some(2 * pairs));
                }
                let parts = if matches!(rule, StopRule::Sprt(_)) { 100 } else { 10 };
                checkpoint += checkpoint.div_ceil(parts);
            }
        }
        (2 * pairs, None)
    }
}

/// Whether no game of the pairs after so many differs from the one that it may be a repeat of, once they are settled.
fn repeats(settled: &[Option<Settled>], pairs: u64) -> Option<bool> {
    let round = usize::try_from(2 * pairs).unwrap();
    let looked = settled.get(round..round + 2 * usize::try_from(LOOKS).unwrap())?;
    let mut is_repeat = true;
    for (at, game) in looked.iter().enumerate() {
        let before = settled[at % round].expect("it is in the prefix");
        if let (Settled::Played(_, hash), Settled::Played(_, first)) = ((*game)?, before) {
            is_repeat &= hash == first;
        }
    }
    Some(is_repeat)
}

fn half_points(points: Points) -> usize {
    match points {
        Points::Zero => 0,
        Points::Half => 1,
        Points::One => 2,
    }
}
