//! Random reports.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use spelrum_answers::{CellAccuracy, EnginesUsed, PlayedOn, Report};
use spelrum_model::CellId;
use spelrum_statistics::choice::{Accuracy, Estimate, WinsKept};
use spelrum_statistics::{Interval, ScoreInterval};

use super::cells::cell;
use super::comparisons::replicated;
use super::costs::move_cost;
use super::engines::{mixed_cell, player_forfeits, used_engine};
use super::games::{disturbed, replayed, scaled};
use super::runs::run;
use super::stated::claim;
use super::{count, experiment, figure, id, name};

pub(crate) fn report() -> impl Strategy<Value = Report> {
    vec(name(), 0..3).prop_flat_map(|axes| {
        let costs = || vec(move_cost(axes.len()), 0..3);
        let first_mover = option::of([figure(), figure(), figure()]);
        let cells = vec(cell(axes.len()), 0..3);
        let asked = (name(), option::of(any::<u32>()));
        let used = (vec(used_engine(), 0..3), vec(player_forfeits(), 0..3));
        let replicated = option::of(replicated());
        let engines = (used, vec(mixed_cell(), 0..3), vec(run(), 0..3), replicated);
        let played_on = option::of([count(), count(), count()]);
        let again = (vec(replayed(), 0..3), vec(disturbed(), 0..3), scaled(), played_on);
        let rest = (again, vec(claim(), 0..3), asked, vec(accuracy(), 0..3), engines);
        (experiment(), cells, costs(), costs(), rest, Just(axes), first_mover).prop_map(
            |(experiment, cells, moves, depths, rest, axes, first_mover)| {
                let (again, claims, asked, accuracy, (used, mixed, runs, replicated)) = rest;
                let (engines, forfeits) = used;
                let (replayed, disturbed, scaled, played_on) = again;
                Report {
                    experiment,
                    description: asked.0,
                    engine_revision: asked.1,
                    axes,
                    first_mover: first_mover.map(|[score, low, high]| ScoreInterval {
                        score,
                        low,
                        high,
                    }),
                    cells,
                    moves,
                    depths,
                    accuracy,
                    replayed,
                    disturbed,
                    scaled,
                    played_on: played_on.map(|[quiet, others, unknown]| PlayedOn {
                        quiet,
                        others,
                        unknown,
                    }),
                    claims,
                    engines: EnginesUsed { engines, mixed, forfeits },
                    runs,
                    replicated,
                    equal_within: None,
                }
            },
        )
    })
}

prop_compose! {
    fn figure_with_interval()(
        value in figure(),
        bounds in option::of([figure(), figure()]),
    ) -> Estimate {
        let interval = bounds.map(|[low, high]| Interval { value, low, high });
        Estimate { value, interval }
    }
}

prop_compose! {
    fn wins_kept()(
        positions in count(),
        share in figure_with_interval(),
        random in figure(),
        skill in figure_with_interval(),
    ) -> WinsKept {
        WinsKept { positions, share, random, skill }
    }
}

prop_compose! {
    fn accuracy()(
        cell in id(),
        reference in name(),
        plies in option::of(any::<u32>()),
        positions in count(),
        measured in [figure_with_interval(), figure_with_interval(), figure_with_interval()],
        random in [figure(), figure(), figure()],
        skills in [figure_with_interval(), figure_with_interval(), figure_with_interval()],
        wins in option::of(wins_kept()),
    ) -> CellAccuracy {
        let [best, rank, loss] = measured;
        let [random_best, random_rank, random_loss] = random;
        let [best_skill, rank_skill, loss_skill] = skills;
        let accuracy = Accuracy {
            positions, best, rank, loss, random_best, random_rank, random_loss, best_skill,
            rank_skill, loss_skill, wins,
        };
        CellAccuracy { cell: CellId(cell), reference, plies, accuracy }
    }
}
