//! A verification: a settled game replayed by a worker other than the one that played it, for comparison with the
//! stored record. The replaying worker receives the points where searches end, but not their results.

use serde::{Deserialize, Serialize};
use spelrum_engine::{
    EndedBy, GameRecord, Host, Irregularity, MoveRecord, PlayError, Random, Termination,
};

use crate::definition::{CellDefinition, DefinitionHash};
use crate::difference::Difference;
use crate::game::{DefinitionError, DerivedGame, PlayableCell};
use crate::ids::{CellId, GameId};
use crate::openings::OpeningsCache;
use crate::played::PlayedGame;
use crate::seeds;

/// The longest game, in plies, plus one ply.
const STOPS_MAX: usize = 100_001;

/// The greatest game number and node count: 2^53 - 1, which is exact in JSON.
const NUMBER_MAX: u64 = (1 << 53) - 1;

/// The definition of a verification: a cell's definition, a game's number, and the ends of its searches.
#[derive(Clone, Debug, PartialEq)]
pub struct VerificationDefinition {
    /// The cell of the verified game.
    pub cell: CellDefinition,
    /// The game's number in the cell.
    pub number: u64,
    /// The node count at which each ply's search ends ([`stops`]). Empty if moves are not recorded: then only the
    /// players' limits end searches.
    pub stops: Vec<u64>,
    /// The number of earlier verifications of the game: each one is a distinct verification.
    pub ordered_before: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    format: u32,
    verification: (CellDefinition, u64, Vec<u64>, u32),
}

impl VerificationDefinition {
    /// The only version of the form so far.
    pub const FORMAT: u32 = 1;

    /// The beginning of the canonical JSON, up to the cell's definition.
    pub const JSON_PREFIX: &'static str = r#"{"format":1,"verification":["#;

    /// Whether a definition is one of a verification, judged by its beginning.
    #[must_use]
    pub fn is_verification(json: &str) -> bool {
        json.starts_with(Self::JSON_PREFIX)
    }

    /// Parses a definition.
    ///
    /// # Errors
    /// If the text is not a definition, or a number in it is too large.
    pub fn from_json(json: &str) -> Result<Self, DefinitionError> {
        let wrong = |problem: String| Err(DefinitionError(problem));
        let Form { format, verification: (cell, number, stops, ordered_before) } =
            serde_json::from_str(json).map_err(|error| DefinitionError(error.to_string()))?;
        if format != Self::FORMAT {
            let problem = format!("it has format {format}, this program reads {}", Self::FORMAT);
            return wrong(problem);
        }
        if number > NUMBER_MAX {
            return wrong(format!("it is of the game with number {number}"));
        }
        if stops.len() > STOPS_MAX {
            return wrong(format!("it has the node counts of {} plies", stops.len()));
        }
        Ok(Self { cell, number, stops, ordered_before })
    }

    /// The canonical JSON of a verification whose cell has this canonical JSON.
    #[must_use]
    pub fn json_of(cell_json: &str, number: u64, stops: &[u64], ordered_before: u32) -> String {
        let stops = seeds::canonical_json(&stops);
        format!("{}{cell_json},{number},{stops},{ordered_before}]}}", Self::JSON_PREFIX)
    }

    /// The canonical JSON.
    #[must_use]
    pub fn canonical_json(&self) -> String {
        Self::json_of(&self.cell.canonical_json(), self.number, &self.stops, self.ordered_before)
    }

    /// The hash that names the verification.
    #[must_use]
    pub fn hash(&self) -> DefinitionHash {
        DefinitionHash::from_json(&self.canonical_json())
    }
}

/// A verification ready to be played.
#[derive(Debug)]
pub struct PlayableVerification {
    /// The cell of the game.
    pub cell: PlayableCell,
    /// The game's number in the cell.
    pub number: u64,
    /// See [`VerificationDefinition::stops`].
    pub stops: Vec<u64>,
}

impl PlayableVerification {
    /// Parses a definition, sharing its openings with other cells that have the same.
    ///
    /// # Errors
    /// If the text is not a definition, or this engine cannot play its cell; cells with external engines are not
    /// verified.
    pub fn from_json(json: &str, openings: &OpeningsCache) -> Result<Self, DefinitionError> {
        let VerificationDefinition { cell, number, stops, ordered_before: _ } =
            VerificationDefinition::from_json(json)?;
        let cell = PlayableCell::with_cache(cell, openings)?;
        if cell.has_engines() {
            let problem = "external engines play in it, whose games are not played again";
            return Err(DefinitionError(problem.to_owned()));
        }
        Ok(Self { cell, number, stops })
    }

    /// Plays the game, with node counts instead of a clock (invariant 3). A game that goes on beyond the recorded one
    /// already differs: its remaining searches get one node each, so that it ends.
    ///
    /// # Errors
    /// See [`PlayableCell::play`].
    pub fn play(&self, host: &dyn Host) -> Result<(DerivedGame, GameRecord), PlayError> {
        self.cell.play(self.number, replayed_stops(&self.stops).as_deref(), host)
    }
}

/// A played verification, as reported and then judged.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedVerification {
    /// The record, under the task's id: number 0 of the verification's cell.
    pub played: PlayedGame,
    /// The difference from the verified game, once compared.
    pub difference: Option<Difference>,
}

impl PlayableVerification {
    /// Checks that a record can belong to the verification: it follows the rules of the game, names only built-in
    /// players and has no other content.
    ///
    /// # Errors
    /// The first problem.
    pub fn referee(&self, played: &PlayedGame) -> Result<(), Irregularity> {
        let wrong = |problem: &str| Err(Irregularity::new(problem));
        if played.game.number != 0 {
            return wrong("a verification is the task with number 0");
        }
        if played.record.moves_hash() != played.moves_hash {
            return wrong("its moves_hash is not that of its moves");
        }
        if !played.values.is_empty() {
            return wrong("it is a verification, and has values of moves");
        }
        self.cell.referee(self.number, &played.opening, &played.record)?;
        self.cell.referee_numbers(self.number, &played.record)?;
        let (end, forfeit) =
            ((played.record.termination, played.record.outcome), played.forfeit.as_ref());
        self.cell.referee_engines(self.number, &played.engines, end, forfeit)
    }
}

/// The ends of a replayed game's searches: where the clock ended the recorded one, and otherwise one node further than
/// the recorded search went, which bounds a search that goes astray and does not affect any other. The same holds for
/// the extra ply that such a game may have, which comes last: 0 if time ended the game there.
#[must_use]
pub fn stops(moves: &[MoveRecord], termination: Termination) -> Vec<u64> {
    let stop = |record: &MoveRecord| match record.search.ended_by {
        EndedBy::Time => record.search.nodes,
        EndedBy::Depth
        | EndedBy::Nodes
        | EndedBy::Evaluations
        | EndedBy::Generations
        | EndedBy::Simulations
        | EndedBy::Proven
        | EndedBy::OnlyMove => record.search.nodes.saturating_add(1),
    };
    let last = if termination == Termination::TIME_FORFEIT { LOST_ON_TIME } else { 1 };
    moves.iter().map(stop).chain([last]).collect()
}

/// The last of a game's [`stops`] if a player lost on time at this ply.
const LOST_ON_TIME: u64 = 0;

/// A game's [`stops`] as a replay needs them (invariant 3): the searches after the recorded game get one node each, so
/// that a game that goes astray ends. `None`: there are none.
#[must_use]
pub fn replayed_stops(stops: &[u64]) -> Option<Vec<Option<u64>>> {
    let (last, recorded) = stops.split_last()?;
    let mut replayed: Vec<Option<u64>> = recorded.iter().copied().map(Some).collect();
    if *last != LOST_ON_TIME {
        replayed.resize(STOPS_MAX, Some(1));
    }
    Some(replayed)
}

/// Draws this many different games of these cells, each given with its number of games, in the order of cells and
/// numbers; all of them if there are no more. The seed determines the sample.
#[must_use]
pub fn draw(cells: &[(CellId, u64)], games: u64, seed: u64) -> Vec<GameId> {
    let planned = cells.iter().fold(0_u64, |sum, (_, games)| sum.saturating_add(*games));
    let mut random = Random::from_key(seeds::verification_key(seed));
    let mut places = std::collections::BTreeSet::new();
    // Floyd's algorithm (Bentley & Floyd 1987, "A sample of brilliance"): each set is equally likely.
    for last in planned.saturating_sub(games)..planned {
        let place = below(&mut random, last.saturating_add(1));
        if !places.insert(place) {
            places.insert(last);
        }
    }
    let mut cells = cells.iter();
    let (mut cell, mut before) = (cells.next(), 0);
    let of_place = |place: u64| loop {
        let &(id, games) = cell?;
        if place - before < games {
            return Some(GameId { cell: id, number: place - before });
        }
        before += games;
        cell = cells.next();
    };
    places.into_iter().filter_map(of_place).collect()
}

/// A uniform number below a bound that is not 0, but for less than one in 2^64.
fn below(random: &mut Random, bound: u64) -> u64 {
    let word = random.seed();
    u64::try_from((u128::from(word) * u128::from(bound)) >> 64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition() -> VerificationDefinition {
        let cell = crate::game::tests::definition();
        VerificationDefinition { cell, number: 7, stops: vec![3, 900, 1], ordered_before: 0 }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let written = definition();
        let json = written.canonical_json();
        assert!(VerificationDefinition::is_verification(&json));
        let read = VerificationDefinition::from_json(&json).unwrap();
        assert_eq!((&read, read.hash()), (&written, written.hash()));
        let other = VerificationDefinition { number: 8, ..definition() };
        let again = VerificationDefinition { ordered_before: 1, ..definition() };
        assert!(other.hash() != written.hash() && again.hash() != written.hash());
        let error = |json: &str| VerificationDefinition::from_json(json).unwrap_err().to_string();
        assert!(error(&json.replacen(":1,", ":2,", 1)).contains("format 2"));
        assert!(error(&json.replace(",7,[", ",9007199254740992,[")).contains("number"));
        let long = VerificationDefinition { stops: vec![1; STOPS_MAX + 1], ..definition() };
        assert!(error(&long.canonical_json()).contains("100002 plies"));
        assert!(error("{}").contains("format"));
    }

    #[test]
    fn a_sample_has_different_games_of_the_plan() {
        let cells = [(CellId(3), 5), (CellId(4), 0), (CellId(9), 2)];
        let all: Vec<GameId> = draw(&cells, 7, 1);
        let numbers =
            |cell, games: u64| (0..games).map(move |number| GameId { cell: CellId(cell), number });
        assert_eq!(all, numbers(3, 5).chain(numbers(9, 2)).collect::<Vec<_>>());
        assert_eq!(draw(&cells, 100, 2), all, "there are no more");
        let some = draw(&cells, 3, 1);
        assert!(some.len() == 3 && some.is_sorted() && some.iter().all(|game| all.contains(game)));
        assert_eq!(draw(&cells, 3, 1), some);
        assert!((2..20).any(|seed| draw(&cells, 3, seed) != some));
        assert_eq!(draw(&[], 3, 1), []);
        // Every game is drawn by some seed, about equally often.
        let mut drawn = [0; 7];
        for seed in 0..700 {
            for game in draw(&cells, 3, seed) {
                drawn[all.iter().position(|drawn_game| *drawn_game == game).unwrap()] += 1;
            }
        }
        assert!(drawn.iter().all(|&times| (240..360).contains(&times)), "{drawn:?}");
    }
}
