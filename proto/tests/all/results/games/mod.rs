//! Random games and moves.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use spelrum_answers::{
    DisturbedGames, GameResult, GameSummary, Played, ReplayedGames, Scaled, ScaledGames,
};
use spelrum_engine::games::pentago::BOTH_FIVE;
use spelrum_engine::{EndedBy, MoveRecord, Outcome, SearchReport, Side, Termination};
use spelrum_model::GameEnd;
use spelrum_model::speed::Scaling;
use spelrum_model::{CellId, GameId, WorkerId};

use super::{count, id, name};

pub(super) fn mv() -> impl Strategy<Value = MoveRecord> {
    let counts = [count(), count(), count(), count(), count(), count()];
    ("[a-z]{1,8}", any::<bool>(), any::<[u32; 2]>(), counts, option::of(any::<i32>())).prop_map(
        |(mv, is_second, [legal_moves, depth], counts, score)| {
            let [position_key, nodes, evaluations, full_tree_leaves, wall_us, cpu_us] = counts;
            MoveRecord {
                mover: u8::from(is_second),
                mv,
                position_key,
                legal_moves,
                search: SearchReport {
                    depth,
                    nodes,
                    evaluations,
                    full_tree_leaves,
                    score,
                    ended_by: if is_second { EndedBy::Time } else { EndedBy::Proven },
                    told_us: score.map(|score| u64::from(score.unsigned_abs())),
                },
                wall_us,
                cpu_us,
                involuntary_switches: score.map(|score| u64::from(score.unsigned_abs())),
            }
        },
    )
}

pub(super) fn game_summary() -> impl Strategy<Value = GameSummary> {
    let played = (name(), any::<[bool; 2]>(), any::<[u32; 2]>(), count()).prop_map(
        |(opening, [is_first, is_won], [plies, engine_revision], moves_hash)| {
            let margin = i32::try_from(plies % 10_001).unwrap();
            GameResult::Played(Played {
                opening,
                end: GameEnd {
                    first_side: if is_first { Side::First } else { Side::Second },
                    outcome: if is_won { Outcome::Win } else { Outcome::Draw },
                    margin: is_won.then_some(if is_first { margin } else { -margin }),
                    termination: if is_won { BOTH_FIVE } else { Termination::MAX_PLIES },
                    plies,
                    moves_hash,
                },
                engine_revision,
            })
        },
    );
    let result = prop_oneof![played, name().prop_map(GameResult::Failed)];
    let reason = option::of("[a-z]{1,8}");
    let worker = option::of(id().prop_map(WorkerId));
    ([id(), id()], count(), [name(), name()], result, reason, option::of(count()), worker).prop_map(
        |([game_id, cell], number, players, result, not_counted_reason, wall_us, worker)| {
            let game = GameId { cell: CellId(cell), number };
            GameSummary { game_id, game, players, result, not_counted_reason, wall_us, worker }
        },
    )
}

pub(super) fn replayed() -> impl Strategy<Value = ReplayedGames> {
    (id(), count()).prop_map(|(cell, games)| ReplayedGames { cell: CellId(cell), games })
}

pub(super) fn disturbed() -> impl Strategy<Value = DisturbedGames> {
    (id(), count(), count(), -100_000i64..100_000).prop_map(
        |(cell, games, replayed, half_points_before)| {
            let cell = CellId(cell);
            DisturbedGames { cell, games, replayed, half_points_before }
        },
    )
}

pub(super) fn scaled() -> impl Strategy<Value = Scaled> {
    let scaling = (1..1_u64 << 53, 1_000..u32::MAX)
        .prop_map(|(reference, most)| Scaling { reference, factor_max_permille: most });
    let of_cell = (1..1_i64 << 53, count(), count(), any::<u32>(), any::<u32>());
    let games = of_cell.prop_map(|(cell, games, games_at_bound, least, greatest)| ScaledGames {
        cell: CellId(cell),
        games,
        games_at_bound,
        factor_permille_min: least,
        factor_permille_max: greatest,
    });
    (option::of(scaling), vec(games, 0..3)).prop_map(|(scaling, cells)| Scaled { scaling, cells })
}
