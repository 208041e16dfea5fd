//! From (cell, number) to a game, on whichever worker asks.

use std::ops::ControlFlow;
use std::sync::Arc;

use spelrum_engine::tables::TableValue;
use spelrum_engine::{
    Board, GameRecord, GameSetup, Host, Irregularity, MoveValue, MoveValuesError, Outcome,
    OutsidePlayer, Participant, PlayError, Player, Termination, Value, Watch, check_reference,
    legal_moves, move_values, play_between, play_watched, referee,
};

use crate::bounds::check_record;
use crate::definition::{CellDefinition, Task};
use crate::engines::{EngineIdentity, Forfeit, NeededEngine};
use crate::openings::{KnownValues, Openings, OpeningsCache};
use crate::seeds;

/// A cell ready to be played: players parsed, openings at hand. Shared by a worker's slots.
#[derive(Debug)]
pub struct PlayableCell {
    definition: Arc<CellDefinition>,
    cell_seed: u64,
    players: [Player; 2],
    openings: Arc<Openings>,
    /// Of choices: what moves turned out to be worth, in any cell with these positions and this reference.
    known: Arc<KnownValues>,
}

/// A definition that this engine cannot play.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to read the cell's definition: {0}")]
pub struct DefinitionError(pub String);

/// One game of a cell, derived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedGame {
    /// The position it starts from, in the game's notation.
    pub opening: Arc<str>,
    /// Whether the cell's first player moves first: in even numbers, or always if sides are fixed.
    pub first_player_moves_first: bool,
    /// The ChaCha8 keys of who moves first and of the other.
    pub keys: [[u8; 32]; 2],
}

impl PlayableCell {
    /// Reads a definition.
    ///
    /// # Errors
    /// If a player's parameters or an opening are not of this engine.
    pub fn new(definition: CellDefinition) -> Result<Self, DefinitionError> {
        Self::with_cache(definition, &OpeningsCache::default())
    }

    /// Reads a definition in JSON, sharing its openings with the other cells that have the same.
    ///
    /// # Errors
    /// If the text is not a definition, or as [`PlayableCell::new`].
    pub fn from_json(json: &str, openings: &OpeningsCache) -> Result<Self, DefinitionError> {
        let definition =
            serde_json::from_str(json).map_err(|error| DefinitionError(error.to_string()))?;
        Self::with_cache(definition, openings)
    }

    /// Reads a definition, sharing its openings with the other cells that have the same.
    ///
    /// # Errors
    /// As [`PlayableCell::new`].
    pub fn with_cache(
        definition: CellDefinition,
        openings: &OpeningsCache,
    ) -> Result<Self, DefinitionError> {
        if definition.format != CellDefinition::FORMAT {
            return Err(DefinitionError(format!(
                "it has format {}, this program reads format {}",
                definition.format,
                CellDefinition::FORMAT
            )));
        }
        let player = |index: usize| {
            Player::from_parameters(&definition.rules, &definition.players[index])
                .map_err(|error| DefinitionError(format!("player {}: {error}", index + 1)))
        };
        let players = [player(0)?, player(1)?];
        if definition.task == Task::Choice {
            check_choice(&definition, &players[1])?;
        }
        let known = openings.known_values(&definition);
        let openings = openings
            .get(definition.seed, &definition.rules, &definition.openings)
            .map_err(|error| DefinitionError(error.to_string()))?;
        let cell_seed = definition.cell_seed();
        Ok(Self { definition: Arc::new(definition), cell_seed, players, openings, known })
    }

    /// The definition.
    #[must_use]
    pub fn definition(&self) -> &CellDefinition {
        &self.definition
    }

    /// After how many openings the first comes again: see [`Openings::count`].
    #[must_use]
    pub fn openings_count(&self) -> Option<u64> {
        self.openings.count()
    }

    /// Plies to mate from where the game with this number starts: see [`Openings::plies_to_mate`].
    #[must_use]
    pub fn plies_to_mate(&self, number: u64) -> Option<u32> {
        self.openings.plies_to_mate(self.opening_number(number))
    }

    /// The number of the opening that a game starts from: its pair's, or its own where sides are fixed.
    fn opening_number(&self, number: u64) -> u64 {
        if self.definition.swap_sides { number / 2 } else { number }
    }

    /// The same cell, whose players have so many thousandths of their time. Nothing else is changed by it: a game
    /// without a time limit is the same.
    #[must_use]
    pub fn with_time_factor(&self, permille: u32) -> Self {
        let Self { definition, cell_seed, players, openings, known } = self;
        Self {
            definition: Arc::clone(definition),
            cell_seed: *cell_seed,
            players: players.each_ref().map(|player| player.with_time_factor(permille)),
            openings: Arc::clone(openings),
            known: Arc::clone(known),
        }
    }

    /// Whether a time limit bounds a player's moves, so that playing a game again takes its recorded
    /// node counts (invariant 3).
    #[must_use]
    pub fn has_time_limit(&self) -> bool {
        self.players.iter().any(Player::is_timed)
    }

    /// Whether every result of a game must be the same: no clock decides its moves, and no program of
    /// others does that is not said to play the same again (invariant 2).
    #[must_use]
    pub fn is_deterministic(&self) -> bool {
        self.players.iter().all(Player::is_deterministic)
    }

    /// Who plays the game with this number: who moves first, and the other.
    #[must_use]
    pub fn players_of(&self, game: &DerivedGame) -> [&Player; 2] {
        let [first, second] = &self.players;
        if game.first_player_moves_first { [first, second] } else { [second, first] }
    }

    /// Whether a player is a program of others: its games are played by
    /// [`PlayableCell::play_with`] alone.
    #[must_use]
    pub fn has_engines(&self) -> bool {
        self.players.iter().any(|player| player.outside().is_some())
    }

    /// Derives the game with this number (invariant 1): its opening from its pair, who moves
    /// first from its parity, the keys from the cell's seed. Where sides are fixed, its opening from
    /// its number.
    #[must_use]
    pub fn derive(&self, number: u64) -> DerivedGame {
        let swaps = self.definition.swap_sides;
        DerivedGame {
            opening: self.openings.opening(self.opening_number(number)),
            first_player_moves_first: !swaps || number.is_multiple_of(2),
            keys: [0, 1].map(|side| seeds::player_key(self.cell_seed, number, side)),
        }
    }

    /// Whether a record is one of the game with this number, by the rules alone: its opening is the one
    /// that is derived, and all that follows from its moves is as the record has it
    /// ([`spelrum_engine::referee`]). Only a program of others can forfeit a game.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn referee(
        &self,
        number: u64,
        opening: &str,
        record: &GameRecord,
    ) -> Result<(), Irregularity> {
        let game = self.derive(number);
        if *game.opening != *opening {
            return Err(Irregularity::new(format!(
                "the opening of game {number} is `{}`, not `{opening}`",
                game.opening
            )));
        }
        self.referee_loser(number, record.termination, record.outcome)?;
        let board = Board {
            rules: &self.definition.rules,
            opening,
            max_plies: self.definition.max_plies,
            adjudication: self.definition.adjudication,
        };
        referee(&board, record)
    }

    /// Whether the times and searches of a record can be those of the game with this number: see [`check_record`].
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn referee_numbers(&self, number: u64, record: &GameRecord) -> Result<(), Irregularity> {
        check_record(record, self.players_of(&self.derive(number)))
    }

    /// Whether the game with this number can end like this, whatever was moved: only a program of others can
    /// lose it by a fault.
    ///
    /// # Errors
    /// If its loser is one of our players.
    pub fn referee_loser(
        &self,
        number: u64,
        termination: Termination,
        outcome: Outcome,
    ) -> Result<(), Irregularity> {
        let loser = usize::from(outcome == Outcome::Win);
        let game = self.derive(number);
        if termination.is_forfeit() && self.players_of(&game)[loser].outside().is_none() {
            let word = termination.name();
            return Err(Irregularity::new(format!("its loser cannot lose by {word}")));
        }
        Ok(())
    }

    /// Whether the game with this number can have been played by these programs of others, and lost like
    /// this: each side whose player is one has one, which is what its sweep demands, and a forfeit is told of
    /// exactly where a fault ended the game.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn referee_engines(
        &self,
        number: u64,
        engines: &[Option<EngineIdentity>; 2],
        termination: Termination,
        forfeit: Option<&Forfeit>,
    ) -> Result<(), Irregularity> {
        let wrong = |problem: String| Err(Irregularity::new(problem));
        let game = self.derive(number);
        for (side, (player, engine)) in self.players_of(&game).into_iter().zip(engines).enumerate()
        {
            match (player.outside(), engine) {
                (None, None) => {}
                (None, Some(_)) => {
                    return wrong(format!(
                        "side {side} is not a program of others, and one is told of"
                    ));
                }
                (Some(rules), None) => {
                    let engine = &rules.engine;
                    return wrong(format!("it is not told which program was `{engine}`"));
                }
                (Some(rules), Some(identity)) => {
                    let needed = NeededEngine::of(rules);
                    if !needed.admits(identity) {
                        let (name, hash) = (&identity.name, identity.sha256_short());
                        return wrong(format!("{name:?} ({hash}…) is not {needed}"));
                    }
                }
            }
        }
        match (termination.is_forfeit(), forfeit) {
            (true, None) => wrong(format!("it is not told how it ended by {}", termination.name())),
            (false, Some(_)) => {
                wrong("a forfeit is told of, and nobody lost by a fault".to_owned())
            }
            (true, Some(_)) | (false, None) => Ok(()),
        }
    }

    /// Of a choice, what each legal move of its position is worth by the reference, in canonical order; of a
    /// game, nothing. What was found before for another cell is not searched for again.
    ///
    /// # Errors
    /// As [`spelrum_engine::move_values`].
    pub fn values(
        &self,
        opening: &str,
        host: &dyn Host,
    ) -> Result<Vec<MoveValue>, MoveValuesError> {
        if self.definition.task == Task::Game {
            return Ok(Vec::new());
        }
        let rules = &self.definition.rules;
        if let Some(values) = self.known.of(opening) {
            let moves = legal_moves(rules, opening)?;
            return Ok(moves.into_iter().zip(values.iter()).map(named).collect());
        }
        let [_, reference] = &self.players;
        let moves = move_values(rules, opening, reference, host)?.moves;
        self.known.keep(opening, moves.iter().map(|it| it.value).collect());
        Ok(moves)
    }

    /// Whether values are those of the moves of a position: one for each legal move, in canonical order, and
    /// in bounds. Those of a game are none. What a move is worth has no other witness than the reference.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn referee_values(&self, opening: &str, values: &[MoveValue]) -> Result<(), Irregularity> {
        if self.definition.task == Task::Game {
            return match values {
                [] => Ok(()),
                [..] => Err(Irregularity::new("it is a game, and has values of moves".to_owned())),
            };
        }
        let moves = legal_moves(&self.definition.rules, opening)
            .map_err(|error| Irregularity::new(error.to_string()))?;
        if moves.len() != values.len() {
            let (there, told) = (moves.len(), values.len());
            let problem = format!("its position has {there} legal moves, and {told} have values");
            return Err(Irregularity::new(problem));
        }
        let [_, reference] = &self.definition.players;
        let most = match reference.get("algorithm") {
            Some(Value::Text(algorithm)) if algorithm == "exact" => 1,
            Some(Value::Text(algorithm)) if algorithm == "table" => {
                u64::from(TableValue::SCALE.unsigned_abs())
            }
            Some(_) | None => u64::from(u32::MAX / 2 + 1),
        };
        if let Some(MoveValue { mv, value }) =
            values.iter().find(|told| told.value.unsigned_abs() > most)
        {
            let problem =
                format!("no reference like this one values a move like `{mv}` at {value}");
            return Err(Irregularity::new(problem));
        }
        match moves.iter().zip(values).find(|(mv, told)| **mv != told.mv) {
            None => Ok(()),
            Some((mv, told)) => Err(Irregularity::new(format!(
                "it has a value of `{}` where the move `{mv}` stands",
                told.mv
            ))),
        }
    }

    /// Plays the game with this number. With `stops`, replays a timed game by its recorded node
    /// counts instead of the clock (invariant 3).
    ///
    /// # Errors
    /// As [`spelrum_engine::play_game`].
    pub fn play(
        &self,
        number: u64,
        stops: Option<&[Option<u64>]>,
        host: &dyn Host,
    ) -> Result<(DerivedGame, GameRecord), PlayError> {
        self.play_watched(number, stops, host, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`PlayableCell::play`], with somebody who is told of each move and may end the game.
    ///
    /// # Errors
    /// As [`spelrum_engine::play_watched`].
    pub fn play_watched(
        &self,
        number: u64,
        stops: Option<&[Option<u64>]>,
        host: &dyn Host,
        watch: Watch<'_>,
    ) -> Result<(DerivedGame, GameRecord), PlayError> {
        let game = self.derive(number);
        let setup = GameSetup {
            rules: &self.definition.rules,
            opening: &game.opening,
            players: self.players_of(&game),
            keys: game.keys,
            max_plies: self.definition.max_plies,
            adjudication: self.definition.adjudication,
            stops,
        };
        let record = play_watched(&setup, host, watch)?;
        Ok((game, record))
    }

    /// Plays a game of this cell in which programs of others take part: who moves first, and the other,
    /// where that side is one.
    ///
    /// # Errors
    /// As [`spelrum_engine::play_between`], or if a side's program is not here.
    pub fn play_with(
        &self,
        game: &DerivedGame,
        outside: [Option<&mut dyn OutsidePlayer>; 2],
        host: &dyn Host,
    ) -> Result<GameRecord, PlayError> {
        let board = Board {
            rules: &self.definition.rules,
            opening: &game.opening,
            max_plies: self.definition.max_plies,
            adjudication: self.definition.adjudication,
        };
        let sides = self.players_of(game).into_iter().zip(game.keys).zip(outside);
        let mut participants = sides.map(|((player, key), outside)| match outside {
            Some(outside) => Participant::Outside(outside),
            None => Participant::Player { player, key },
        });
        let (Some(first), Some(second)) = (participants.next(), participants.next()) else {
            unreachable!("a game has two sides");
        };
        play_between(&board, [first, second], host, &mut |_| ControlFlow::Continue(()))
    }
}

/// What a definition of choices must say.
fn check_choice(definition: &CellDefinition, reference: &Player) -> Result<(), DefinitionError> {
    let has_more = definition.swap_sides || definition.adjudication.is_some();
    if has_more || definition.max_plies != Some(1) {
        let problem = "a cell of choices has fixed sides, and ends after a ply by nothing else";
        return Err(DefinitionError(problem.to_owned()));
    }
    check_reference(reference).map_err(|error| DefinitionError(format!("the reference: {error}")))
}

fn named((mv, &value): (String, &i64)) -> MoveValue {
    MoveValue { mv, value }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::num::NonZeroU32;

    use spelrum_engine::games::TicTacToe;
    use spelrum_engine::{Adjudication, DrawRule, Parameters, Termination, Timeless};

    use super::*;
    use crate::definition::OpeningsRule;

    fn random_player() -> Arc<Parameters> {
        Arc::new(Parameters::from([("algorithm".to_owned(), Value::Text("random".to_owned()))]))
    }

    pub(crate) fn definition() -> CellDefinition {
        CellDefinition {
            format: CellDefinition::FORMAT,
            seed: 2014,
            rules: TicTacToe::rules(),
            openings: OpeningsRule::Random { plies: 2 },
            max_plies: None,
            adjudication: None,
            swap_sides: true,
            task: Task::Game,
            players: [random_player(), random_player()],
        }
    }

    #[test]
    fn a_pair_shares_its_opening_and_swaps_colours() {
        let cell = PlayableCell::new(definition()).unwrap();
        for pair in 0..30 {
            let (even, odd) = (cell.derive(2 * pair), cell.derive(2 * pair + 1));
            assert_eq!(even.opening, odd.opening);
            assert!(even.first_player_moves_first && !odd.first_player_moves_first);
            let mut keys = [even.keys, odd.keys].concat();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), 4, "no two sides of a pair share their random numbers");
        }
    }

    #[test]
    fn fixed_sides_play_each_opening_once() {
        let openings = OpeningsRule::Random { plies: 2 };
        let swapped = PlayableCell::new(definition()).unwrap();
        let fixed = CellDefinition { swap_sides: false, openings, ..definition() };
        let fixed = PlayableCell::new(fixed).unwrap();
        for number in 0..30 {
            let game = fixed.derive(number);
            assert!(game.first_player_moves_first);
            // The openings themselves are the same.
            assert_eq!(game.opening, swapped.derive(2 * number).opening);
        }
    }

    /// Invariant 1: a game is a function of definition and number, whoever plays it when.
    #[test]
    fn a_game_is_a_function_of_definition_and_number() {
        let cell = PlayableCell::new(definition()).unwrap();
        let games = |numbers: &mut dyn Iterator<Item = u64>| {
            numbers.map(|number| (number, play(&cell, number))).collect::<Vec<_>>()
        };
        let forwards = games(&mut (0..40));
        let mut backwards = games(&mut (0..40).rev());
        backwards.reverse();
        assert_eq!(forwards, backwards);

        let json = cell.definition().canonical_json();
        let elsewhere = PlayableCell::new(serde_json::from_str(&json).unwrap()).unwrap();
        assert!(forwards.iter().all(|(number, game)| &play(&elsewhere, *number) == game));

        let other_seed = PlayableCell::new(CellDefinition { seed: 2015, ..definition() }).unwrap();
        assert!(forwards.iter().any(|(number, game)| &play(&other_seed, *number) != game));
    }

    #[test]
    fn time_factors_change_nothing_but_times() {
        let bounded = |more: &[(&str, Value)]| {
            let own = [("algorithm", Value::Text("alpha-beta".to_owned()))];
            let all = own.iter().chain(more).cloned();
            Arc::new(all.map(|(key, value)| (key.to_owned(), value)).collect::<Parameters>())
        };
        let nodes = bounded(&[("nodes", Value::Integer(60)), ("iterative", Value::Bool(true))]);
        let depth = bounded(&[("depth", Value::Integer(2)), ("shuffle", Value::Bool(true))]);
        let players = [nodes, depth];
        let cell = PlayableCell::new(CellDefinition { players, ..definition() }).unwrap();
        let without = |mut record: GameRecord| {
            record.wall_us = 0;
            record
        };
        for factor in [1, 500, 1_000, 4_000, u32::MAX] {
            let scaled = cell.with_time_factor(factor);
            for number in 0..6 {
                let [(one, mine), (other, scaled)] =
                    [&cell, &scaled].map(|cell| cell.play(number, None, &Timeless).unwrap());
                assert_eq!((one, without(mine)), (other, without(scaled)), "{factor}");
            }
        }

        let timed = bounded(&[("move_time", Value::Text("3ms".to_owned()))]);
        let players = [random_player(), timed];
        let cell = PlayableCell::new(CellDefinition { players, ..definition() }).unwrap();
        let limits = |factor| {
            cell.with_time_factor(factor).players.map(|player| player.limits().move_time_us)
        };
        assert_eq!(limits(1_500), [None, Some(4_500)]);
        assert_eq!(limits(1), [None, Some(3)]);
        assert_eq!(limits(u32::MAX), [None, Some(12_884_901_885)]);
        let json = cell.with_time_factor(1_500).definition().canonical_json();
        assert_eq!(json, cell.definition().canonical_json(), "it is the same cell");
    }

    /// Opening, moves and result: all of a game but its times.
    fn play(cell: &PlayableCell, number: u64) -> (Arc<str>, Vec<String>, String) {
        let (derived, record) = cell.play(number, None, &Timeless).unwrap();
        assert_eq!(derived, cell.derive(number));
        let moves = record.moves.iter().map(|mv| mv.mv.clone()).collect();
        (derived.opening, moves, format!("{:?} {:?}", record.outcome, record.termination))
    }

    #[test]
    fn max_plies_adjudicates() {
        let definition = CellDefinition { max_plies: Some(1), ..definition() };
        let (_, record) = PlayableCell::new(definition).unwrap().play(0, None, &Timeless).unwrap();
        assert_eq!(record.moves.len(), 1);
    }

    fn level_after(moves: u32) -> Option<Adjudication> {
        let moves = NonZeroU32::new(moves).unwrap();
        Some(Adjudication {
            draw: Some(DrawRule { score: 1_000, moves, after: 0 }),
            ..Adjudication::default()
        })
    }

    /// The rule of the definition is the one that is played by and judged by.
    #[test]
    fn scores_end_games_and_the_referee_knows() {
        let minimax = Arc::new(Parameters::from([
            ("algorithm".to_owned(), Value::Text("minimax".to_owned())),
            ("depth".to_owned(), Value::Integer(1)),
        ]));
        let players = [Arc::clone(&minimax), minimax];
        let free = CellDefinition { players, ..definition() };
        let ruled = CellDefinition { adjudication: level_after(1), ..free.clone() };
        let [free, ruled] = [free, ruled].map(|it| PlayableCell::new(it).unwrap());
        for number in 0..8 {
            let (game, mut record) = ruled.play(number, None, &Timeless).unwrap();
            assert_eq!((record.moves.len(), record.termination), (2, Termination::DRAW_RULE));
            assert_eq!(ruled.referee(number, &game.opening, &record), Ok(()));
            assert!(free.referee(number, &game.opening, &record).is_err());
            record.moves[1].search.score = Some(1_001);
            assert!(ruled.referee(number, &game.opening, &record).is_err());
            let (game, longer) = free.play(number, None, &Timeless).unwrap();
            assert_eq!(free.referee(number, &game.opening, &longer), Ok(()));
            let problem = ruled.referee(number, &game.opening, &longer).unwrap_err().to_string();
            assert!(problem.ends_with("comes after the end of the game"), "{problem}");
        }
    }

    fn exact() -> Arc<Parameters> {
        let exact =
            [("algorithm", Value::Text("exact".into())), ("nodes", Value::Integer(1 << 20))];
        Arc::new(exact.map(|(key, value)| (key.to_owned(), value)).into())
    }

    fn choices() -> CellDefinition {
        CellDefinition {
            openings: OpeningsRule::Strata { plies: Arc::from([2, 4]) },
            max_plies: Some(1),
            swap_sides: false,
            task: Task::Choice,
            players: [random_player(), exact()],
            ..definition()
        }
    }

    /// The first player moves once; the reference values every move and makes none.
    #[test]
    fn a_choice_is_one_move_with_the_values_of_all() {
        let cache = OpeningsCache::default();
        let cell = PlayableCell::with_cache(choices(), &cache).unwrap();
        for number in 0..12 {
            let (derived, record) = cell.play(number, None, &Timeless).unwrap();
            let values = cell.values(&derived.opening, &Timeless).unwrap();
            assert_eq!(record.moves.len(), 1);
            assert_eq!(values.len(), if number % 2 == 0 { 7 } else { 5 });
            assert!(values.iter().any(|value| value.mv == record.moves[0].mv));
            assert!(values.iter().all(|value| (-1..=1).contains(&value.value)));
            // Searched for once, whoever asks.
            assert_eq!(cell.values(&derived.opening, &Timeless), Ok(values.clone()));
            let other = CellDefinition { seed: 2015, ..choices() };
            let other = PlayableCell::with_cache(other, &cache).unwrap();
            assert_eq!(other.values(&derived.opening, &Timeless), Ok(values.clone()));
            let alone = PlayableCell::new(choices()).unwrap();
            assert_eq!(alone.values(&derived.opening, &Timeless), Ok(values.clone()));

            assert_eq!(cell.referee(number, &derived.opening, &record), Ok(()));
            assert_eq!(cell.referee_values(&derived.opening, &values), Ok(()));
            let judged = |values: &[MoveValue]| {
                cell.referee_values(&derived.opening, values).unwrap_err().to_string()
            };
            assert!(judged(&[]).contains("0 have values"));
            assert!(judged(&values[1..]).contains("legal moves"));
            let mut swapped = values.clone();
            swapped.swap(0, 1);
            assert!(judged(&swapped).contains("stands"));
            let mut renamed = values.clone();
            renamed[0].mv = "z9".to_owned();
            assert!(judged(&renamed).contains("`z9`"));
            let mut beyond = values.clone();
            beyond[0].value = 2;
            assert!(judged(&beyond).contains("at 2"));
        }
    }

    #[test]
    fn a_game_has_no_values_of_moves() {
        let cell = PlayableCell::new(definition()).unwrap();
        let (derived, _) = cell.play(0, None, &Timeless).unwrap();
        assert_eq!(cell.values(&derived.opening, &Timeless), Ok(Vec::new()));
        let told = [MoveValue { mv: "a1".to_owned(), value: 1 }];
        let judged = cell.referee_values(&derived.opening, &told).unwrap_err();
        assert!(judged.to_string().contains("it is a game"));
    }

    /// What a coordinator would never hand out, and a file may say.
    #[test]
    fn choices_that_make_no_sense_are_an_error() {
        let error = |definition| PlayableCell::new(definition).unwrap_err().to_string();
        let pairs = CellDefinition { swap_sides: true, ..choices() };
        assert!(error(pairs).contains("fixed sides"));
        assert!(error(CellDefinition { max_plies: None, ..choices() }).contains("after a ply"));
        let adjudicated = CellDefinition { adjudication: level_after(1), ..choices() };
        assert!(error(adjudicated).contains("by nothing else"));
        let players = [random_player(), random_player()];
        assert!(error(CellDefinition { players, ..choices() }).contains("the reference"));
    }

    /// A reference that is out of reach says so, and how far it came.
    #[test]
    fn a_reference_out_of_reach_is_an_error() {
        let mut definition = choices();
        Arc::make_mut(&mut definition.players[1]).insert("nodes".to_owned(), Value::Integer(3));
        let cell = PlayableCell::new(definition).unwrap();
        let error = cell.values(&cell.derive(0).opening, &Timeless).unwrap_err();
        assert!(error.to_string().contains("the node limit"), "{error}");
    }

    #[test]
    fn cells_of_a_cache_share_openings() {
        let cache = OpeningsCache::default();
        let cell = || PlayableCell::with_cache(definition(), &cache).unwrap();
        let (one, other) = (cell(), cell());
        assert!(Arc::ptr_eq(&one.openings, &other.openings));
    }

    #[test]
    fn what_this_engine_cannot_play_is_an_error() {
        let error = |definition| PlayableCell::new(definition).unwrap_err().to_string();
        let unknown =
            Parameters::from([("algorithm".to_owned(), Value::Text("oracle".to_owned()))]);
        let players = [random_player(), Arc::new(unknown)];
        assert!(error(CellDefinition { players, ..definition() }).contains("player 2"));
        assert!(error(CellDefinition { format: 2, ..definition() }).contains("format 2"));
        let openings = OpeningsRule::Random { plies: 9 };
        assert!(error(CellDefinition { openings, ..definition() }).contains("9 plies"));
    }
}
