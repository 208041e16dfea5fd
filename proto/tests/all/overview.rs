//! Overviews round-trip, and malformed ones are refused.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use spelrum_answers::{
    CellGames, CpuQuota, ExperimentSummary, Lengths, Machine, Measure, Overview, WorkerEffects,
    WorkerShare,
};
use spelrum_model::ExperimentState;
use spelrum_model::labels::Label;
use spelrum_model::{CellId, ExperimentId, WorkerId};
use spelrum_proto::limits::NUMBER_MAX;
use spelrum_proto::results::OverviewReader;
use spelrum_proto::v1;
use spelrum_statistics::{BetweenWorkers, Interval, WorkerEffect};

const TEXT: &str = "[a-zäλ ]{0,8}";

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

fn machine() -> impl Strategy<Value = Machine> {
    let quota = option::of([1..=NUMBER_MAX, 1..=NUMBER_MAX]);
    let numbers = (option::of(1..=u32::MAX), option::of(any::<u32>()), quota);
    ([TEXT, TEXT, TEXT, TEXT, TEXT], numbers).prop_map(|(texts, numbers)| {
        let [cpu_model, operating_system, build_commit, build_profile, cores] = texts;
        let (logical_cores, quiet_slots, quota) = numbers;
        Machine {
            cpu_model,
            logical_cores,
            operating_system,
            build_commit,
            build_profile,
            cores,
            quiet_slots,
            cpu_quota: quota.map(|[quota_us, period_us]| CpuQuota { quota_us, period_us }),
            labels: vec![Label { name: "site".to_owned(), value: "lab2".to_owned() }],
        }
    })
}

fn worker() -> impl Strategy<Value = WorkerShare> {
    let numbers = (any::<[u32; 2]>(), [0..=NUMBER_MAX, 0..=NUMBER_MAX], 0.0..1e18);
    (1..1_000_000_i64, [TEXT, TEXT, TEXT], machine(), numbers).prop_map(
        |(
            id,
            [name, host, version],
            machine,
            ([slots, engine_revision], [games, plies], wall_us),
        )| {
            WorkerShare {
                worker: WorkerId(id),
                name,
                host,
                slots,
                engine_revision,
                version,
                machine,
                games,
                plies,
                wall_us,
            }
        },
    )
}

fn effects() -> impl Strategy<Value = WorkerEffects> {
    let workers = vec((1..1_000_000_i64, -9.0..9.0, 0.0..9.0), 0..4);
    let numbers = ([0.0..1.0, 1.0..2.0, 2.0..1e9], 0.0..1e9, 0.0..=1.0, 0..=NUMBER_MAX);
    (0..3_usize, workers, numbers).prop_map(
        |(measure, workers, ([low, value, high], within, p_value, units))| WorkerEffects {
            measure: Measure::ALL[measure],
            units,
            between: BetweenWorkers {
                deviation: Interval { value, low, high },
                within,
                p_value,
                effects: (0..)
                    .zip(&workers)
                    .map(|(worker, &(_, effect, error))| WorkerEffect { worker, effect, error })
                    .collect(),
            },
            workers: workers.iter().map(|(worker, ..)| WorkerId(*worker)).collect(),
        },
    )
}

fn cell(axes: usize) -> impl Strategy<Value = CellGames> {
    (
        1..1_000_000_i64,
        vec(option::of(TEXT), axes),
        [TEXT, TEXT],
        btree_map(any::<u32>(), 0..=NUMBER_MAX, 0..4),
        btree_map(TEXT, 0..=NUMBER_MAX, 0..4),
    )
        .prop_map(|(id, axes, [player, opponent], lengths, terminations)| CellGames {
            cell: CellId(id),
            axes,
            player,
            opponent,
            lengths: Lengths(lengths),
            terminations,
        })
}

fn overview() -> impl Strategy<Value = Overview> {
    vec(TEXT, 0..3).prop_flat_map(|axes| {
        (vec(worker(), 0..4), vec(effects(), 0..3), vec(cell(axes.len()), 0..4)).prop_map(
            move |(workers, worker_effects, cells)| {
                let axes = axes.clone();
                Overview { experiment: experiment(), axes, workers, worker_effects, cells }
            },
        )
    })
}

proptest! {
    #[test]
    fn an_overview_comes_back_as_it_went(overview in overview()) {
        let Overview { experiment, axes, workers, worker_effects, cells } = overview.clone();
        let mut cells: Vec<v1::CellGames> = cells.into_iter().map(Into::into).collect();
        let later = cells.split_off(cells.len() / 2);
        let workers = workers.into_iter().map(Into::into).collect();
        let first = v1::GetOverviewResponse {
            experiment: Some(experiment.into()),
            axes,
            workers,
            cells,
            worker_effects: worker_effects.into_iter().map(Into::into).collect(),
        };
        let mut reader = OverviewReader::default();
        reader.take(first).unwrap();
        reader.take(v1::GetOverviewResponse { cells: later, ..Default::default() }).unwrap();
        prop_assert_eq!(reader.finish(), Ok(overview));
    }
}

#[test]
fn a_malformed_overview_is_refused_by_field() {
    let refused = |worker: v1::WorkerShare, cell: v1::CellGames| {
        let part = v1::GetOverviewResponse {
            experiment: Some(experiment().into()),
            axes: Vec::new(),
            workers: vec![worker],
            cells: vec![cell],
            worker_effects: Vec::new(),
        };
        OverviewReader::default().take(part).unwrap_err().field
    };
    let worker = || v1::WorkerShare { worker_id: 1, ..Default::default() };
    let cell = || v1::CellGames { cell_id: 1, ..Default::default() };
    let nobody = v1::WorkerShare { worker_id: 0, ..worker() };
    assert_eq!(refused(nobody, cell()), "workers[0].worker_id");
    let endless = v1::WorkerShare { wall_us: f64::INFINITY, ..worker() };
    assert_eq!(refused(endless, cell()), "workers[0].wall_us");
    let many = v1::LengthCount { plies: 9, games: NUMBER_MAX + 1 };
    let many = v1::CellGames { lengths: vec![many], ..cell() };
    assert_eq!(refused(worker(), many), "cells[0].lengths.games");
    let placed = v1::CellGames { axes: vec![v1::AxisPlace::default()], ..cell() };
    assert_eq!(refused(worker(), placed), "cells.axes");
    assert_eq!(OverviewReader::default().finish().unwrap_err().field, "experiment");
}
