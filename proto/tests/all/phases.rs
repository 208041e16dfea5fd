//! Times by phase round-trip, and malformed ones are refused.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use spelrum_answers::{CellPhases, ExperimentSummary, PhaseMoves, PhaseTimes, PhaseUnit, Phases};
use spelrum_model::ExperimentState;
use spelrum_model::{CellId, ExperimentId};
use spelrum_proto::limits::NUMBER_MAX;
use spelrum_proto::results::PhasesReader;
use spelrum_proto::v1;

fn experiment() -> ExperimentSummary {
    ExperimentSummary {
        experiment: ExperimentId(1),
        uuid: "00000000-0000-4000-8000-000000000000".to_owned(),
        name: "small".to_owned(),
        game: "pentago".to_owned(),
        task: spelrum_model::Task::Game,
        state: ExperimentState::Finished,
        priority: 0,
        cells: 2,
        games_planned: 300,
        games_settled: 300,
        games_failed: 0,
        submitted_unix_us: 0,
    }
}

fn phase_moves() -> impl Strategy<Value = PhaseMoves> {
    prop_oneof![
        Just(PhaseMoves::default()),
        (1..=NUMBER_MAX, -1e18..1e18)
            .prop_map(|(searched_moves, wall_us_mean)| PhaseMoves { searched_moves, wall_us_mean }),
    ]
}

fn cell_phases(axes: usize) -> impl Strategy<Value = CellPhases> {
    let times = (any::<u32>(), [phase_moves(), phase_moves()]);
    let times = times.prop_map(|(phase, players)| PhaseTimes { phase, players });
    (
        1..1_000_000_i64,
        vec(option::of("[a-zäλ ]{0,8}"), axes),
        ["[a-zäλ ]{0,8}", "[a-zäλ ]{0,8}"],
        vec(times, 0..3),
    )
        .prop_map(|(id, axes, [player, opponent], phases)| CellPhases {
            cell: CellId(id),
            axes,
            player,
            opponent,
            phases,
        })
}

fn phases() -> impl Strategy<Value = Phases> {
    let first = (vec("[a-zäλ ]{0,8}", 0..3), any::<[bool; 2]>());
    first.prop_flat_map(|(axes, [counts_cells, moves_recorded])| {
        vec(cell_phases(axes.len()), 0..4).prop_map(move |cells| Phases {
            experiment: experiment(),
            axes: axes.clone(),
            unit: if counts_cells { PhaseUnit::EmptyCells } else { PhaseUnit::Plies },
            moves_recorded,
            cells,
        })
    })
}

proptest! {
    #[test]
    fn phases_come_back_as_they_went(phases in phases()) {
        let Phases { experiment, axes, unit, moves_recorded, cells } = phases.clone();
        let (experiment, unit) = (Some(experiment.into()), unit.name().to_owned());
        let mut cells: Vec<v1::CellPhases> = cells.into_iter().map(Into::into).collect();
        let later = cells.split_off(cells.len() / 2);
        let mut reader = PhasesReader::default();
        let first = v1::GetPhasesResponse { experiment, axes, unit, moves_recorded, cells };
        reader.take(first).unwrap();
        reader.take(v1::GetPhasesResponse { cells: later, ..Default::default() }).unwrap();
        prop_assert_eq!(reader.finish(), Ok(phases));
    }
}

#[test]
fn malformed_phases_are_refused_by_field() {
    let moves = PhaseMoves { searched_moves: 1, wall_us_mean: 1.0 };
    let phases = vec![PhaseTimes { phase: 3, players: [moves, moves] }];
    let [player, opponent] = ["a", "b"].map(str::to_owned);
    let cell = CellPhases { cell: CellId(1), axes: Vec::new(), player, opponent, phases };
    let refused = |unit: &str, change: &dyn Fn(&mut v1::CellPhases)| {
        let mut cell = v1::CellPhases::from(cell.clone());
        change(&mut cell);
        let experiment = Some(experiment().into());
        let (unit, cells) = (unit.to_owned(), vec![cell]);
        let part = v1::GetPhasesResponse { experiment, unit, cells, ..Default::default() };
        PhasesReader::default().take(part).unwrap_err().field
    };
    assert_eq!(refused("stones", &|_| ()), "unit");
    assert_eq!(refused("plies", &|cell| cell.cell_id = 0), "cells[0].cell_id");
    assert_eq!(refused("plies", &|cell| cell.axes.push(v1::AxisPlace::default())), "cells.axes");
    let nan = |moves: &mut Option<v1::PhaseMoves>| moves.as_mut().unwrap().wall_us_mean = f64::NAN;
    assert_eq!(
        refused("plies", &|cell| nan(&mut cell.phases[0].opponent)),
        "cells[0].phases[0].wall_us_mean"
    );
    assert_eq!(PhasesReader::default().finish().unwrap_err().field, "experiment");
}
