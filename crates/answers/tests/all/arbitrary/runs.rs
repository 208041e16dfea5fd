//! Random runs of courses.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use spelrum_answers::{Evolution, Relative, RunResult};
use spelrum_model::course::{
    Begun, Behind, Bounds, Confirmed, CourseKind, Estimate as Estimated, Generation, Individual,
    Place, RaceStandings, Runner, Setting, SettingsScore,
};

use super::{axis_value, count, figure, name};

pub(crate) fn course_estimate() -> impl Strategy<Value = Estimated> {
    let bounds = (option::of(axis_value()), option::of(axis_value()))
        .prop_map(|(low, high)| Bounds { low, high });
    (name(), axis_value(), option::of(bounds)).prop_map(|(parameter, value, interval)| Estimated {
        parameter,
        value,
        interval,
    })
}

fn generation() -> impl Strategy<Value = Generation> {
    let counts = (count(), count(), count(), count());
    let fitness = || option::of(figure());
    (counts, fitness(), fitness(), fitness(), fitness(), (figure(), figure())).prop_map(
        |(counts, best, mean, least, sd, (mean_size, mean_depth))| {
            let (individuals, measured, best_individual, distinct) = counts;
            Generation {
                individuals,
                measured,
                best_individual,
                best,
                mean,
                least,
                sd,
                distinct,
                mean_size,
                mean_depth,
            }
        },
    )
}

fn relative() -> impl Strategy<Value = Relative> {
    let texts = (name(), name(), name());
    let counts = (count(), count(), count(), count());
    (texts, counts, vec(count(), 0..3), option::of(figure())).prop_map(
        |((formula, simplified, operator), counts, parents, fitness)| {
            let (generation, index, size, depth) = counts;
            let individual = Individual { formula, simplified, size, depth, operator, parents };
            Relative { generation, index, individual, fitness }
        },
    )
}

fn race() -> impl Strategy<Value = RaceStandings> {
    let behind =
        (figure(), figure(), figure()).prop_map(|(points, low, high)| Behind { points, low, high });
    let numbers = (count(), option::of(figure()), option::of(behind));
    let runner = (name(), numbers, option::of(count()), option::of(name())).prop_map(
        |(player, (games, score, behind), out_after, out_by)| Runner {
            player,
            games,
            score,
            behind,
            out_after,
            out_by,
        },
    );
    (count(), figure(), figure(), option::of(name()), vec(runner, 0..3)).prop_map(
        |(rounds_max, error_rate, within, first, players)| RaceStandings {
            rounds_max,
            error_rate,
            within,
            first,
            players,
        },
    )
}

pub(crate) fn run() -> impl Strategy<Value = RunResult> {
    let kind = proptest::sample::select(CourseKind::ALL.to_vec());
    let place = (name(), axis_value()).prop_map(|(axis, value)| Place { axis, value });
    let start = (name(), axis_value()).prop_map(|(parameter, value)| Setting { parameter, value });
    let begun = (kind, name(), vec(name(), 0..3), vec(place, 0..3), vec(start, 0..3)).prop_map(
        |(kind, player, opponents, axes, start)| Begun { kind, player, opponents, axes, start },
    );
    let score = || {
        (count(), figure(), figure(), figure())
            .prop_map(|(games, score, low, high)| SettingsScore { games, score, low, high })
    };
    let confirmed =
        (score(), option::of(score())).prop_map(|(found, start)| Confirmed { found, start });
    let evolution = (vec(generation(), 0..3), vec(relative(), 0..3))
        .prop_map(|(generations, family)| Evolution { generations, family });
    let results = (
        vec(course_estimate(), 0..3),
        option::of(confirmed),
        option::of(evolution),
        option::of(race()),
    );
    let ended = (any::<bool>(), option::of(name()));
    (count(), begun, count(), results, ended).prop_map(
        |(run, begun, steps, (estimates, confirmed, evolution, race), (ended, player_json))| {
            RunResult {
                run,
                begun,
                steps,
                estimates,
                confirmed,
                ended,
                player_json,
                evolution,
                race,
            }
        },
    )
}
