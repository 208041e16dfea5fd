//! Games under way that people follow. Their moves are kept in memory only, for as long as they are asked for.
//!
//! Asking for a game makes the coordinator name it in its answers to the heartbeats of the worker that plays it, which then
//! reports its moves. A worker is not trusted: moves of a game that is not followed there, more than a report may have, and
//! moves that are not legal from the game's opening on are dropped.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use spelrum_answers::MoveSoFar;
use spelrum_engine::TextGame;
use spelrum_model::{CellId, GameId, PlayableCell, WorkerId};
use spelrum_proto::limits::{FOLLOWED_MAX, FOLLOWED_MOVES_MAX, MOVE_BYTES_MAX};
use spelrum_proto::{Refusal, v1};

use crate::services::BUSY_RETRY_AFTER;

/// A game is forgotten when it was not asked for during this time: an open page asks each second.
const ASKED_WITHIN: Duration = Duration::from_secs(10);

/// The followed games; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Followed(Arc<Mutex<BTreeMap<GameId, Game>>>);

#[derive(Debug)]
struct Game {
    worker: WorkerId,
    cell: Arc<PlayableCell>,
    asked: Instant,
    moves: Option<Vec<MoveSoFar>>,
}

impl Followed {
    /// Follows a game that this worker plays, and returns its moves if the worker has reported any.
    ///
    /// # Errors
    /// If too many other games are followed.
    pub(crate) fn follow(
        &self,
        game: GameId,
        worker: WorkerId,
        cell: &Arc<PlayableCell>,
        now: Instant,
    ) -> Result<Option<Vec<MoveSoFar>>, Refusal> {
        let mut games = self.current(now);
        // Another worker begins from the opening.
        games.retain(|id, followed| *id != game || followed.worker == worker);
        if games.len() >= FOLLOWED_MAX && !games.contains_key(&game) {
            return Err(Refusal::busy("too many games are followed", BUSY_RETRY_AFTER));
        }
        let cell = || Game { worker, cell: Arc::clone(cell), asked: now, moves: None };
        let followed = games.entry(game).or_insert_with(cell);
        followed.asked = now;
        Ok(followed.moves.clone())
    }

    /// Takes what a worker reports of its games, and returns those of which it should report the moves.
    pub(crate) async fn heartbeat(
        &self,
        worker: WorkerId,
        reported: Vec<v1::GameUnderWay>,
        now: Instant,
    ) -> Vec<v1::GameId> {
        let mut to_check = Vec::new();
        let names = {
            let games = self.current(now);
            for v1::GameUnderWay { cell_id, number, moves } in reported {
                let game = GameId { cell: CellId(cell_id), number };
                let followed = games.get(&game).filter(|followed| followed.worker == worker);
                if let Some(followed) = followed
                    && to_check.len() < FOLLOWED_MAX
                    && !is_known(followed, &moves)
                {
                    to_check.push((game, Arc::clone(&followed.cell), moves));
                }
            }
            let ids = games.iter().filter(|(_, followed)| followed.worker == worker);
            ids.map(|(id, _)| v1::GameId { cell_id: id.cell.0, number: id.number }).collect()
        };
        if !to_check.is_empty() {
            // Some microseconds for a move.
            let check = tokio::task::spawn_blocking(move || {
                let checked = to_check.into_iter().filter_map(|(game, cell, moves)| {
                    Some((game, legal_moves(&cell, game.number, moves)?))
                });
                checked.collect::<Vec<_>>()
            });
            let checked = check.await.unwrap_or_else(|panic| resume_unwind(panic.into_panic()));
            let mut games = self.lock();
            for (game, moves) in checked {
                let followed = games.get_mut(&game).filter(|followed| followed.worker == worker);
                followed.into_iter().for_each(|followed| followed.moves = Some(moves.clone()));
            }
        }
        names
    }

    /// Those that were asked for lately.
    fn current(&self, now: Instant) -> MutexGuard<'_, BTreeMap<GameId, Game>> {
        let mut games = self.lock();
        games.retain(|_, game| now.saturating_duration_since(game.asked) < ASKED_WITHIN);
        games
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<GameId, Game>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a report brings nothing new.
fn is_known(followed: &Game, moves: &[v1::MoveSoFar]) -> bool {
    let known = followed.moves.as_deref();
    known.is_some_and(|known| {
        known.iter().map(|known| &known.mv).eq(moves.iter().map(|mv| &mv.text))
    })
}

/// The position after these moves of a game of this cell.
///
/// # Errors
/// If one of them is not legal.
pub(crate) fn position_after<'m>(
    cell: &PlayableCell,
    number: u64,
    moves: impl IntoIterator<Item = &'m str>,
) -> Option<TextGame> {
    let mut position =
        TextGame::new(&cell.definition().rules, &cell.derive(number).opening).ok()?;
    for mv in moves {
        if mv.len() > MOVE_BYTES_MAX || position.ending().is_some() {
            return None;
        }
        position.play(mv).ok()?;
    }
    Some(position)
}

/// The moves, if they can be those of the game with this number.
fn legal_moves(
    cell: &PlayableCell,
    number: u64,
    moves: Vec<v1::MoveSoFar>,
) -> Option<Vec<MoveSoFar>> {
    if moves.len() > FOLLOWED_MOVES_MAX {
        return None;
    }
    position_after(cell, number, moves.iter().map(|mv| mv.text.as_str()))?;
    let read = |v1::MoveSoFar { text, depth, score }| MoveSoFar { mv: text, depth, score };
    Some(moves.into_iter().map(read).collect())
}

#[cfg(test)]
mod tests;
