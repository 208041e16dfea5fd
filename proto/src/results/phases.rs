//! Times of moves by phase of the game.

use spelrum_answers::{CellPhases, PhaseMoves, PhaseTimes, PhaseUnit, Phases};
use spelrum_model::CellId;

use super::report::{places_from_wire, places_to_wire};
use super::status::read_all;
use crate::wire_error::{finite, id, in_range, number};
use crate::{Fault, WireError, v1};

impl From<CellPhases> for v1::CellPhases {
    /// Includes derived figures, for clients that do not compute them.
    fn from(cell: CellPhases) -> Self {
        let standardised = cell.standardised().map(|times| v1::StandardisedTimes {
            player_wall_us: times.wall_us[0],
            opponent_wall_us: times.wall_us[1],
            ratio: times.ratio(),
            moves_share: times.moves_share,
        });
        Self {
            cell_id: cell.cell.0,
            axes: places_to_wire(cell.axes),
            player: cell.player,
            opponent: cell.opponent,
            phases: cell.phases.into_iter().map(Into::into).collect(),
            standardised,
        }
    }
}

impl TryFrom<v1::CellPhases> for CellPhases {
    type Error = WireError;

    fn try_from(cell: v1::CellPhases) -> Result<Self, WireError> {
        Ok(Self {
            cell: CellId(id("cell_id", cell.cell_id)?),
            axes: places_from_wire(cell.axes),
            player: cell.player,
            opponent: cell.opponent,
            phases: read_all("phases", cell.phases)?,
        })
    }
}

impl From<PhaseTimes> for v1::PhaseTimes {
    fn from(PhaseTimes { phase, players }: PhaseTimes) -> Self {
        let [player, opponent] = players.map(|moves| {
            let PhaseMoves { searched_moves, wall_us_mean } = moves;
            (searched_moves > 0).then_some(v1::PhaseMoves { searched_moves, wall_us_mean })
        });
        Self { phase, player, opponent }
    }
}

impl TryFrom<v1::PhaseTimes> for PhaseTimes {
    type Error = WireError;

    fn try_from(times: v1::PhaseTimes) -> Result<Self, WireError> {
        let moves = |moves: Option<v1::PhaseMoves>| {
            let Some(v1::PhaseMoves { searched_moves, wall_us_mean }) = moves else {
                return Ok(PhaseMoves::default());
            };
            Ok(PhaseMoves {
                searched_moves: number("searched_moves", searched_moves)?,
                wall_us_mean: finite("wall_us_mean", wall_us_mean)?,
            })
        };
        Ok(Self { phase: times.phase, players: [moves(times.player)?, moves(times.opponent)?] })
    }
}

/// Assembles times by phase from their parts.
#[derive(Debug, Default)]
pub struct PhasesReader {
    phases: Option<Phases>,
}

impl PhasesReader {
    /// Adds the next part.
    ///
    /// # Errors
    /// The first field that is malformed.
    pub fn take(&mut self, part: v1::GetPhasesResponse) -> Result<(), WireError> {
        let v1::GetPhasesResponse { experiment, axes, unit, moves_recorded, cells } = part;
        let phases = match (&mut self.phases, experiment) {
            (Some(phases), _) => phases,
            (none @ None, Some(experiment)) => none.insert(Phases {
                experiment: experiment
                    .try_into()
                    .map_err(|error: WireError| error.within("experiment"))?,
                axes,
                unit: PhaseUnit::named(&unit)
                    .ok_or_else(|| WireError::new("unit", Fault::UnknownWord(unit)))?,
                moves_recorded,
                cells: Vec::new(),
            }),
            (None, None) => return Err(WireError::new("experiment", Fault::Missing)),
        };
        let axes = phases.axes.len() as u64;
        let cells: Vec<CellPhases> = read_all("cells", cells)?;
        for cell in &cells {
            in_range("cells.axes", cell.axes.len() as u64, axes, axes)?;
        }
        phases.cells.extend(cells);
        Ok(())
    }

    /// The times, after the last part.
    ///
    /// # Errors
    /// If there was no part.
    pub fn finish(self) -> Result<Phases, WireError> {
        self.phases.ok_or_else(|| WireError::new("experiment", Fault::Missing))
    }
}
