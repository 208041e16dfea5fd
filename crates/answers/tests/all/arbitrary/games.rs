//! Random games and moves.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use spelrum_answers::{
    DisturbedGames, GameCursor, GameResult, GameSummary, GamesPage, Played, ReplayedGames, Scaled,
    ScaledGames, SettledGame, WholeGame, WholeGames,
};
use spelrum_engine::games::pentago::BOTH_FIVE;
use spelrum_engine::{
    EndedBy, MoveRecord, Outcome, Remarks, SearchDetails, SearchReport, Side, Termination,
};
use spelrum_model::GameEnd;
use spelrum_model::speed::Scaling;
use spelrum_model::{CellId, DefinitionHash, GameId, WorkerId};

use super::engines::{forfeit, identity};
use super::{count, id, name};

fn remarks(number: u32) -> Remarks {
    Remarks {
        note: format!("note\n{number}"),
        distribution: [("a".to_owned(), number)].into(),
        refused: number,
        details: SearchDetails {
            seldepth: Some(number),
            pv: "a b".to_owned(),
            ..SearchDetails::default()
        },
    }
}

pub(crate) fn mv() -> impl Strategy<Value = MoveRecord> {
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
                remarks: score.map(|score| Box::new(remarks(score.unsigned_abs()))),
            }
        },
    )
}

pub(crate) fn game_summary() -> impl Strategy<Value = GameSummary> {
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

pub(crate) fn replayed() -> impl Strategy<Value = ReplayedGames> {
    (id(), count()).prop_map(|(cell, games)| ReplayedGames { cell: CellId(cell), games })
}

pub(crate) fn disturbed() -> impl Strategy<Value = DisturbedGames> {
    (id(), count(), count(), -100_000i64..100_000).prop_map(
        |(cell, games, replayed, half_points_before)| {
            let cell = CellId(cell);
            DisturbedGames { cell, games, replayed, half_points_before }
        },
    )
}

pub(crate) fn scaled() -> impl Strategy<Value = Scaled> {
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

pub(crate) fn game_id() -> impl Strategy<Value = GameId> {
    (id(), count()).prop_map(|(cell, number)| GameId { cell: CellId(cell), number })
}

pub(crate) fn game_cursor() -> impl Strategy<Value = GameCursor> {
    (id(), game_id()).prop_map(|(game_id, game)| GameCursor { game_id, game })
}

prop_compose! {
    pub(crate) fn settled_game()(
        summary in game_summary(),
        texts in [name(), name(), name()],
        hash in any::<[u8; 32]>(),
        moves in option::of(vec(mv(), 0..3)),
        engines in [option::of(identity()), option::of(identity())],
        forfeit in option::of(forfeit()),
    ) -> SettledGame {
        let [experiment, experiment_uuid, definition_json] = texts;
        let definition_hash = DefinitionHash(hash);
        SettledGame {
            summary, experiment, experiment_uuid, definition_hash, definition_json, moves, engines,
            forfeit,
        }
    }
}

/// Complete games of few cells, each with its definition.
pub(crate) fn whole_games() -> impl Strategy<Value = WholeGames> {
    let game = (
        settled_game(),
        1..3_i64,
        option::of(name()),
        option::of(any::<i64>()),
        option::of(0.01..100.0),
    );
    let game = game.prop_map(|(mut game, cell, worker_name, started_unix_us, time_factor)| {
        game.summary.game.cell = CellId(cell);
        game.definition_json = format!("{{\"cell\":{cell}}}");
        WholeGame { game, worker_name, started_unix_us, time_factor }
    });
    (vec(game, 0..5), option::of(game_cursor()))
        .prop_map(|(games, next)| WholeGames { games, next })
}

pub(crate) fn games_page() -> impl Strategy<Value = GamesPage> {
    (vec(game_summary(), 0..3), option::of(game_cursor()))
        .prop_map(|(games, next)| GamesPage { games, next })
}
