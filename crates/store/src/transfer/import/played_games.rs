//! Reads games of the file as engine reports: the referee checks their moves or, where these are not stored, the sums
//! over them.

use spelrum_engine::{GameRecord, Outcome, Side, referee_margin, termination_named};
use spelrum_model::engines::Forfeit;
use spelrum_model::repeat::{SettledResult, SettledSearches};
use spelrum_model::speed::ScaledTime;
use spelrum_model::{CellId, GameId, PlayableCell, PlayedGame};

use super::source::{DepthRow, SideRow, SourceGame, SourcePlayed, SourceResult, SourceSearches};
use crate::write::game_engines::Engines;

/// A valid game of the file.
pub(super) struct ReadGame {
    pub(super) what: Read,
    /// Why it is kept beside the settled games.
    pub(super) reason: Option<&'static str>,
    pub(super) received_unix_us: i64,
}

#[expect(clippy::large_enum_variant, reason = "nearly all of them are the large one")]
pub(super) enum Read {
    /// With the file's id of the worker.
    Whole(i64, PlayedGame),
    /// Without its moves.
    Bare(Box<BareGame>),
    /// A finally failed game, with the reason.
    Failed(GameId, String),
}

impl Read {
    /// The number of the game in its cell.
    pub(super) fn number(&self) -> u64 {
        match self {
            Self::Whole(_, played) => played.game.number,
            Self::Bare(bare) => bare.game.number,
            Self::Failed(game, _) => game.number,
        }
    }

    /// The file's id of the worker that played it.
    pub(super) fn worker(&self) -> Option<i64> {
        match self {
            Self::Whole(worker, _) => Some(*worker),
            Self::Bare(bare) => Some(bare.worker),
            Self::Failed(..) => None,
        }
    }
}

pub(super) struct BareGame {
    pub(super) game: GameId,
    /// The file's id of the worker.
    pub(super) worker: i64,
    /// A record without its moves.
    pub(super) result: SettledResult,
    pub(super) started_unix_us: i64,
    pub(super) wall_us: u64,
    pub(super) sides: Vec<SideRow>,
    pub(super) depths: Vec<DepthRow>,
    /// The external engines that played the game, and how one of them forfeited it.
    pub(super) engines: Engines,
    pub(super) forfeit: Option<Forfeit>,
    /// Share of a player's time lost to other processes.
    pub(super) robbed_share: Option<f64>,
    pub(super) scaled: Option<ScaledTime>,
}

/// Reads a game of the file for a cell here. With `judge`, its moves are replayed by the rules.
pub(super) fn read_game(
    game: SourceGame,
    cell: CellId,
    playable: &PlayableCell,
    judge: bool,
) -> Result<ReadGame, String> {
    let SourceGame { number, what, reason, received_unix_us } = game;
    let id = GameId { cell, number };
    let reason = match reason {
        None => None,
        Some(reason) => Some(reason_named(&reason).ok_or("a reason that nobody gives")?),
    };
    let what = match what {
        SourceResult::Failed(message) => Read::Failed(id, message),
        SourceResult::Played(played) => read_played(id, played, playable, judge, reason.is_none())?,
    };
    Ok(ReadGame { what, reason, received_unix_us })
}

/// The reason for keeping a result beside the settled one, by its stored name.
fn reason_named(name: &str) -> Option<&'static str> {
    const REASONS: [&str; 6] =
        ["repeat", "conflict", "disturbed", "excluded", "verification", "after_cancel"];
    REASONS.into_iter().find(|known| *known == name)
}

fn read_played(
    game: GameId,
    played: SourcePlayed,
    playable: &PlayableCell,
    judge: bool,
    is_settled: bool,
) -> Result<Read, String> {
    let first_side = Side::named(&played.first_side).ok_or("an unknown side")?;
    let outcome = Outcome::named(&played.outcome).ok_or("an unknown outcome")?;
    let termination = termination_named(&played.termination).ok_or("an unknown termination")?;
    let (worker, started_unix_us, wall_us, margin) =
        (played.worker, played.started_unix_us, played.wall_us, played.margin);
    match played.searches {
        SourceSearches::Moves(moves) => {
            if moves.len() as u64 != played.plies {
                return Err(format!("{} moves of {} plies", moves.len(), played.plies));
            }
            let record = GameRecord { outcome, margin, termination, first_side, moves, wall_us };
            let game = PlayedGame {
                game,
                engine_revision: played.engine_revision,
                opening: played.opening,
                record,
                moves_hash: played.moves_hash,
                values: played.values,
                engines: played.engines,
                forfeit: played.forfeit,
                scaled: played.scaled,
                started_unix_us,
            };
            game.check()?;
            playable
                .referee_numbers(game.game.number, &game.record)
                .and_then(|()| game.scaled.map_or(Ok(()), ScaledTime::check_speed))
                .map_err(|irregularity| irregularity.to_string())?;
            if judge {
                if game.record.moves_hash() != game.moves_hash {
                    return Err("its moves_hash is not that of its moves".to_owned());
                }
                playable
                    .referee(game.game.number, &game.opening, &game.record)
                    .and_then(|()| match is_settled {
                        true => playable.referee_values(&game.opening, &game.values),
                        // Move values are kept only for settled choices.
                        false => Ok(()),
                    })
                    .and_then(|()| match is_settled {
                        true => playable.referee_engines(
                            game.game.number,
                            &game.engines,
                            (termination, outcome),
                            game.forfeit.as_ref(),
                        ),
                        // Likewise these, only for settled games.
                        false => Ok(()),
                    })
                    .map_err(|irregularity| irregularity.to_string())?;
            }
            Ok(Read::Whole(worker, game))
        }
        SourceSearches::Sums { sides, depths } => {
            if *playable.derive(game.number).opening != *played.opening {
                return Err("its opening is not that of its number".to_owned());
            }
            let (engines, forfeit, robbed_share, scaled) =
                (played.engines, played.forfeit, played.robbed_share, played.scaled);
            if robbed_share.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
                return Err("a robbed_share that is not a share".to_owned());
            }
            playable
                .referee_loser(game.number, termination, outcome)
                .and_then(|()| {
                    referee_margin(&playable.definition().rules, outcome, termination, margin)
                })
                .and_then(|()| match is_settled {
                    true => playable.referee_engines(
                        game.number,
                        &engines,
                        (termination, outcome),
                        forfeit.as_ref(),
                    ),
                    false => Ok(()),
                })
                .map_err(|irregularity| irregularity.to_string())?;
            check_sums(played.plies, &sides, &depths)?;
            let nodes = sides.iter().map(|side| side.nodes.unsigned_abs()).sum();
            let result = SettledResult {
                is_deterministic: playable.is_deterministic(),
                engine_revision: played.engine_revision,
                opening: played.opening,
                first_side,
                outcome,
                margin,
                termination: termination.name().to_owned(),
                plies: played.plies,
                moves_hash: played.moves_hash,
                searches: SettledSearches::Nodes(nodes),
            };
            Ok(Read::Bare(Box::new(BareGame {
                game,
                worker,
                result,
                started_unix_us,
                wall_us,
                sides,
                depths,
                engines,
                forfeit,
                robbed_share,
                scaled,
            })))
        }
    }
}

/// Checks that the sums over a game agree with each other, as a recount requires.
fn check_sums(plies: u64, sides: &[SideRow], depths: &[DepthRow]) -> Result<(), String> {
    let wrong = || Err("its sums do not agree with each other".to_owned());
    let [first, second] = sides else { return wrong() };
    let safe = |count: i64| (0..1 << 53).contains(&count);
    if [first.side, second.side] != [0, 1]
        || !sides.iter().all(|side| {
            [
                side.moves,
                side.searched_moves,
                side.wall_us,
                side.cpu_us,
                side.nodes,
                side.evaluations,
            ]
            .into_iter()
            .all(safe)
                && side.searched_moves <= side.moves
        })
        || first.moves.unsigned_abs() + second.moves.unsigned_abs() != plies
    {
        return wrong();
    }
    if depths.iter().any(|depth| {
        !(0..=1).contains(&depth.side)
            || depth.searched_moves <= 0
            || depth.times.iter().any(|(bucket, moves)| *bucket > 407 || *moves <= 0)
            || depth.times.values().sum::<i64>() != depth.searched_moves
    }) {
        return wrong();
    }
    for side in sides {
        let its = || depths.iter().filter(|depth| depth.side == side.side);
        let sum = |figure: fn(&DepthRow) -> f64| its().map(figure).sum::<f64>();
        #[expect(clippy::cast_precision_loss, reason = "checked to be below 2^53")]
        let pairs = [
            (side.wall_us as f64, sum(|row| row.wall_us)),
            (side.cpu_us as f64, sum(|row| row.cpu_us)),
            (side.nodes as f64, sum(|row| row.nodes)),
            (side.evaluations as f64, sum(|row| row.evaluations)),
            (side.full_tree_leaves, sum(|row| row.full_tree_leaves)),
            (side.wall_us_squared, sum(|row| row.wall_us_squared)),
        ];
        let agree = |(stored, summed): (f64, f64)| {
            stored.is_finite() && (stored - summed).abs() <= 1e-9 * stored.abs().max(summed.abs())
        };
        if its().map(|row| row.searched_moves).sum::<i64>() != side.searched_moves
            || !pairs.into_iter().all(agree)
        {
            return wrong();
        }
    }
    Ok(())
}
