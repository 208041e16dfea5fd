//! Games under way that people follow. Their moves are kept in memory only, for as long as they are asked for.
//!
//! Asking for a game makes the coordinator name it in its answers to the heartbeats of the worker that plays it, which then
//! reports its moves. A worker is not trusted: moves of a game that is not followed there, more than a report may have, and
//! moves that are not legal from the game's opening on are dropped.

use std::collections::{BTreeMap, BTreeSet};
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
pub(crate) struct Followed(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    games: BTreeMap<GameId, Game>,
    /// Workers whose moves are being checked.
    checking: BTreeSet<WorkerId>,
}

#[derive(Debug)]
struct Game {
    worker: WorkerId,
    cell: Arc<PlayableCell>,
    asked: Instant,
    played: Option<Arc<Played>>,
}

/// Moves that are legal from a game's opening on.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) moves: Vec<MoveSoFar>,
    /// The position after them.
    pub(crate) position: TextGame,
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
    ) -> Result<Option<Arc<Played>>, Refusal> {
        let games = &mut self.current(now).games;
        // Another worker begins from the opening.
        games.retain(|id, followed| *id != game || followed.worker == worker);
        if games.len() >= FOLLOWED_MAX && !games.contains_key(&game) {
            return Err(Refusal::busy("too many games are followed", BUSY_RETRY_AFTER));
        }
        let cell = || Game { worker, cell: Arc::clone(cell), asked: now, played: None };
        let followed = games.entry(game).or_insert_with(cell);
        followed.asked = now;
        Ok(followed.played.clone())
    }

    /// Takes what a worker reports of its games, and returns those of which it should report the moves. While an earlier
    /// report of this worker is checked, others are dropped.
    pub(crate) async fn heartbeat(
        &self,
        worker: WorkerId,
        reported: Vec<v1::GameUnderWay>,
        now: Instant,
    ) -> Vec<v1::GameId> {
        let mut to_check = Vec::new();
        let (names, checking) = {
            let mut state = self.current(now);
            for v1::GameUnderWay { cell_id, number, moves } in reported {
                let game = GameId { cell: CellId(cell_id), number };
                let followed = state.games.get(&game).filter(|followed| followed.worker == worker);
                if let Some(followed) = followed
                    && to_check.len() < FOLLOWED_MAX
                    && !is_known(followed, &moves)
                {
                    let (cell, played) = (Arc::clone(&followed.cell), followed.played.clone());
                    to_check.push((game, cell, played, moves));
                }
            }
            let ids = state.games.iter().filter(|(_, followed)| followed.worker == worker);
            let name = |(id, _): (&GameId, _)| v1::GameId { cell_id: id.cell.0, number: id.number };
            let names = ids.map(name).collect();
            let is_checked = !to_check.is_empty() && state.checking.insert(worker);
            (names, is_checked.then(|| Checking { followed: self.clone(), worker }))
        };
        if let Some(checking) = checking {
            // Some microseconds for a move.
            let check = tokio::task::spawn_blocking(move || {
                for (game, cell, played, moves) in to_check {
                    if let Some(played) = legal_moves(&cell, game.number, played.as_deref(), moves)
                    {
                        checking.keep(game, played);
                    }
                }
            });
            check.await.unwrap_or_else(|panic| resume_unwind(panic.into_panic()));
        }
        names
    }

    /// Those that were asked for lately.
    fn current(&self, now: Instant) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        state.games.retain(|_, game| now.saturating_duration_since(game.asked) < ASKED_WITHIN);
        state
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The only check of a worker's moves, until it is dropped.
struct Checking {
    followed: Followed,
    worker: WorkerId,
}

impl Checking {
    fn keep(&self, game: GameId, played: Played) {
        let mut state = self.followed.lock();
        let followed = state.games.get_mut(&game).filter(|game| game.worker == self.worker);
        if let Some(followed) = followed {
            followed.played = Some(Arc::new(played));
        }
    }
}

impl Drop for Checking {
    fn drop(&mut self) {
        self.followed.lock().checking.remove(&self.worker);
    }
}

/// Whether a report brings nothing new.
fn is_known(followed: &Game, moves: &[v1::MoveSoFar]) -> bool {
    let played = followed.played.as_ref();
    played.is_some_and(|played| played.moves.len() == moves.len() && begins(moves, played))
}

/// Whether moves begin with those that are known.
fn begins(moves: &[v1::MoveSoFar], played: &Played) -> bool {
    let known = &played.moves;
    known.len() <= moves.len() && known.iter().zip(moves).all(|(known, mv)| known.mv == mv.text)
}

/// The opening of the game of this cell with this number, if it can be read.
pub(crate) fn opening(cell: &PlayableCell, number: u64) -> Option<TextGame> {
    TextGame::new(&cell.definition().rules, &cell.derive(number).opening).ok()
}

/// The moves, if they can be those of the game with this number, of which these were known before.
fn legal_moves(
    cell: &PlayableCell,
    number: u64,
    known: Option<&Played>,
    moves: Vec<v1::MoveSoFar>,
) -> Option<Played> {
    if moves.len() > FOLLOWED_MOVES_MAX {
        return None;
    }
    let (mut position, checked) = match known.filter(|known| begins(&moves, known)) {
        Some(known) => (known.position.clone(), known.moves.len()),
        None => (opening(cell, number)?, 0),
    };
    for mv in moves.iter().skip(checked).map(|mv| &mv.text) {
        if mv.len() > MOVE_BYTES_MAX {
            return None;
        }
        position.play(mv).ok()?;
    }
    let read = |v1::MoveSoFar { text, depth, score }| MoveSoFar { mv: text, depth, score };
    Some(Played { moves: moves.into_iter().map(read).collect(), position })
}

#[cfg(test)]
mod tests;
