//! Random overviews of how games were played.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use spelrum_answers::{
    CellGames, CpuQuota, Lengths, Machine, Measure, Overview, WorkerEffects, WorkerShare,
};
use spelrum_model::labels::Label;
use spelrum_model::{CellId, WorkerId};
use spelrum_statistics::{BetweenWorkers, Interval, WorkerEffect};

use super::{count, experiment, figure, id, name, place};

fn machine() -> impl Strategy<Value = Machine> {
    let quota = option::of([1..=u64::MAX, 1..=u64::MAX]);
    let numbers = (option::of(1..=u32::MAX), option::of(any::<u32>()), quota);
    ([name(), name(), name(), name(), name()], numbers).prop_map(|(texts, numbers)| {
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
    let numbers = (any::<[u32; 2]>(), [count(), count()], figure());
    (id(), [name(), name(), name()], machine(), numbers).prop_map(
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
    let workers = vec((id(), figure(), figure()), 0..4);
    let numbers = ([0.0..1.0, 1.0..2.0, 2.0..1e9], 0.0..1e9, 0.0..=1.0, count());
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
        id(),
        place(axes),
        [name(), name()],
        btree_map(any::<u32>(), count(), 0..4),
        btree_map(name(), count(), 0..4),
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

pub(crate) fn overview() -> impl Strategy<Value = Overview> {
    (experiment(), vec(name(), 0..3)).prop_flat_map(|(experiment, axes)| {
        (vec(worker(), 0..4), vec(effects(), 0..3), vec(cell(axes.len()), 0..4)).prop_map(
            move |(workers, worker_effects, cells)| {
                let axes = axes.clone();
                let experiment = experiment.clone();
                Overview { experiment, axes, workers, worker_effects, cells }
            },
        )
    })
}
