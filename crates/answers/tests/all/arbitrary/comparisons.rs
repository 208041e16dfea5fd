//! Random comparisons of cells.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use spelrum_answers::{
    CellCurve, CellDifference as Difference, CellHistory, CellReplicates as Replicates,
    Comparisons, Replicated,
};
use spelrum_model::CellId;
use spelrum_statistics::comparisons::{
    BuildScore, Changed, Contrast, Effect, Effects, Gain, PointOfCurve,
};
use spelrum_statistics::curves::Crossing;

use super::{count, experiment, figure_and_interval, id, name, place};

const AXES: usize = 2;

fn changed() -> impl Strategy<Value = Changed> {
    prop_oneof![
        (0..AXES, name(), name()).prop_map(|(axis, from, to)| Changed::Axis { axis, from, to }),
        name().prop_map(|from| Changed::Player { from }),
    ]
}

prop_compose! {
    fn difference()(
        cells in [id(), id()],
        changed in changed(),
        place in place(AXES),
        names in [name(), name()],
        openings_shared in count(),
        (score, interval) in figure_and_interval(),
    ) -> Difference {
        let [player, opponent] = names;
        Difference { cells: cells.map(CellId), changed, place, player, opponent, openings_shared, score, interval }
    }
}

prop_compose! {
    fn contrast()(axis in 0..AXES, from in name(), to in name()) -> Contrast {
        Contrast { axis, from, to }
    }
}

prop_compose! {
    fn effect()(contrasts in vec(contrast(), 1..=2), (score, interval) in figure_and_interval()) -> Effect {
        Effect { contrasts, score, interval }
    }
}

prop_compose! {
    fn effects()(
        names in [name(), name()],
        cells in count(),
        effects in vec(effect(), 0..3),
        has_interactions in any::<bool>(),
        residual in option::of(0.0..1.0),
    ) -> Effects {
        let [player, opponent] = names;
        Effects { player, opponent, cells, effects, has_interactions, residual }
    }
}

prop_compose! {
    fn point()(
        cell in id(), value in name(), number in 0.0..1e6, score in 0.0..1.0, fitted in [0.0..1.0, 0.0..1.0, 0.0..1.0],
    ) -> PointOfCurve<CellId> {
        let [value_of_curve, low, high] = fitted;
        let fitted = spelrum_statistics::Interval { value: value_of_curve, low, high };
        PointOfCurve { cell: CellId(cell), value, number, score, fitted }
    }
}

prop_compose! {
    fn crossing()(
        at in option::of(0.0..1e6),
        between in vec([0.0..1e6, 0.0..1e6], 0..3),
        open in [any::<bool>(), any::<bool>()],
    ) -> Crossing {
        let [is_open_below, is_open_above] = open;
        Crossing { at, between, is_open_below, is_open_above }
    }
}

prop_compose! {
    fn curve()(
        axis in 0..AXES,
        place in place(AXES),
        names in [name(), name()],
        points in vec(point(), 0..4),
        are in [any::<bool>(), any::<bool>()],
        drawn in vec(point(), 0..4),
        crossing in crossing(),
    ) -> CellCurve {
        let [player, opponent] = names;
        let [is_cut, is_monotone] = are;
        let drawn = drawn.into_iter().map(|point| (point.number, point.fitted)).collect();
        CellCurve { axis, place, player, opponent, points, is_cut, is_monotone, drawn, crossing }
    }
}

prop_compose! {
    fn replicates()(
        cell in id(),
        place in place(AXES),
        names in [name(), name()],
        seeds in count(),
        (score, interval) in figure_and_interval(),
        p_value in option::of(0.0..1.0),
        deviations in [option::of(0.0..1.0), option::of(0.0..1.0)],
    ) -> Replicates {
        let [player, opponent] = names;
        let [deviation, deviation_between] = deviations;
        Replicates {
            cell: CellId(cell), place, player, opponent, seeds, score, interval, p_value, deviation,
            deviation_between,
        }
    }
}

prop_compose! {
    pub(crate) fn replicated()(
        axis in name(),
        axes in [name(), name()],
        groups in vec(replicates(), 0..3),
    ) -> Replicated {
        Replicated { axis, axes: axes.into(), groups }
    }
}

prop_compose! {
    fn build()(
        cell in id(),
        build in option::of("[0-9a-f]{40}"),
        (score, interval) in figure_and_interval(),
        gain in option::of(figure_and_interval()),
        is_clear in any::<bool>(),
    ) -> BuildScore<CellId> {
        let gain = gain.map(|(score, interval)| Gain { score, interval, is_clear });
        BuildScore { cell: CellId(cell), build, score, interval, gain }
    }
}

prop_compose! {
    fn history()(
        place in place(AXES),
        names in [name(), name()],
        builds in vec(build(), 0..3),
    ) -> CellHistory {
        let [player, opponent] = names;
        CellHistory { player, opponent, place, builds }
    }
}

prop_compose! {
    pub(crate) fn comparisons()(
        experiment in experiment(),
        axes in vec(name(), AXES),
        differences in vec(difference(), 0..4),
        differences_truncated in any::<bool>(),
        effects in vec(effects(), 0..3),
        curves in vec(curve(), 0..3),
        curves_truncated in any::<bool>(),
        replicates in vec(replicates(), 0..3),
        histories in vec(history(), 0..3),
    ) -> Comparisons {
        Comparisons {
            experiment, axes, differences, differences_truncated, effects, curves, curves_truncated,
            replicates, histories,
        }
    }
}
