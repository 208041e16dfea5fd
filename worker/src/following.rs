//! Games that people follow: their moves so far.
//!
//! A slot publishes its game's moves now and then, whether or not people follow it: they may come in the middle of a long
//! move. Nothing else happens on its thread, which waits for no other.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use spelrum_engine::MoveRecord;
use spelrum_model::{CellId, GameId};
use spelrum_proto::limits::{FOLLOWED_MAX, FOLLOWED_MOVES_MAX};
use spelrum_proto::v1;

/// Moves are published after players have thought for this long: games of milliseconds, which no person could follow, are
/// never copied.
const PUBLISH_AFTER_US: u64 = 100_000;

/// The moves of the game that a slot plays.
#[derive(Debug, Default)]
pub(crate) struct MovesSoFar {
    /// Thinking time of the moves that are not published.
    unpublished_us: AtomicU64,
    published: Mutex<Option<v1::GameUnderWay>>,
}

impl MovesSoFar {
    /// Records a new move, the last of these, of the game that the slot plays.
    pub(crate) fn moved(&self, game: GameId, moves: &[MoveRecord]) {
        let last = moves.last().map_or(0, |last| last.wall_us);
        // Only this thread writes it. A first move begins another play, perhaps of the same game.
        let before = if moves.len() > 1 { self.unpublished_us.load(Ordering::Relaxed) } else { 0 };
        let us = before.saturating_add(last);
        self.unpublished_us.store(us, Ordering::Relaxed);
        if us < PUBLISH_AFTER_US {
            return;
        }
        // If it is being read, after the next move: a player's time passes.
        let Ok(mut published) = self.published.try_lock() else { return };
        self.unpublished_us.store(0, Ordering::Relaxed);
        let (cell_id, number) = (game.cell.0, game.number);
        // Not what an earlier play of it came to, which failed.
        let is_same = |published: &&mut v1::GameUnderWay| {
            let known = &published.moves;
            game_of(published) == game
                && known.len() < moves.len()
                && known.iter().zip(moves).all(|(known, record)| *known == so_far(record))
        };
        let published = match published.as_mut().filter(is_same) {
            Some(published) => published,
            None => published.insert(v1::GameUnderWay { cell_id, number, moves: Vec::new() }),
        };
        let known = published.moves.len();
        let new = moves.iter().take(FOLLOWED_MOVES_MAX).skip(known);
        published.moves.extend(new.map(so_far));
    }

    /// The game with its moves as they were published last.
    pub(crate) fn published(&self) -> Option<v1::GameUnderWay> {
        lock(&self.published).clone()
    }

    /// Publishes a game that another process plays.
    pub(crate) fn publish(&self, game: Option<v1::GameUnderWay>) {
        *lock(&self.published) = game;
    }
}

/// The games that people follow.
#[derive(Debug)]
pub(crate) struct Following {
    games: Mutex<Vec<GameId>>,
    slots: Vec<Arc<MovesSoFar>>,
}

impl Following {
    /// No games, of these slots.
    pub(crate) fn new(slots: Vec<Arc<MovesSoFar>>) -> Self {
        Self { games: Mutex::default(), slots }
    }

    /// Replaces the followed games. Returns whether there are any.
    pub(crate) fn follow(&self, games: &[v1::GameId]) -> bool {
        let game = |game: &v1::GameId| GameId { cell: CellId(game.cell_id), number: game.number };
        *lock(&self.games) = games.iter().take(FOLLOWED_MAX).map(game).collect();
        !games.is_empty()
    }

    /// Whether a game is followed.
    pub(crate) fn has(&self, game: GameId) -> bool {
        lock(&self.games).contains(&game)
    }

    /// The followed games that are being played, with their moves.
    pub(crate) fn moves(&self) -> Vec<v1::GameUnderWay> {
        let games = lock(&self.games).clone();
        if games.is_empty() {
            return Vec::new();
        }
        let published = self.slots.iter().filter_map(|slot| slot.published());
        published.filter(|published| games.contains(&game_of(published))).collect()
    }
}

fn so_far(record: &MoveRecord) -> v1::MoveSoFar {
    let MoveRecord { mv, search, .. } = record;
    v1::MoveSoFar { text: mv.clone(), depth: search.depth, score: search.score }
}

fn game_of(game: &v1::GameUnderWay) -> GameId {
    GameId { cell: CellId(game.cell_id), number: game.number }
}

/// A panic elsewhere leaves nothing half done here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use spelrum_engine::Timeless;
    use spelrum_model::{CellDefinition, PlayableCell};

    use super::*;

    const GAME: GameId = GameId { cell: CellId(3), number: 8 };

    /// Moves of a game, each of which took so long.
    fn moves(wall_us: u64) -> Vec<MoveRecord> {
        let definition: CellDefinition = serde_json::from_value(serde_json::json!({
            "format": CellDefinition::FORMAT, "seed": 7, "rules": { "name": "tic-tac-toe" },
            "openings": { "kind": "start" }, "max_plies": null,
            "players": [{ "algorithm": "random" }, { "algorithm": "random" }],
        }))
        .unwrap();
        let cell = PlayableCell::new(definition).unwrap();
        let (_, record) = cell.play(0, None, &Timeless).unwrap();
        let moves = record.moves.into_iter();
        moves.map(|record| MoveRecord { wall_us, ..record }).collect()
    }

    fn published(slot: &MovesSoFar) -> Vec<String> {
        let game = slot.published();
        game.into_iter().flat_map(|game| game.moves).map(|mv| mv.text).collect()
    }

    #[test]
    fn slow_games_are_published_and_fast_ones_are_not() {
        let slot = MovesSoFar::default();
        let slow = moves(PUBLISH_AFTER_US);
        let texts: Vec<_> = slow.iter().map(|record| record.mv.clone()).collect();
        for plies in 1..=slow.len() {
            slot.moved(GAME, &slow[..plies]);
            assert_eq!(published(&slot), texts[..plies]);
        }
        // Played again, or another game.
        slot.moved(GAME, &slow[..2]);
        assert_eq!(published(&slot), texts[..2]);
        slot.moved(GameId { number: 9, ..GAME }, &slow[..4]);
        assert_eq!(published(&slot), texts[..4]);
        let fast = moves(PUBLISH_AFTER_US / 3);
        for plies in 1..=3 {
            slot.moved(GAME, &fast[..plies]);
            assert_eq!(published(&slot), texts[..4], "not yet");
        }
        slot.moved(GAME, &fast[..4]);
        assert_eq!(published(&slot), texts[..4]);
        assert_eq!(slot.published().map(|game| game.number), Some(8), "after 133 ms");
    }

    /// The first failed, and the second chooses other moves.
    #[test]
    fn two_plays_of_a_game_are_not_mixed() {
        let slot = MovesSoFar::default();
        let first = moves(PUBLISH_AFTER_US);
        let mut second = first.clone();
        second[0].mv = "z9".to_owned();
        let texts = |moves: &[MoveRecord]| -> Vec<_> {
            moves.iter().map(|record| record.mv.clone()).collect()
        };
        for known in 1..=first.len() {
            slot.moved(GAME, &first[..known]);
            for plies in 1..=second.len() {
                slot.moved(GAME, &second[..plies]);
                assert_eq!(published(&slot), texts(&second[..plies]));
                slot.moved(GAME, &first[..known]);
                assert_eq!(published(&slot), texts(&first[..known]));
            }
        }
        // Nor are their times.
        let slot = MovesSoFar::default();
        let fast = moves(PUBLISH_AFTER_US / 3);
        for plies in [1, 2, 3, 1, 2, 3] {
            slot.moved(GAME, &fast[..plies]);
            assert_eq!(slot.published(), None);
        }
        slot.moved(GAME, &fast[..4]);
        assert_eq!(published(&slot), texts(&fast[..4]));
    }

    #[test]
    fn only_followed_games_are_reported() {
        let slot = Arc::<MovesSoFar>::default();
        let following = Following::new(vec![Arc::default(), Arc::clone(&slot)]);
        slot.moved(GAME, &moves(PUBLISH_AFTER_US)[..1]);
        assert_eq!(following.moves(), []);
        let named = v1::GameId { cell_id: 3, number: 8 };
        assert!(following.follow(&[v1::GameId { number: 7, ..named }, named]));
        assert!(following.has(GAME));
        let reported = following.moves();
        assert_eq!((reported.len(), reported[0].number, reported[0].moves.len()), (1, 8, 1));
        assert!(!following.follow(&[]) && !following.has(GAME));
        assert_eq!(following.moves(), []);
    }
}
