//! External engines that played, recomputed from the games.

use std::collections::{BTreeMap, BTreeSet};

use spelrum_answers::{
    EnginesUsed, ForfeitKind, MIXED_CELLS_MAX, MixedCell, PlayerForfeits, UsedEngine,
    forfeits_by_player,
};
use spelrum_engine::Outcome;
use spelrum_model::CellId;
use spelrum_model::builds::without_build;
use spelrum_model::engines::{EngineIdentity, Forfeit};

use super::{Cell, Settled, State};

impl Settled {
    /// The external engines that played, and how one of them forfeited the game.
    pub(super) fn engines(&self) -> ([Option<EngineIdentity>; 2], Option<Forfeit>) {
        match self {
            Self::Played { game, .. } => (game.engines.clone(), game.forfeit.clone()),
            Self::Failed { .. } => ([None, None], None),
        }
    }
}

impl State {
    /// The external engines that played counted games of these cells.
    pub(super) fn engines_used(&self, cells: &[(CellId, &Cell)]) -> EnginesUsed {
        // By player and program: cells and games.
        type Played = (BTreeSet<CellId>, BTreeSet<i64>);
        let mut used: BTreeMap<(&str, &EngineIdentity, Option<String>), Played> = BTreeMap::new();
        let mut mixed = Vec::new();
        for &(id, cell) in cells {
            let mut programs: [BTreeSet<&EngineIdentity>; 2] = Default::default();
            for (game_id, game) in self.counted_of(id) {
                let moves_first = cell.first_player_moves_first(game.game.number);
                for (side, engine) in game.engines.iter().enumerate() {
                    let Some(engine) = engine else { continue };
                    let player = usize::from((side == 0) != moves_first);
                    let (_, build) = without_build(&cell.players[player]);
                    let key = (&*cell.player_names[player], engine, build.map(ToOwned::to_owned));
                    let (cells, games) = used.entry(key).or_default();
                    cells.insert(id);
                    games.insert(game_id);
                    // A player that meets itself is one player.
                    let is_one = cell.players[0] == cell.players[1];
                    programs[if is_one { 0 } else { player }].insert(engine);
                }
            }
            let several = (0..2).filter(|player| programs[*player].len() > 1);
            mixed.extend(several.map(|player| MixedCell {
                cell: id,
                player: cell.player_names[player].clone(),
                programs: programs[player].len() as u64,
            }));
        }
        mixed.truncate(MIXED_CELLS_MAX);
        let engines =
            used.into_iter().map(|((player, engine, build), (cells, games))| UsedEngine {
                player: player.to_owned(),
                engine: engine.clone(),
                build,
                cells: cells.len() as u64,
                games: games.len() as u64,
            });
        EnginesUsed { engines: engines.collect(), mixed, forfeits: self.forfeits(cells) }
    }

    /// Counted games of these cells that players forfeited.
    pub(super) fn forfeits(&self, cells: &[(CellId, &Cell)]) -> Vec<PlayerForfeits> {
        let mut counts = Vec::new();
        for &(id, cell) in cells {
            for (_, game) in self.counted_of(id) {
                let Some(kind) = ForfeitKind::from_termination(game.record.termination) else {
                    continue;
                };
                let moves_first = cell.first_player_moves_first(game.game.number);
                let lost_first = game.record.outcome != Outcome::Win;
                let player = usize::from(lost_first != moves_first);
                counts.push((cell.player_names[player].clone(), kind, 1));
            }
        }
        let games_of = |player: &str| {
            let its = cells
                .iter()
                .filter(|(_, cell)| cell.player_names.iter().any(|name| name == player));
            its.map(|(id, _)| self.counted_of(*id).len() as u64).sum()
        };
        forfeits_by_player(counts, games_of)
    }
}
