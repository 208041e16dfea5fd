//! Random times by phase.

use proptest::collection::vec;
use proptest::prelude::*;
use spelrum_answers::{CellPhases, PhaseMoves, PhaseTimes, PhaseUnit, Phases};
use spelrum_model::CellId;

use super::{count, experiment, figure, id, name, place};

fn phase_moves() -> impl Strategy<Value = PhaseMoves> {
    prop_oneof![
        Just(PhaseMoves::default()),
        (count(), figure())
            .prop_map(|(searched_moves, wall_us_mean)| PhaseMoves { searched_moves, wall_us_mean }),
    ]
}

fn cell_phases(axes: usize) -> impl Strategy<Value = CellPhases> {
    let times = (any::<u32>(), [phase_moves(), phase_moves()]);
    let times = times.prop_map(|(phase, players)| PhaseTimes { phase, players });
    (id(), place(axes), [name(), name()], vec(times, 0..3)).prop_map(
        |(id, axes, [player, opponent], phases)| CellPhases {
            cell: CellId(id),
            axes,
            player,
            opponent,
            phases,
        },
    )
}

pub(crate) fn phases() -> impl Strategy<Value = Phases> {
    let first = (experiment(), vec(name(), 0..3), any::<[bool; 2]>());
    first.prop_flat_map(|(experiment, axes, [counts_cells, moves_recorded])| {
        vec(cell_phases(axes.len()), 0..4).prop_map(move |cells| Phases {
            experiment: experiment.clone(),
            axes: axes.clone(),
            unit: if counts_cells { PhaseUnit::EmptyCells } else { PhaseUnit::Plies },
            moves_recorded,
            cells,
        })
    })
}
