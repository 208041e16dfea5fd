//! Forms of questions about games in JSON: flat, so that they fit into a query string.

use serde::{Deserialize, Serialize};
use spelrum_model::{CellId, ExperimentId, GameId};

use super::{GameCursor, GamesFilter, GamesOf, GamesOrder, GamesQuestion, WhichGame};

/// A game by its id, or by its cell and its number there.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct WhichGameForm {
    #[serde(skip_serializing_if = "Option::is_none")]
    game_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<CellId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
}

impl TryFrom<WhichGameForm> for WhichGame {
    type Error = &'static str;

    fn try_from(form: WhichGameForm) -> Result<Self, &'static str> {
        match (form.game_id, form.cell, form.number) {
            (Some(game_id), None, None) => Ok(Self::Id(game_id)),
            (None, Some(cell), Some(number)) => Ok(Self::InCell(GameId { cell, number })),
            (_, _, _) => Err("a game has either a game_id, or a cell and a number"),
        }
    }
}

impl From<WhichGame> for WhichGameForm {
    fn from(game: WhichGame) -> Self {
        match game {
            WhichGame::Id(game_id) => Self { game_id: Some(game_id), ..Self::default() },
            WhichGame::InCell(GameId { cell, number }) => {
                Self { cell: Some(cell), number: Some(number), ..Self::default() }
            }
        }
    }
}

/// An experiment or a cell.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct GamesOfForm {
    #[serde(skip_serializing_if = "Option::is_none")]
    experiment: Option<ExperimentId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<CellId>,
}

impl TryFrom<GamesOfForm> for GamesOf {
    type Error = &'static str;

    fn try_from(form: GamesOfForm) -> Result<Self, &'static str> {
        match (form.experiment, form.cell) {
            (Some(experiment), None) => Ok(Self::Experiment(experiment)),
            (None, Some(cell)) => Ok(Self::Cell(cell)),
            (_, _) => Err("games are those of either an experiment or a cell"),
        }
    }
}

impl From<GamesOf> for GamesOfForm {
    fn from(scope: GamesOf) -> Self {
        match scope {
            GamesOf::Experiment(experiment) => {
                Self { experiment: Some(experiment), ..Self::default() }
            }
            GamesOf::Cell(cell) => Self { cell: Some(cell), ..Self::default() },
        }
    }
}

/// A request for a list of games, with its scope's fields.
#[derive(Serialize, Deserialize)]
pub(super) struct GamesQuestionForm {
    #[serde(skip_serializing_if = "Option::is_none")]
    experiment: Option<ExperimentId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<CellId>,
    filter: GamesFilter,
    order: GamesOrder,
}

impl TryFrom<GamesQuestionForm> for GamesQuestion {
    type Error = &'static str;

    fn try_from(form: GamesQuestionForm) -> Result<Self, &'static str> {
        let GamesQuestionForm { experiment, cell, filter, order } = form;
        let scope = GamesOfForm { experiment, cell }.try_into()?;
        Ok(Self { scope, filter, order })
    }
}

impl From<GamesQuestion> for GamesQuestionForm {
    fn from(GamesQuestion { scope, filter, order }: GamesQuestion) -> Self {
        let GamesOfForm { experiment, cell } = scope.into();
        Self { experiment, cell, filter, order }
    }
}

/// A cursor with its game's fields.
#[derive(Serialize, Deserialize)]
pub(super) struct GameCursorForm {
    game_id: i64,
    cell: CellId,
    number: u64,
}

impl From<GameCursorForm> for GameCursor {
    fn from(GameCursorForm { game_id, cell, number }: GameCursorForm) -> Self {
        Self { game_id, game: GameId { cell, number } }
    }
}

impl From<GameCursor> for GameCursorForm {
    fn from(GameCursor { game_id, game: GameId { cell, number } }: GameCursor) -> Self {
        Self { game_id, cell, number }
    }
}

/// Complete games in JSON: among consecutive games of one cell only the first has the cell's definition; in the
/// others it is empty.
pub(super) mod whole_games {
    use std::borrow::Cow;

    use serde::{Deserialize as _, Deserializer, Serializer};

    use crate::games::{SettledGame, WholeGame};

    pub(in super::super) fn serialize<S: Serializer>(
        games: &[WholeGame],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut last: Option<&SettledGame> = None;
        serializer.collect_seq(games.iter().map(|whole| {
            let game = &whole.game;
            let is_known = last.replace(game).is_some_and(|last| has_definition_of(game, last));
            if is_known { Cow::Owned(whole.without_definition()) } else { Cow::Borrowed(whole) }
        }))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<WholeGame>, D::Error> {
        let mut games = Vec::<WholeGame>::deserialize(deserializer)?;
        for index in 1..games.len() {
            let (before, rest) = games.split_at_mut(index);
            let (Some(before), Some(whole)) = (before.last(), rest.first_mut()) else { continue };
            let (before, game) = (&before.game, &mut whole.game);
            if game.definition_json.is_empty() && before.summary.game.cell == game.summary.game.cell
            {
                game.definition_json.clone_from(&before.definition_json);
            }
        }
        Ok(games)
    }

    fn has_definition_of(game: &SettledGame, other: &SettledGame) -> bool {
        game.summary.game.cell == other.summary.game.cell
            && game.definition_json == other.definition_json
    }

    impl WholeGame {
        fn without_definition(&self) -> Self {
            let Self { game, worker_name, started_unix_us } = self;
            let game = SettledGame {
                summary: game.summary.clone(),
                experiment: game.experiment.clone(),
                experiment_uuid: game.experiment_uuid.clone(),
                definition_hash: game.definition_hash,
                definition_json: String::new(),
                moves: game.moves.clone(),
                engines: game.engines.clone(),
                forfeit: game.forfeit.clone(),
            };
            Self { game, worker_name: worker_name.clone(), started_unix_us: *started_unix_us }
        }
    }
}
