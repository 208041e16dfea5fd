//! From (cell, number) to a game, identical on every worker.

use std::ops::ControlFlow;
use std::sync::Arc;

use spelrum_engine::tables::TableValue;
use spelrum_engine::{
    Board, ExternalPlayer, GameRecord, GameSetup, Host, Irregularity, MoveValue, MoveValuesError,
    Outcome, Parameters, Participant, PlayError, Player, Termination, Value, Watch,
    check_reference, legal_moves, move_values, play_between, play_watched, referee,
};

use crate::bounds::check_record;
use crate::conditions::Task;
use crate::definition::{CellDefinition, DefinitionHash};
use crate::engines::{EngineIdentity, Forfeit, NeededEngine};
use crate::openings::{KnownValues, Openings, OpeningsCache, SharedConditions};
use crate::seeds;
use crate::split_definition;
use crate::split_definition::{ListedPositions, SplitDefinition};

/// A cell ready to be played: players parsed, openings at hand. Shared by a worker's slots.
#[derive(Debug)]
pub struct PlayableCell {
    definition: Arc<CellDefinition>,
    cell_seed: u64,
    players: [Player; 2],
    openings: Arc<Openings>,
    /// For choices: known values of moves, shared by all cells with these positions and this reference.
    known_values: Arc<KnownValues>,
    /// Data shared with cells that list the same positions under the same conditions.
    shared: Option<Arc<SharedConditions>>,
}

/// A definition that this engine cannot play.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to read the cell's definition: {0}")]
pub struct DefinitionError(pub String);

/// One game of a cell, derived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedGame {
    /// Its starting position, in the game's notation.
    pub opening: Arc<str>,
    /// Whether the cell's first player moves first: in even numbers, or always if sides are fixed.
    pub first_player_moves_first: bool,
    /// The ChaCha8 keys of the first mover and of the other player.
    pub keys: [[u8; 32]; 2],
}

impl PlayableCell {
    /// Parses a definition.
    ///
    /// # Errors
    /// If this engine lacks a player's parameters or an opening.
    pub fn new(definition: CellDefinition) -> Result<Self, DefinitionError> {
        Self::with_cache(definition, &OpeningsCache::default())
    }

    /// Parses a definition in JSON, sharing its openings with other cells that have the same.
    ///
    /// # Errors
    /// If the text is not a definition, and see [`PlayableCell::new`].
    pub fn from_json(json: &str, openings: &OpeningsCache) -> Result<Self, DefinitionError> {
        if let Some(split) = SplitDefinition::from_json(json) {
            let read = || ListedPositions::from_json(split.positions_json);
            let positions = openings.listed(split.hash).or_else(|| Some(openings.supply(read()?)));
            let positions = positions
                .ok_or_else(|| DefinitionError("its openings are not texts".to_owned()))?;
            return Self::from_split(&split.json, &positions, openings).map(|(cell, _)| cell);
        }
        let definition =
            serde_json::from_str(json).map_err(|error| DefinitionError(error.to_string()))?;
        Self::with_cache(definition, openings)
    }

    /// Parses a definition whose positions are stored separately ([`SplitDefinition`]), sharing what it can with other
    /// cells. Also returns the hash of the complete definition.
    ///
    /// # Errors
    /// If the text is not such a definition, or belongs to other positions, and see [`PlayableCell::new`].
    pub fn from_split(
        json: &str,
        positions: &Arc<ListedPositions>,
        openings: &OpeningsCache,
    ) -> Result<(Self, DefinitionHash), DefinitionError> {
        let (prefix, players) = split_definition::split(json)
            .ok_or_else(|| DefinitionError("its players are missing".to_owned()))?;
        let shared = openings.conditions(prefix, positions).map_err(DefinitionError)?;
        let players: [Arc<Parameters>; 2] =
            serde_json::from_str(players).map_err(|error| DefinitionError(error.to_string()))?;
        let [first, second] = players.each_ref().map(seeds::canonical_json);
        let (hash, cell_seed) = shared.json.hash_and_seed(&first, &second);
        let definition = CellDefinition { players, ..shared.definition.clone() };
        let openings_of = |_: &CellDefinition| Ok(Arc::clone(&shared.openings));
        let cell = Self::assemble(definition, Some(cell_seed), openings, openings_of)?;
        Ok((Self { shared: Some(shared), ..cell }, hash))
    }

    /// Parses a definition, sharing its openings with other cells that have the same.
    ///
    /// # Errors
    /// See [`PlayableCell::new`].
    pub fn with_cache(
        definition: CellDefinition,
        openings: &OpeningsCache,
    ) -> Result<Self, DefinitionError> {
        Self::assemble(definition, None, openings, |definition| {
            openings
                .get(definition.seed, &definition.rules, &definition.openings)
                .map_err(|error| DefinitionError(error.to_string()))
        })
    }

    /// Creates a cell with these openings, and with this seed if known.
    fn assemble(
        definition: CellDefinition,
        cell_seed: Option<u64>,
        cache: &OpeningsCache,
        openings: impl FnOnce(&CellDefinition) -> Result<Arc<Openings>, DefinitionError>,
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
        let known_values = cache.known_values(&definition);
        let openings = openings(&definition)?;
        let cell_seed = cell_seed.unwrap_or_else(|| definition.cell_seed());
        let (definition, shared) = (Arc::new(definition), None);
        Ok(Self { definition, cell_seed, players, openings, known_values, shared })
    }

    /// The positions stored apart from its definition, if any.
    #[must_use]
    pub fn listed_positions(&self) -> Option<&Arc<ListedPositions>> {
        self.shared.as_ref().map(|shared| &shared.positions)
    }

    /// The definition.
    #[must_use]
    pub fn definition(&self) -> &CellDefinition {
        &self.definition
    }

    /// The number of openings before they repeat: see [`Openings::count`].
    #[must_use]
    pub fn openings_count(&self) -> Option<u64> {
        self.openings.count()
    }

    /// Plies to mate from the start of the game with this number: see [`Openings::plies_to_mate`].
    #[must_use]
    pub fn plies_to_mate(&self, number: u64) -> Option<u32> {
        self.openings.plies_to_mate(self.opening_number(number))
    }

    /// The number of a game's opening: its pair's, or its own if sides are fixed.
    fn opening_number(&self, number: u64) -> u64 {
        if self.definition.swap_sides { number / 2 } else { number }
    }

    /// The same cell with its players' time scaled to this many thousandths. Games without a time limit stay the same.
    #[must_use]
    pub fn with_time_factor(&self, permille: u32) -> Self {
        let Self { definition, cell_seed, players, openings, known_values, shared } = self;
        Self {
            definition: Arc::clone(definition),
            cell_seed: *cell_seed,
            players: players.each_ref().map(|player| player.with_time_factor(permille)),
            openings: Arc::clone(openings),
            known_values: Arc::clone(known_values),
            shared: shared.clone(),
        }
    }

    /// Whether a time limit bounds a player's moves, so that a replay uses recorded node counts (invariant 3).
    #[must_use]
    pub fn has_time_limit(&self) -> bool {
        self.players.iter().any(Player::is_timed)
    }

    /// Whether every result of a game must be identical: moves depend neither on a clock nor on an external engine that
    /// is not declared deterministic (invariant 2).
    #[must_use]
    pub fn is_deterministic(&self) -> bool {
        self.players.iter().all(Player::is_deterministic)
    }

    /// The players of the game with this number: the first mover, then the other.
    #[must_use]
    pub fn players_of(&self, game: &DerivedGame) -> [&Player; 2] {
        let [first, second] = &self.players;
        if game.first_player_moves_first { [first, second] } else { [second, first] }
    }

    /// Whether a player is an external engine: only [`PlayableCell::play_with`] plays such games.
    #[must_use]
    pub fn has_engines(&self) -> bool {
        self.players.iter().any(|player| player.external().is_some())
    }

    /// Derives the game with this number (invariant 1): its opening from its pair, the first mover from its parity, the
    /// keys from the cell's seed. With fixed sides, the opening comes from its number.
    #[must_use]
    pub fn derive(&self, number: u64) -> DerivedGame {
        let swaps = self.definition.swap_sides;
        DerivedGame {
            opening: self.openings.opening(self.opening_number(number)),
            first_player_moves_first: !swaps || number.is_multiple_of(2),
            keys: [0, 1].map(|side| seeds::player_key(self.cell_seed, number, side)),
        }
    }

    /// Checks that a record can be the game with this number, by the rules alone: it has the derived opening, and
    /// everything that follows from its moves is recorded correctly ([`spelrum_engine::referee`]). Only an external
    /// engine can forfeit a game, and a built-in player with a clock lose on time.
    ///
    /// # Errors
    /// The first problem.
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

    /// Checks that the times and searches of a record can be those of the game with this number: see [`check_record`].
    ///
    /// # Errors
    /// The first problem.
    pub fn referee_numbers(&self, number: u64, record: &GameRecord) -> Result<(), Irregularity> {
        check_record(record, self.players_of(&self.derive(number)))
    }

    /// Checks that the game with this number can end like this, for any moves: a built-in player loses by no fault but
    /// by its time, if it has a clock.
    ///
    /// # Errors
    /// If its loser is a built-in player that cannot lose like this.
    pub fn referee_loser(
        &self,
        number: u64,
        termination: Termination,
        outcome: Outcome,
    ) -> Result<(), Irregularity> {
        let loser = self.loser(number, outcome);
        let can_lose = loser.external().is_some()
            || (loser.clock().is_some() && termination == Termination::TIME_FORFEIT);
        if termination.is_forfeit() && !can_lose {
            let word = termination.name();
            return Err(Irregularity::new(format!("its loser cannot lose by {word}")));
        }
        Ok(())
    }

    /// The player that lost the game with this number; the first mover, if it was a draw.
    fn loser(&self, number: u64, outcome: Outcome) -> &Player {
        self.players_of(&self.derive(number))[usize::from(outcome == Outcome::Win)]
    }

    /// Checks that these external engines can have played the game with this number and lost it like this: each side
    /// with an external engine has the one that its sweep requires, and a forfeit is reported exactly if an engine's
    /// fault ended the game.
    ///
    /// # Errors
    /// The first problem.
    pub fn referee_engines(
        &self,
        number: u64,
        engines: &[Option<EngineIdentity>; 2],
        (termination, outcome): (Termination, Outcome),
        forfeit: Option<&Forfeit>,
    ) -> Result<(), Irregularity> {
        let wrong = |problem: String| Err(Irregularity::new(problem));
        let game = self.derive(number);
        for (side, (player, engine)) in self.players_of(&game).into_iter().zip(engines).enumerate()
        {
            match (player.external(), engine) {
                (None, None) => {}
                (None, Some(_)) => {
                    return wrong(format!(
                        "side {side} is not an external engine, but one is reported"
                    ));
                }
                (Some(rules), None) => {
                    let engine = &rules.engine;
                    return wrong(format!("the program of `{engine}` is not reported"));
                }
                (Some(rules), Some(identity)) => {
                    let needed = NeededEngine::from_rules(rules);
                    if !needed.admits(identity) {
                        let (name, hash) = (&identity.name, identity.sha256_short());
                        return wrong(format!("{name:?} ({hash}…) is not {needed}"));
                    }
                }
            }
        }
        let is_engines_fault =
            termination.is_forfeit() && self.loser(number, outcome).external().is_some();
        match (is_engines_fault, forfeit) {
            (true, None) => {
                wrong(format!("no forfeit is reported, but it ended by {}", termination.name()))
            }
            (false, Some(_)) => wrong(
                "a forfeit is reported, but neither side lost by a fault of an engine".to_owned(),
            ),
            (true, Some(_)) | (false, None) => Ok(()),
        }
    }

    /// For a choice, the reference's value of each legal move of its position, in canonical order; empty for a game.
    /// Values already found for another cell are reused.
    ///
    /// # Errors
    /// See [`spelrum_engine::move_values`].
    pub fn values(
        &self,
        opening: &str,
        host: &dyn Host,
    ) -> Result<Vec<MoveValue>, MoveValuesError> {
        if self.definition.task == Task::Game {
            return Ok(Vec::new());
        }
        let rules = &self.definition.rules;
        if let Some(values) = self.known_values.get(opening) {
            let moves = legal_moves(rules, opening)?;
            return Ok(moves.into_iter().zip(values.iter()).map(named).collect());
        }
        let [_, reference] = &self.players;
        let moves = move_values(rules, opening, reference, host)?.moves;
        self.known_values
            .keep(opening, moves.iter().map(|valued_move| valued_move.value).collect());
        Ok(moves)
    }

    /// Checks that values fit the moves of a position: one for each legal move, in canonical order and in bounds; none
    /// for a game. Only the reference can confirm the values themselves.
    ///
    /// # Errors
    /// The first problem.
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
            let (legal, valued) = (moves.len(), values.len());
            let problem = format!("its position has {legal} legal moves, and {valued} have values");
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
            values.iter().find(|entry| entry.value.unsigned_abs() > most)
        {
            let problem =
                format!("no reference like this one values a move like `{mv}` at {value}");
            return Err(Irregularity::new(problem));
        }
        match moves.iter().zip(values).find(|(mv, entry)| **mv != entry.mv) {
            None => Ok(()),
            Some((mv, entry)) => Err(Irregularity::new(format!(
                "it has a value of `{}` where the move `{mv}` stands",
                entry.mv
            ))),
        }
    }

    /// Plays the game with this number. With `stops`, replays a timed game by its recorded node counts instead of the
    /// clock (invariant 3).
    ///
    /// # Errors
    /// See [`spelrum_engine::play_game`].
    pub fn play(
        &self,
        number: u64,
        stops: Option<&[Option<u64>]>,
        host: &dyn Host,
    ) -> Result<(DerivedGame, GameRecord), PlayError> {
        self.play_watched(number, stops, host, &mut |_| ControlFlow::Continue(()))
    }

    /// Like [`PlayableCell::play`], with an observer that receives the moves so far after each, and may end the game.
    ///
    /// # Errors
    /// See [`spelrum_engine::play_watched`].
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

    /// Plays a game of this cell with external engines: the first mover's and the other's, for each side that has one.
    ///
    /// # Errors
    /// See [`spelrum_engine::play_between`]; also if a side's program is missing here.
    pub fn play_with(
        &self,
        game: &DerivedGame,
        external: [Option<&mut dyn ExternalPlayer>; 2],
        host: &dyn Host,
    ) -> Result<GameRecord, PlayError> {
        self.play_with_watched(game, external, host, &mut |_| ControlFlow::Continue(()))
    }

    /// Like [`PlayableCell::play_with`], with an observer that receives the moves so far after each, and may end the game.
    ///
    /// # Errors
    /// As [`PlayableCell::play_with`].
    pub fn play_with_watched(
        &self,
        game: &DerivedGame,
        external: [Option<&mut dyn ExternalPlayer>; 2],
        host: &dyn Host,
        watch: Watch<'_>,
    ) -> Result<GameRecord, PlayError> {
        let board = Board {
            rules: &self.definition.rules,
            opening: &game.opening,
            max_plies: self.definition.max_plies,
            adjudication: self.definition.adjudication,
        };
        let sides = self.players_of(game).into_iter().zip(game.keys).zip(external);
        let mut participants = sides.map(|((player, key), external)| match external {
            Some(external) => Participant::External(external),
            None => Participant::Player { player, key },
        });
        let (Some(first), Some(second)) = (participants.next(), participants.next()) else {
            unreachable!("a game has two sides");
        };
        play_between(&board, [first, second], host, watch)
    }
}

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
pub(crate) mod tests;
