//! The progress of an experiment.

use spelrum_answers::{Pace, PlayerForfeits, Progress};
use spelrum_statistics::forecast::{Backlog, Forecast, GameSpread};

use super::status::{read_all, state};
use crate::wire_error::{finite, number};
use crate::{Fault, WireError, v1};

impl From<Progress> for v1::GetProgressResponse {
    fn from(progress: Progress) -> Self {
        let forecast = Pace::forecast_at_first(&progress);
        let Progress { backlog, spread, .. } = progress;
        Self {
            state: progress.state.name().to_owned(),
            cells: progress.cells,
            cells_settled: progress.cells_settled,
            stop_rule: progress.stop_rule,
            cells_stopped: progress.cells_stopped,
            games_planned: progress.games_planned,
            games_settled: progress.games_settled,
            games_failed: progress.games_failed,
            forfeits: progress.forfeits.into_iter().map(Into::into).collect(),
            stopped_for: progress.stopped_for,
            networks: progress.networks,
            networks_settled: progress.networks_settled,
            wall_us: progress.wall_us,
            backlog: Some(v1::Backlog {
                games_left: backlog.games_left,
                unseen_games_left: backlog.unseen_games_left,
                seen_us: backlog.seen_us,
                seen_squares: backlog.seen_squares,
                longest_us: backlog.longest_us,
                seen_cells: backlog.seen_cells,
                means_us: backlog.means_us,
                mean_squares: backlog.mean_squares,
            }),
            spread: Some(v1::GameSpread { squares: spread.squares, weight: spread.weight }),
            slots: progress.slots,
            last_game_id: progress.last_game_id,
            forecast: forecast.map(|Forecast { left_us, low_us, high_us }| v1::Forecast {
                left_us,
                low_us,
                high_us,
            }),
        }
    }
}

/// Parses an experiment's progress. The forecast follows from the other fields.
///
/// # Errors
/// The first field that is malformed.
pub fn progress_from_wire(progress: v1::GetProgressResponse) -> Result<Progress, WireError> {
    let missing = |field: &str| WireError::new(field, Fault::Missing);
    let wire = progress.backlog.ok_or_else(|| missing("backlog"))?;
    let spread = progress.spread.ok_or_else(|| missing("spread"))?;
    Ok(Progress {
        state: state(&progress.state)?,
        cells: number("cells", progress.cells)?,
        cells_settled: number("cells_settled", progress.cells_settled)?,
        stop_rule: progress.stop_rule,
        cells_stopped: number("cells_stopped", progress.cells_stopped)?,
        games_planned: number("games_planned", progress.games_planned)?,
        games_settled: number("games_settled", progress.games_settled)?,
        games_failed: number("games_failed", progress.games_failed)?,
        forfeits: read_all::<_, PlayerForfeits>("forfeits", progress.forfeits)?,
        stopped_for: progress.stopped_for,
        networks: number("networks", progress.networks)?,
        networks_settled: number("networks_settled", progress.networks_settled)?,
        wall_us: finite("wall_us", progress.wall_us)?,
        backlog: backlog(&wire).map_err(|error| error.within("backlog"))?,
        spread: GameSpread {
            squares: finite("spread.squares", spread.squares)?,
            weight: finite("spread.weight", spread.weight)?,
        },
        slots: number("slots", progress.slots)?,
        last_game_id: match progress.last_game_id {
            game_id @ 0.. => game_id,
            game_id => return Err(WireError::new("last_game_id", Fault::Negative(game_id))),
        },
    })
}

fn backlog(wire: &v1::Backlog) -> Result<Backlog, WireError> {
    Ok(Backlog {
        games_left: number("games_left", wire.games_left)?,
        unseen_games_left: number("unseen_games_left", wire.unseen_games_left)?,
        seen_us: finite("seen_us", wire.seen_us)?,
        seen_squares: finite("seen_squares", wire.seen_squares)?,
        longest_us: finite("longest_us", wire.longest_us)?,
        seen_cells: number("seen_cells", wire.seen_cells)?,
        means_us: finite("means_us", wire.means_us)?,
        mean_squares: finite("mean_squares", wire.mean_squares)?,
    })
}
