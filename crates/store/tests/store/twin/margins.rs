//! Margins of wins.

use spelrum_model::PlayedGame;

use super::Cell;

impl Cell {
    /// A game's margin from the first player's view.
    pub(super) fn margin(&self, game: &PlayedGame) -> Option<i64> {
        let margin = i64::from(game.record.margin?);
        Some(if self.first_player_moves_first(game.game.number) { margin } else { -margin })
    }
}
