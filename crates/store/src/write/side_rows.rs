//! Rows of one game's sums.

use std::sync::LazyLock;

use crate::error::StoreError;
use crate::schema::numbers::{bounded, count};
use crate::write::insert::{Row, Statements, Values};
use crate::write::rollup_sums::{SideDepth, SideSums};

/// A row of `game_sides`.
pub(crate) struct SideRow(pub(crate) i64, i64, i64, i64, i64, i64, i64, i64, i64, f64, f64);

/// The row of a game's side; side 0 moves first.
pub(crate) fn side_row(game: i64, side: usize, player: i64, sums: &SideSums) -> SideRow {
    let &SideSums { moves, sums } = sums;
    SideRow(
        game,
        count(side),
        player,
        moves,
        sums.searched_moves,
        bounded(sums.wall_us),
        bounded(sums.cpu_us),
        bounded(sums.nodes),
        bounded(sums.evaluations),
        sums.full_tree_leaves,
        sums.wall_us_squared,
    )
}

impl Row for SideRow {
    fn statements() -> &'static Statements {
        static STATEMENTS: LazyLock<Statements> = LazyLock::new(|| {
            let columns = "game_id, side, player_id, moves, searched_moves, wall_us, cpu_us, nodes, \
                evaluations, full_tree_leaves, wall_us_squared";
            Statements::new("game_sides", columns)
        });
        &STATEMENTS
    }

    fn add_to(&self, values: &mut Values) {
        let Self(game, side, player, moves, searched, wall_us, cpu_us, nodes, ..) = *self;
        let Self(.., evaluations, leaves, wall_us_squared) = *self;
        values.add(game).add(side).add(player).add(moves).add(searched);
        values.add(wall_us).add(cpu_us).add(nodes).add(evaluations);
        values.add(leaves).add(wall_us_squared);
    }
}

/// A row of `game_depths`.
pub(crate) struct DepthRow(pub(crate) i64, i64, u32, i64, f64, f64, f64, f64, f64, f64, String);

impl Row for DepthRow {
    fn statements() -> &'static Statements {
        static STATEMENTS: LazyLock<Statements> = LazyLock::new(|| {
            let columns = "game_id, side, depth, searched_moves, wall_us, cpu_us, nodes, evaluations, \
                full_tree_leaves, wall_us_squared, move_times_json";
            Statements::new("game_depths", columns)
        });
        &STATEMENTS
    }

    fn add_to(&self, values: &mut Values) {
        let Self(game, side, depth, searched_moves, wall_us, cpu_us, nodes, ..) = *self;
        let Self(.., evaluations, full_tree_leaves, wall_us_squared, ref move_times) = *self;
        values.add(game).add(side).add(depth).add(searched_moves).add(wall_us).add(cpu_us);
        values.add(nodes).add(evaluations).add(full_tree_leaves).add(wall_us_squared);
        values.add(&**move_times);
    }
}

/// The row of a side's searches of one depth.
pub(crate) fn depth_row(
    id: i64,
    (side, depth): (usize, u32),
    searches: &SideDepth,
) -> Result<DepthRow, StoreError> {
    let SideDepth { sums, times } = searches;
    let times = serde_json::to_string(times)
        .map_err(|error| StoreError::Sql(sqlx::Error::Encode(error.into())))?;
    Ok(DepthRow(
        id,
        count(side),
        depth,
        sums.searched_moves,
        sums.wall_us,
        sums.cpu_us,
        sums.nodes,
        sums.evaluations,
        sums.full_tree_leaves,
        sums.wall_us_squared,
        times,
    ))
}
