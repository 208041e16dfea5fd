//! Random answers.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use spelrum_answers::ExperimentSummary;
use spelrum_model::{AxisValue, ExperimentId, ExperimentState, Task};
use spelrum_statistics::Interval;

pub(crate) mod cells;
pub(crate) mod changes;
pub(crate) mod comparisons;
pub(crate) mod costs;
pub(crate) mod engines;
pub(crate) mod games;
pub(crate) mod openings;
pub(crate) mod overview;
pub(crate) mod phases;
pub(crate) mod progress;
pub(crate) mod ratings;
pub(crate) mod report;
pub(crate) mod runs;
pub(crate) mod stated;
pub(crate) mod status;

/// The greatest number that every reader of JSON holds exactly.
const NUMBER_MAX: u64 = (1 << 53) - 1;

pub(crate) fn name() -> impl Strategy<Value = String> + Clone {
    "[a-zäλ ]{0,8}"
}

pub(crate) fn id() -> impl Strategy<Value = i64> + Clone {
    1..=i64::try_from(NUMBER_MAX).unwrap()
}

pub(crate) fn count() -> impl Strategy<Value = u64> + Clone {
    0..=NUMBER_MAX
}

pub(crate) fn figure() -> impl Strategy<Value = f64> + Clone {
    let any = proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO;
    prop_oneof![-1e18..1e18, -1.0..1.0, any]
}

pub(crate) fn state() -> impl Strategy<Value = ExperimentState> {
    proptest::sample::select(vec![
        ExperimentState::Running,
        ExperimentState::Paused,
        ExperimentState::Cancelled,
        ExperimentState::Finished,
    ])
}

prop_compose! {
    pub(crate) fn experiment()(
        names in [name(), name(), name()],
        state in state(),
        task in proptest::sample::select(Task::ALL.to_vec()),
        id in id(),
        counts in [count(), count(), count(), count()],
        priority in any::<i32>(),
        submitted_unix_us in any::<i64>(),
    ) -> ExperimentSummary {
        let [uuid, name, game] = names;
        let [cells, games_planned, games_settled, games_failed] = counts;
        ExperimentSummary {
            experiment: ExperimentId(id), uuid, name, game, task, state, priority, cells, games_planned,
            games_settled, games_failed, submitted_unix_us,
        }
    }
}

pub(crate) fn axis_value() -> impl Strategy<Value = AxisValue> {
    (option::of(figure()), name()).prop_map(|(number, text)| AxisValue { number, text })
}

/// A figure, with bounds or without.
pub(crate) fn figure_and_interval() -> impl Strategy<Value = (f64, Option<Interval>)> {
    (figure(), option::of([figure(), figure()])).prop_map(|(value, bounds)| {
        (value, bounds.map(|[low, high]| Interval { value, low, high }))
    })
}

/// Values on this many axes.
pub(crate) fn place(axes: usize) -> impl Strategy<Value = Vec<Option<String>>> {
    vec(option::of(name()), axes)
}
