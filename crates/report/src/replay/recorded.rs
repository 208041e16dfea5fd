//! Conversion of results to recorded games.

use spelrum_answers::{GameResult, Played, SettledGame};

use super::RecordedGame;
use crate::error::{Error, Kind, Result};

/// Returns a settled game that has a result as a recorded game.
pub fn recorded_game(game: SettledGame) -> Result<RecordedGame> {
    let definition = game.definition().map_err(|damage| {
        let cell = game.summary.game.cell;
        Error::new(Kind::Database, format!("read the definition of cell {cell}"))
            .because(damage)
            .help("use the version of spelrum that wrote this database, or a copy of it")
    })?;
    let SettledGame { summary, experiment, experiment_uuid, moves, engines, forfeit, .. } = game;
    match summary.result {
        GameResult::Failed(failure) => {
            Err(Error::new(Kind::Input, format!("replay game {}", summary.game_id))
                .because(format!("it has no result, since it failed: {failure}"))
                .help("see what failed: spelrum sql 'SELECT * FROM failures'"))
        }
        GameResult::Played(Played { opening, end, engine_revision }) => Ok(RecordedGame {
            game_id: summary.game_id,
            game: summary.game,
            definition,
            experiment,
            experiment_uuid,
            names: summary.players,
            opening,
            end,
            moves,
            engine_revision,
            wall_us: summary.wall_us,
            not_counted_reason: summary.not_counted_reason,
            engines,
            forfeit,
        }),
    }
}
