//! Comparisons of cells round-trip, and malformed ones are refused with the field's name (invariants 9, 10).

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use spelrum_answers::{CellDifference as Difference, CellReplicates as Replicates};
use spelrum_answers::{Comparisons, ExperimentSummary};
use spelrum_model::ExperimentState;
use spelrum_model::{CellId, ExperimentId};
use spelrum_proto::limits::NUMBER_MAX;
use spelrum_proto::results::ComparisonsReader;
use spelrum_proto::v1;
use spelrum_statistics::Interval;
use spelrum_statistics::comparisons::{Changed, Contrast, Effect, Effects};

const AXES: usize = 2;

fn name() -> impl Strategy<Value = String> + Clone {
    "[a-zäλ ]{0,8}"
}

fn cell() -> impl Strategy<Value = CellId> + Clone {
    (1..=i64::try_from(NUMBER_MAX).unwrap()).prop_map(CellId)
}

fn count() -> impl Strategy<Value = u64> + Clone {
    0..=NUMBER_MAX
}

fn place() -> impl Strategy<Value = Vec<Option<String>>> {
    vec(option::of(name()), AXES)
}

/// A figure, with bounds or without.
fn figure() -> impl Strategy<Value = (f64, Option<Interval>)> {
    (-1e9..1e9, option::of((-1e9..1e9, -1e9..1e9))).prop_map(|(value, bounds)| {
        (value, bounds.map(|(low, high)| Interval { value, low, high }))
    })
}

fn changed() -> impl Strategy<Value = Changed> {
    prop_oneof![
        (0..AXES, name(), name()).prop_map(|(axis, from, to)| Changed::Axis { axis, from, to }),
        name().prop_map(|from| Changed::Player { from }),
    ]
}

prop_compose! {
    fn difference()(
        cells in [cell(), cell()],
        changed in changed(),
        place in place(),
        names in [name(), name()],
        openings_shared in count(),
        (score, interval) in figure(),
    ) -> Difference {
        let [player, opponent] = names;
        Difference { cells, changed, place, player, opponent, openings_shared, score, interval }
    }
}

prop_compose! {
    fn contrast()(axis in 0..AXES, from in name(), to in name()) -> Contrast {
        Contrast { axis, from, to }
    }
}

prop_compose! {
    fn effect()(contrasts in vec(contrast(), 1..=2), (score, interval) in figure()) -> Effect {
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
    fn replicates()(
        cell in cell(),
        place in place(),
        names in [name(), name()],
        seeds in count(),
        (score, interval) in figure(),
        deviations in [option::of(0.0..1.0), option::of(0.0..1.0)],
    ) -> Replicates {
        let [player, opponent] = names;
        let [deviation, deviation_between] = deviations;
        Replicates {
            cell, place, player, opponent, seeds, score, interval, deviation, deviation_between,
        }
    }
}

fn experiment() -> ExperimentSummary {
    ExperimentSummary {
        experiment: ExperimentId(1),
        uuid: "u".to_owned(),
        name: "depth".to_owned(),
        game: "pentago".to_owned(),
        task: spelrum_model::Task::Game,
        state: ExperimentState::Finished,
        priority: 0,
        cells: 4,
        games_planned: 40,
        games_settled: 40,
        games_failed: 0,
        submitted_unix_us: 1,
    }
}

prop_compose! {
    fn comparisons()(
        axes in vec(name(), AXES),
        differences in vec(difference(), 0..4),
        differences_truncated in any::<bool>(),
        effects in vec(effects(), 0..3),
        replicates in vec(replicates(), 0..3),
    ) -> Comparisons {
        Comparisons {
            experiment: experiment(), axes, differences, differences_truncated, effects, replicates,
        }
    }
}

/// The first message.
fn first(comparisons: &Comparisons) -> v1::GetComparisonsResponse {
    v1::GetComparisonsResponse {
        experiment: Some(comparisons.experiment.clone().into()),
        axes: comparisons.axes.clone(),
        gains_truncated: comparisons.differences_truncated,
        ..Default::default()
    }
}

/// The message after it.
fn second(comparisons: Comparisons) -> v1::GetComparisonsResponse {
    v1::GetComparisonsResponse {
        gains: comparisons.differences.into_iter().map(Into::into).collect(),
        effects: comparisons.effects.into_iter().map(Into::into).collect(),
        replicates: comparisons.replicates.into_iter().map(Into::into).collect(),
        ..Default::default()
    }
}

proptest! {
    #[test]
    fn comparisons_come_back_as_they_went(compared in comparisons()) {
        let mut reader = ComparisonsReader::default();
        reader.take(first(&compared)).unwrap();
        reader.take(second(compared.clone())).unwrap();
        prop_assert_eq!(reader.finish(), Ok(compared));
    }
}

fn good() -> Comparisons {
    let (score, interval) = (0.1, Some(Interval { value: 0.1, low: 0.0, high: 0.2 }));
    let place = vec![Some("1".to_owned()), None];
    let [player, opponent] = ["ab", "ga"].map(str::to_owned);
    let (from, to) = ("1".to_owned(), "2".to_owned());
    Comparisons {
        experiment: experiment(),
        axes: vec!["depth".to_owned(), "limit".to_owned()],
        differences: vec![Difference {
            cells: [CellId(2), CellId(1)],
            changed: Changed::Axis { axis: 1, from: from.clone(), to: to.clone() },
            place: place.clone(),
            player: player.clone(),
            opponent: opponent.clone(),
            openings_shared: 12,
            score,
            interval,
        }],
        differences_truncated: false,
        effects: vec![Effects {
            player: player.clone(),
            opponent: opponent.clone(),
            cells: 4,
            effects: vec![Effect {
                contrasts: vec![Contrast { axis: 0, from, to }],
                score,
                interval,
            }],
            has_interactions: true,
            residual: Some(0.1),
        }],
        replicates: vec![Replicates {
            cell: CellId(1),
            place,
            player,
            opponent,
            seeds: 2,
            score,
            interval,
            deviation: Some(0.1),
            deviation_between: None,
        }],
    }
}

#[test]
fn malformed_comparisons_are_refused_by_field() {
    type Spoil = fn(&mut v1::GetComparisonsResponse);
    let spoils: &[(&str, Spoil)] = &[
        ("gains[0].cell_id", |message| message.gains[0].cell_id = 0),
        ("gains[0].from_cell_id", |message| message.gains[0].from_cell_id = -1),
        ("gains[0].gain", |message| message.gains[0].gain = None),
        ("gains[0].gain", |message| message.gains[0].gain.as_mut().unwrap().value = f64::NAN),
        ("gains[0].gain", |message| {
            message.gains[0].gain.as_mut().unwrap().low = Some(f64::INFINITY)
        }),
        ("gains[0].openings_shared", |message| message.gains[0].openings_shared = 1 << 53),
        ("gains.axes", |message| message.gains[0].axes.clear()),
        ("gains.axis", |message| message.gains[0].axis = Some(2)),
        ("effects[0].cells", |message| message.effects[0].cells = u64::MAX),
        ("effects[0].residual", |message| message.effects[0].residual = Some(f64::NAN)),
        ("effects[0].effects[0].of", |message| message.effects[0].effects[0].of.clear()),
        ("effects[0].effects[0].gain", |message| message.effects[0].effects[0].gain = None),
        ("effects.of.axis", |message| message.effects[0].effects[0].of[0].axis = u32::MAX),
        ("replicates[0].cell_id", |message| message.replicates[0].cell_id = 0),
        ("replicates[0].score", |message| message.replicates[0].score = None),
        ("replicates[0].seeds", |message| message.replicates[0].seeds = u64::MAX),
        ("replicates[0].deviation", |message| message.replicates[0].deviation = Some(f64::NAN)),
        ("replicates.axes", |message| message.replicates[0].axes.push(v1::AxisPlace::default())),
    ];
    let read = |part: v1::GetComparisonsResponse| {
        let mut reader = ComparisonsReader::default();
        reader.take(first(&good())).unwrap();
        reader.take(part)
    };
    assert_eq!(read(second(good())), Ok(()));
    for (expected, spoil) in spoils {
        let mut bad = second(good());
        spoil(&mut bad);
        assert_eq!(read(bad).unwrap_err().field, *expected);
    }
    let mut headless = ComparisonsReader::default();
    assert_eq!(headless.take(second(good())).unwrap_err().field, "experiment");
    assert_eq!(ComparisonsReader::default().finish().unwrap_err().field, "experiment");
}
