//! Settled games, in lists and with their moves.

use spelrum_answers::{
    GameResult, GameSummary, GamesFilter, GamesOrder, GamesPage, Played, SettledGame, WhichGame,
    WholeGame,
};
use spelrum_engine::termination_named;
use spelrum_model::GameEnd;
use spelrum_model::{CellId, WorkerId};

use crate::engines::{
    check_forfeit, forfeit_from_wire, forfeit_to_wire, identity_from_wire, identity_to_wire,
};
use crate::game::{check_move, game_id, move_from_wire, move_to_wire};
use crate::limits::PLIES_MAX;
use crate::wire_error::{at_most, id, margin, number, unknown_word};
use crate::work::definition_hash;
use crate::{Fault, WireError, names, v1};

impl From<GameSummary> for v1::GameSummary {
    fn from(game: GameSummary) -> Self {
        let [first_player, second_player] = game.players;
        Self {
            game_id: game.game_id,
            cell_id: game.game.cell.0,
            number: game.game.number,
            first_player,
            second_player,
            result: Some(match game.result {
                GameResult::Played(played) => v1::game_summary::Result::Played(played.into()),
                GameResult::Failed(message) => v1::game_summary::Result::Failure(message),
            }),
            not_counted_reason: game.not_counted_reason.unwrap_or_default(),
            wall_us: game.wall_us,
            worker_id: game.worker.map_or(0, |WorkerId(worker)| worker),
        }
    }
}

impl TryFrom<v1::GameSummary> for GameSummary {
    type Error = WireError;

    fn try_from(game: v1::GameSummary) -> Result<Self, WireError> {
        let result = game.result.ok_or_else(|| WireError::new("result", Fault::Missing))?;
        Ok(Self {
            game_id: id("game_id", game.game_id)?,
            game: game_id(game.cell_id, game.number)?,
            players: [game.first_player, game.second_player],
            result: match result {
                v1::game_summary::Result::Played(played) => {
                    let played: Result<Played, WireError> = played.try_into();
                    GameResult::Played(played.map_err(|error| error.within("played"))?)
                }
                v1::game_summary::Result::Failure(message) => GameResult::Failed(message),
            },
            not_counted_reason: Some(game.not_counted_reason).filter(|reason| !reason.is_empty()),
            wall_us: game.wall_us.map(|wall_us| number("wall_us", wall_us)).transpose()?,
            worker: match game.worker_id {
                0 => None,
                worker => Some(WorkerId(id("worker_id", worker)?)),
            },
        })
    }
}

impl From<Played> for v1::PlayedGame {
    fn from(played: Played) -> Self {
        let Played { opening, end, engine_revision } = played;
        Self {
            opening,
            first_side: names::side_to_wire(end.first_side).into(),
            outcome: names::outcome_to_wire(end.outcome).into(),
            margin: end.margin,
            termination: end.termination.name().to_owned(),
            plies: end.plies,
            moves_hash: end.moves_hash,
            engine_revision,
        }
    }
}

impl TryFrom<v1::PlayedGame> for Played {
    type Error = WireError;

    fn try_from(played: v1::PlayedGame) -> Result<Self, WireError> {
        let variant = |field: &str, number| WireError::new(field, Fault::UnknownVariant(number));
        let end = GameEnd {
            first_side: names::side_from_wire(played.first_side())
                .ok_or_else(|| variant("first_side", played.first_side))?,
            outcome: names::outcome_from_wire(played.outcome())
                .ok_or_else(|| variant("outcome", played.outcome))?,
            margin: margin("margin", played.margin)?,
            termination: termination_named(&played.termination)
                .ok_or_else(|| WireError::new("termination", unknown_word(&played.termination)))?,
            plies: played.plies,
            moves_hash: number("moves_hash", played.moves_hash)?,
        };
        Ok(Self { opening: played.opening, end, engine_revision: played.engine_revision })
    }
}

/// A game with its moves as a message.
#[must_use]
pub fn game_to_wire(game: SettledGame) -> v1::GetGameResponse {
    let [first_engine, second_engine] = game.engines.map(|engine| engine.map(identity_to_wire));
    v1::GetGameResponse {
        summary: Some(game.summary.into()),
        experiment: game.experiment,
        experiment_uuid: game.experiment_uuid,
        definition_json: game.definition_json,
        definition_hash: game.definition_hash.0.to_vec(),
        moves_recorded: game.moves.is_some(),
        moves: game.moves.unwrap_or_default().into_iter().map(move_to_wire).collect(),
        first_engine,
        second_engine,
        forfeit: game.forfeit.map(forfeit_to_wire),
    }
}

/// Parses a game with its moves. Does not check the definition against its hash.
///
/// # Errors
/// The first field that is malformed.
pub fn game_from_wire(game: v1::GetGameResponse) -> Result<SettledGame, WireError> {
    let summary = game.summary.ok_or_else(|| WireError::new("summary", Fault::Missing))?;
    at_most("moves", game.moves.len(), PLIES_MAX)?;
    let mut moves = Vec::with_capacity(game.moves.len());
    for (ply, mv) in game.moves.into_iter().enumerate() {
        let read = check_move(&mv).and_then(|()| move_from_wire(mv));
        moves.push(read.map_err(|error| error.within(format_args!("moves[{ply}]")))?);
    }
    let engine = |field: &'static str, identity: Option<v1::EngineIdentity>| {
        let read = identity.as_ref().map(identity_from_wire).transpose();
        read.map_err(|error| error.within(field))
    };
    if let Some(forfeit) = &game.forfeit {
        check_forfeit(forfeit).map_err(|error| error.within("forfeit"))?;
    }
    Ok(SettledGame {
        summary: summary.try_into().map_err(|error: WireError| error.within("summary"))?,
        experiment: game.experiment,
        experiment_uuid: game.experiment_uuid,
        definition_hash: definition_hash(&game.definition_hash)?,
        definition_json: game.definition_json,
        moves: game.moves_recorded.then_some(moves),
        engines: [
            engine("first_engine", game.first_engine)?,
            engine("second_engine", game.second_engine)?,
        ],
        forfeit: game.forfeit.map(forfeit_from_wire),
    })
}

/// A page of games with their moves as a message, without the token for the next page. Cells' definitions are
/// sent once for consecutive games of one cell.
#[must_use]
pub fn whole_games_to_wire(games: Vec<WholeGame>) -> v1::GetGamesResponse {
    let mut last = None;
    let games = games.into_iter().map(|WholeGame { game, worker_name, started_unix_us }| {
        let cell = Some(game.summary.game.cell);
        let mut game = game_to_wire(game);
        if std::mem::replace(&mut last, cell) == cell {
            game.definition_json.clear();
        }
        let worker_name = worker_name.unwrap_or_default();
        v1::WholeGame { game: Some(game), worker_name, started_unix_us }
    });
    v1::GetGamesResponse { games: games.collect(), next_page_token: String::new() }
}

/// Parses a page of games with their moves.
///
/// # Errors
/// The first field that is malformed.
pub fn whole_games_from_wire(page: v1::GetGamesResponse) -> Result<Vec<WholeGame>, WireError> {
    let mut games: Vec<WholeGame> = Vec::with_capacity(page.games.len());
    for (index, wire) in page.games.into_iter().enumerate() {
        let within = |error: WireError| error.within(format_args!("games[{index}]"));
        let game = wire.game.ok_or_else(|| within(WireError::new("game", Fault::Missing)))?;
        let mut game = game_from_wire(game).map_err(within)?;
        let before = games.last().map(|before| &before.game);
        if let Some(before) =
            before.filter(|previous| previous.summary.game.cell == game.summary.game.cell)
            && game.definition_json.is_empty()
        {
            game.definition_json.clone_from(&before.definition_json);
        }
        games.push(WholeGame {
            game,
            worker_name: Some(wire.worker_name).filter(|name| !name.is_empty()),
            started_unix_us: wire.started_unix_us,
        });
    }
    Ok(games)
}

/// A page of a list of games as a message, without the token for the next page, which only the server can
/// make.
#[must_use]
pub fn games_page_to_wire(page: GamesPage) -> v1::ListGamesResponse {
    let games = page.games.into_iter().map(Into::into).collect();
    v1::ListGamesResponse { games, next_page_token: String::new() }
}

impl From<WhichGame> for v1::GetGameRequest {
    fn from(game: WhichGame) -> Self {
        use v1::get_game_request::Which;
        let game = match game {
            WhichGame::Id(game_id) => Which::GameId(game_id),
            WhichGame::InCell(game) => {
                Which::InCell(v1::GameId { cell_id: game.cell.0, number: game.number })
            }
        };
        Self { which: Some(game) }
    }
}

/// Parses the name of a game.
///
/// # Errors
/// If it is missing, or has an invalid id or number.
pub fn which_game(request: &v1::GetGameRequest) -> Result<WhichGame, WireError> {
    use v1::get_game_request::Which;
    match &request.which {
        None => Err(WireError::new("which", Fault::Missing)),
        Some(Which::GameId(game_id)) => Ok(WhichGame::Id(id("game_id", *game_id)?)),
        Some(Which::InCell(game)) => {
            let game = game_id(game.cell_id, game.number);
            Ok(WhichGame::InCell(game.map_err(|error| error.within("in_cell"))?))
        }
    }
}

/// The filter of a list of games as a message.
#[must_use]
pub fn filter_to_wire(filter: GamesFilter) -> v1::GamesFilter {
    match filter {
        GamesFilter::All => v1::GamesFilter::Unspecified,
        GamesFilter::Uncounted => v1::GamesFilter::Uncounted,
        GamesFilter::Failed => v1::GamesFilter::Failed,
        GamesFilter::Counted => v1::GamesFilter::Counted,
    }
}

/// The order of a list of games as a message.
#[must_use]
pub fn order_to_wire(order: GamesOrder) -> v1::GamesOrder {
    match order {
        GamesOrder::Newest => v1::GamesOrder::Unspecified,
        GamesOrder::Number => v1::GamesOrder::Number,
        GamesOrder::Settled => v1::GamesOrder::Settled,
    }
}

/// The list in a request for games with their moves.
///
/// # Errors
/// If it is missing.
pub fn whole_games_list(request: v1::GetGamesRequest) -> Result<v1::ListGamesRequest, WireError> {
    request.list.ok_or_else(|| WireError::new("list", Fault::Missing))
}

/// A request for a list of games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GamesRequest<'r> {
    /// The source of the games.
    pub scope: GamesScope<'r>,
    /// The filter.
    pub filter: GamesFilter,
    /// The order.
    pub order: GamesOrder,
}

/// The source of the games in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GamesScope<'r> {
    /// An experiment, by UUID or name.
    Experiment(&'r str),
    /// A cell.
    Cell(CellId),
}

/// Parses a request for a list of games, except its page token.
///
/// # Errors
/// The first field that is malformed.
pub fn games_request(request: &v1::ListGamesRequest) -> Result<GamesRequest<'_>, WireError> {
    use v1::list_games_request::Of;
    let variant = |field: &str, number| WireError::new(field, Fault::UnknownVariant(number));
    Ok(GamesRequest {
        scope: match &request.of {
            None => return Err(WireError::new("of", Fault::Missing)),
            Some(Of::CellId(cell)) => GamesScope::Cell(CellId(id("cell_id", *cell)?)),
            Some(Of::Experiment(experiment)) => GamesScope::Experiment(experiment),
        },
        filter: match v1::GamesFilter::try_from(request.filter) {
            Ok(v1::GamesFilter::Unspecified) => GamesFilter::All,
            Ok(v1::GamesFilter::Uncounted) => GamesFilter::Uncounted,
            Ok(v1::GamesFilter::Failed) => GamesFilter::Failed,
            Ok(v1::GamesFilter::Counted) => GamesFilter::Counted,
            Err(_) => return Err(variant("filter", request.filter)),
        },
        order: match v1::GamesOrder::try_from(request.order) {
            Ok(v1::GamesOrder::Unspecified) => GamesOrder::Newest,
            Ok(v1::GamesOrder::Number) => GamesOrder::Number,
            Ok(v1::GamesOrder::Settled) => GamesOrder::Settled,
            Err(_) => return Err(variant("order", request.order)),
        },
    })
}
