//! The external engines among the players of an experiment.

use spelrum_answers::{MixedCell, PlayerForfeits, UsedEngine};
use spelrum_model::CellId;

use crate::engines::{identity_from_wire, identity_to_wire};
use crate::wire_error::{id, number};
use crate::{Fault, WireError, v1};

impl From<UsedEngine> for v1::UsedEngine {
    fn from(UsedEngine { player, engine, build, cells, games }: UsedEngine) -> Self {
        Self { player, engine: Some(identity_to_wire(engine)), cells, games, build }
    }
}

impl TryFrom<v1::UsedEngine> for UsedEngine {
    type Error = WireError;

    fn try_from(used: v1::UsedEngine) -> Result<Self, WireError> {
        let engine = used.engine.ok_or_else(|| WireError::new("engine", Fault::Missing))?;
        Ok(Self {
            player: used.player,
            engine: identity_from_wire(&engine).map_err(|error| error.within("engine"))?,
            cells: number("cells", used.cells)?,
            games: number("games", used.games)?,
            build: used.build,
        })
    }
}

impl From<MixedCell> for v1::MixedCell {
    fn from(MixedCell { cell, player, programs }: MixedCell) -> Self {
        Self { cell_id: cell.0, player, programs }
    }
}

impl TryFrom<v1::MixedCell> for MixedCell {
    type Error = WireError;

    fn try_from(mixed: v1::MixedCell) -> Result<Self, WireError> {
        let cell = CellId(id("cell_id", mixed.cell_id)?);
        Ok(Self { cell, player: mixed.player, programs: number("programs", mixed.programs)? })
    }
}

impl From<PlayerForfeits> for v1::PlayerForfeits {
    fn from(PlayerForfeits { player, games, by_kind }: PlayerForfeits) -> Self {
        let [crashes, time_forfeits, stalls, illegal_moves] = by_kind;
        Self { player, games, crashes, time_forfeits, stalls, illegal_moves }
    }
}

impl TryFrom<v1::PlayerForfeits> for PlayerForfeits {
    type Error = WireError;

    fn try_from(forfeits: v1::PlayerForfeits) -> Result<Self, WireError> {
        Ok(Self {
            player: forfeits.player,
            games: number("games", forfeits.games)?,
            by_kind: [
                number("crashes", forfeits.crashes)?,
                number("time_forfeits", forfeits.time_forfeits)?,
                number("stalls", forfeits.stalls)?,
                number("illegal_moves", forfeits.illegal_moves)?,
            ],
        })
    }
}
