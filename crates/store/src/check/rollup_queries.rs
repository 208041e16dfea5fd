//! The rollups, and the plain SQL over `games` and `moves` that recounts each of them. `counting` counts the same
//! columns.

use sqlx::{AssertSqlSafe, SqliteConnection};

use crate::check::difference::{DIFFERENCES_MAX, Difference};
use crate::error::StoreError;

/// A rollup: its table, its key, its columns, and a query that recounts all of them.
pub(crate) struct Rollup {
    pub(crate) table: &'static str,
    /// The stored rows: the table, or the part of it that can be recounted.
    stored: &'static str,
    pub(crate) key: &'static [&'static str],
    pub(crate) integers: &'static [&'static str],
    /// Columns compared up to rounding: sums of reals depend on their order.
    pub(crate) reals: &'static [&'static str],
    /// The rows of the table that the recount covers.
    only: &'static str,
    recount: &'static str,
}

impl Rollup {
    /// Merges the table's rows with the recounted ones by key, and returns the keys where the two differ: one pass
    /// over both and one sort, whatever the indexes.
    pub(crate) async fn recount(
        &self,
        connection: &mut SqliteConnection,
    ) -> Result<Vec<Difference>, StoreError> {
        let Self { stored: rows, recount, only, .. } = self;
        let columns: Vec<&str> = self.integers.iter().chain(self.reals).copied().collect();
        let key = self.key.join(", ");
        let sums = |origin: &str, prefix: &str| -> Vec<String> {
            let sum = |column: &&str| {
                format!("max(CASE origin WHEN {origin} THEN {column} END) AS {prefix}_{column}")
            };
            columns.iter().map(sum).collect()
        };
        let show = |prefix: &str| {
            let shown =
                |column: &&str| format!("'{column} ' || coalesce({prefix}_{column}, 'NULL')");
            let parts: Vec<String> = columns.iter().map(shown).collect();
            format!("CASE {prefix}_rows WHEN 0 THEN NULL ELSE {} END", parts.join(" || ', ' || "))
        };
        let shown_key: Vec<String> =
            self.key.iter().map(|column| format!("'{column} ' || {column}")).collect();
        let mut same = vec!["s_rows = 1".to_owned(), "c_rows = 1".to_owned()];
        same.extend(self.integers.iter().map(|column| format!("s_{column} IS c_{column}")));
        same.extend(self.reals.iter().map(|column| {
            format!("abs(s_{column} - c_{column}) <= 1e-9 * max(abs(s_{column}), abs(c_{column}))")
        }));
        // All of this text is our own.
        let sql = format!(
            "SELECT {shown_key}, {shown_stored}, {shown_counted}
            FROM (
                SELECT {key}, sum(origin) AS s_rows, sum(1 - origin) AS c_rows, {stored}, {counted}
                FROM (
                    SELECT 1 AS origin, {key}, {columns} FROM {rows} WHERE {only}
                    UNION ALL
                    SELECT 0, {key}, {columns} FROM ({recount}) WHERE {only})
                GROUP BY {key})
            WHERE NOT coalesce({same}, 0) AND {first_key} NOT IN ({gone})
            ORDER BY {key} LIMIT {DIFFERENCES_MAX}",
            shown_key = shown_key.join(" || ', ' || "),
            shown_stored = show("s"),
            shown_counted = show("c"),
            stored = sums("1", "s").join(", "),
            counted = sums("0", "c").join(", "),
            columns = columns.join(", "),
            same = same.join(" AND "),
            first_key = self.key[0],
            gone = self.gone(),
        );
        let found: Vec<(String, Option<String>, Option<String>)> =
            sqlx::query_as(AssertSqlSafe(sql)).fetch_all(connection).await?;
        let found = found.into_iter().map(|(key, stored, counted)| Difference {
            table: self.table,
            key,
            stored,
            counted,
        });
        Ok(found.collect())
    }

    /// The first columns of keys whose rows are disappearing step by step with a removed experiment, or with a
    /// worker's discarded results.
    fn gone(&self) -> &'static str {
        match self.key[0] {
            "experiment_id" => {
                "SELECT experiment_id FROM removals
                WHERE what = 'everything' AND experiment_id IS NOT NULL
                UNION ALL
                SELECT r.experiment_id FROM exclusions AS x
                JOIN worker_results AS r ON r.worker_id = x.worker_id
                WHERE x.done_unix_us IS NULL"
            }
            "game_id" => {
                "SELECT g.game_id FROM removals AS x
                JOIN cells AS c ON c.experiment_id = x.experiment_id
                JOIN games AS g ON g.cell_id = c.cell_id WHERE x.what = 'everything'"
            }
            _ => {
                "SELECT c.cell_id FROM removals AS x
                JOIN cells AS c ON c.experiment_id = x.experiment_id WHERE x.what = 'everything'"
            }
        }
    }
}

/// Every rollup.
pub(crate) const ROLLUPS: &[Rollup] = &[
    Rollup {
        table: "game_sides",
        stored: "game_sides",
        key: &["game_id", "side"],
        integers: &["player_id", "moves", "searched_moves", "wall_us", "cpu_us", "nodes", "evaluations"],
        reals: &["full_tree_leaves", "wall_us_squared"],
        // A game without a ply of one side has no moves to count for that side.
        only: "moves > 0 AND game_id IN (SELECT game_id FROM moves)",
        recount: "SELECT m.game_id, m.side, m.player_id, count(*) AS moves,
                sum(m.ended_by <> 'only_move') AS searched_moves,
                min(9007199254740991, sum(CASE WHEN m.ended_by <> 'only_move' THEN m.wall_us ELSE 0 END)) AS wall_us,
                min(9007199254740991, sum(CASE WHEN m.ended_by <> 'only_move' THEN m.cpu_us ELSE 0 END)) AS cpu_us,
                min(9007199254740991, sum(CASE WHEN m.ended_by <> 'only_move' THEN m.nodes ELSE 0 END)) AS nodes,
                min(9007199254740991, sum(CASE WHEN m.ended_by <> 'only_move' THEN m.evaluations ELSE 0 END)) AS evaluations,
                total(CASE WHEN m.ended_by <> 'only_move' THEN 1.0 * m.full_tree_leaves END) AS full_tree_leaves,
                total(CASE WHEN m.ended_by <> 'only_move' THEN 1.0 * m.wall_us * m.wall_us END) AS wall_us_squared
            FROM moves AS m GROUP BY m.game_id, m.side",
    },
    // Games without moves: no search is in both tables, or in neither.
    Rollup {
        table: "game_depths",
        stored: "(SELECT d.game_id, d.side, sum(d.searched_moves) AS searched_moves,
                sum((SELECT sum(t.value) FROM json_each(d.move_times_json) AS t)) AS timed_moves,
                min(9007199254740991.0, total(d.wall_us)) AS wall_us,
                min(9007199254740991.0, total(d.cpu_us)) AS cpu_us,
                min(9007199254740991.0, total(d.nodes)) AS nodes,
                min(9007199254740991.0, total(d.evaluations)) AS evaluations,
                total(d.full_tree_leaves) AS full_tree_leaves,
                total(d.wall_us_squared) AS wall_us_squared
            FROM game_depths AS d GROUP BY d.game_id, d.side)",
        key: &["game_id", "side"],
        integers: &["searched_moves", "timed_moves"],
        reals: &["wall_us", "cpu_us", "nodes", "evaluations", "full_tree_leaves", "wall_us_squared"],
        only: "true",
        recount: "SELECT game_id, side, searched_moves, searched_moves AS timed_moves,
                1.0 * wall_us AS wall_us, 1.0 * cpu_us AS cpu_us, 1.0 * nodes AS nodes,
                1.0 * evaluations AS evaluations, full_tree_leaves, wall_us_squared
            FROM game_sides
            WHERE searched_moves > 0 AND game_id NOT IN (SELECT game_id FROM moves)",
    },
    Rollup {
        table: "cell_depths",
        stored: "cell_depths",
        key: &["cell_id", "player_id", "depth"],
        integers: &["searched_moves"],
        reals: &["wall_us", "cpu_us", "nodes", "evaluations", "full_tree_leaves", "wall_us_squared"],
        only: "true",
        recount: "SELECT cell_id, player_id, depth, sum(searched_moves) AS searched_moves,
                total(wall_us) AS wall_us, total(cpu_us) AS cpu_us, total(nodes) AS nodes,
                total(evaluations) AS evaluations, total(full_tree_leaves) AS full_tree_leaves,
                total(wall_us_squared) AS wall_us_squared
            FROM (
                SELECT g.cell_id, m.player_id, m.depth, 1 AS searched_moves, m.wall_us, m.cpu_us,
                    m.nodes, m.evaluations, m.full_tree_leaves,
                    1.0 * m.wall_us * m.wall_us AS wall_us_squared
                FROM games AS g JOIN moves AS m ON m.game_id = g.game_id
                WHERE g.counted = 1 AND m.ended_by <> 'only_move'
                UNION ALL
                SELECT g.cell_id, s.player_id, d.depth, d.searched_moves, d.wall_us, d.cpu_us,
                    d.nodes, d.evaluations, d.full_tree_leaves, d.wall_us_squared
                FROM games AS g JOIN game_depths AS d ON d.game_id = g.game_id
                JOIN game_sides AS s ON s.game_id = d.game_id AND s.side = d.side
                WHERE g.counted = 1)
            GROUP BY cell_id, player_id, depth",
    },
    Rollup {
        table: "cell_move_times",
        stored: "cell_move_times",
        key: &["cell_id", "player_id", "depth", "time_bucket_id"],
        integers: &["searched_moves"],
        reals: &[],
        only: "true",
        recount: "SELECT cell_id, player_id, depth, time_bucket_id,
                sum(searched_moves) AS searched_moves
            FROM (
                SELECT g.cell_id, m.player_id, m.depth, (
                    SELECT b.time_bucket_id FROM time_buckets AS b
                    WHERE b.from_us <= m.wall_us ORDER BY b.from_us DESC LIMIT 1
                ) AS time_bucket_id, 1 AS searched_moves
                FROM games AS g JOIN moves AS m ON m.game_id = g.game_id
                WHERE g.counted = 1 AND m.ended_by <> 'only_move'
                UNION ALL
                SELECT g.cell_id, s.player_id, d.depth, CAST(t.key AS INTEGER), t.value
                FROM games AS g JOIN game_depths AS d ON d.game_id = g.game_id
                JOIN game_sides AS s ON s.game_id = d.game_id AND s.side = d.side
                JOIN json_each(d.move_times_json) AS t
                WHERE g.counted = 1)
            GROUP BY cell_id, player_id, depth, time_bucket_id",
    },
    Rollup {
        table: "cell_results",
        stored: "cell_results",
        key: &["cell_id"],
        integers: &[
            "games", "games_failed", "wins", "draws", "losses", "wins_moving_first",
            "draws_moving_first", "losses_moving_first", "pairs_0", "pairs_half", "pairs_1",
            "pairs_1_half", "pairs_2", "pairs_won_by_first_mover", "pairs_won_by_second_mover",
            "distinct_games", "plies", "margin_games", "margin_sum", "margin_squares", "margin_pairs",
            "margin_pairs_sum", "margin_products",
        ],
        reals: &["wall_us"],
        only: "true",
        recount: "SELECT p.*,
                (SELECT count(*) FROM (
                    SELECT DISTINCT d.opening_id, d.moves_hash, d.first_player_id
                    FROM games AS d WHERE d.cell_id = p.cell_id AND d.counted = 1)) AS distinct_games,
                coalesce(q.pairs_0, 0) AS pairs_0, coalesce(q.pairs_half, 0) AS pairs_half,
                coalesce(q.pairs_1, 0) AS pairs_1, coalesce(q.pairs_1_half, 0) AS pairs_1_half,
                coalesce(q.pairs_2, 0) AS pairs_2,
                coalesce(q.pairs_won_by_first_mover, 0) AS pairs_won_by_first_mover,
                coalesce(q.pairs_won_by_second_mover, 0) AS pairs_won_by_second_mover,
                coalesce(q.margin_pairs, 0) AS margin_pairs,
                coalesce(q.margin_pairs_sum, 0) AS margin_pairs_sum,
                coalesce(q.margin_products, 0) AS margin_products
            FROM (
                SELECT cell_id,
                    sum(counted AND margin IS NOT NULL) AS margin_games,
                    sum(CASE WHEN counted AND margin IS NOT NULL THEN own_margin ELSE 0 END) AS margin_sum,
                    sum(CASE WHEN counted AND margin IS NOT NULL THEN margin * margin ELSE 0 END)
                        AS margin_squares,
                    sum(counted) AS games,
                    sum(failure IS NOT NULL AND (stop_number IS NULL OR number < stop_number)) AS games_failed,
                    sum(CASE WHEN counted AND points = 1.0 THEN 1 ELSE 0 END) AS wins,
                    sum(CASE WHEN counted AND points = 0.5 THEN 1 ELSE 0 END) AS draws,
                    sum(CASE WHEN counted AND points = 0.0 THEN 1 ELSE 0 END) AS losses,
                    sum(CASE WHEN counted AND moved_first AND points = 1.0 THEN 1 ELSE 0 END) AS wins_moving_first,
                    sum(CASE WHEN counted AND moved_first AND points = 0.5 THEN 1 ELSE 0 END) AS draws_moving_first,
                    sum(CASE WHEN counted AND moved_first AND points = 0.0 THEN 1 ELSE 0 END) AS losses_moving_first,
                    sum(CASE WHEN counted THEN plies ELSE 0 END) AS plies,
                    total(CASE WHEN counted THEN wall_us END) AS wall_us
                FROM (
                    SELECT *, CASE outcome WHEN 'draw' THEN 0.5
                        WHEN 'win' THEN moved_first * 1.0
                        WHEN 'loss' THEN (1 - moved_first) * 1.0 END AS points,
                        CASE moved_first WHEN 1 THEN margin ELSE -margin END AS own_margin
                    FROM (
                        SELECT g.*, c.stop_number,
                            (g.number % 2 = 0 OR c.swap_sides = 0) AS moved_first
                        FROM games AS g JOIN cells AS c ON c.cell_id = g.cell_id))
                GROUP BY cell_id) AS p
            LEFT JOIN (
                SELECT cell_id, sum(points = 0.0) AS pairs_0, sum(points = 0.5) AS pairs_half,
                    sum(points = 1.0) AS pairs_1, sum(points = 1.5) AS pairs_1_half,
                    sum(points = 2.0) AS pairs_2, sum(first_won = 2) AS pairs_won_by_first_mover,
                    sum(second_won = 2) AS pairs_won_by_second_mover,
                    sum(margins = 2) AS margin_pairs,
                    sum(CASE margins WHEN 2 THEN even_margin - odd_margin ELSE 0 END)
                        AS margin_pairs_sum,
                    sum(CASE margins WHEN 2 THEN -even_margin * odd_margin ELSE 0 END)
                        AS margin_products
                FROM (
                    SELECT g.cell_id, count(g.margin) AS margins,
                        max(CASE g.number % 2 WHEN 0 THEN g.margin END) AS even_margin,
                        max(CASE g.number % 2 WHEN 1 THEN g.margin END) AS odd_margin,
                        sum(g.outcome = 'win') AS first_won,
                        sum(g.outcome = 'loss') AS second_won, sum(CASE g.outcome WHEN 'draw' THEN 0.5
                        WHEN 'win' THEN (g.number % 2 = 0) * 1.0
                        ELSE (g.number % 2 = 1) * 1.0 END) AS points
                    FROM games AS g JOIN cells AS c ON c.cell_id = g.cell_id
                    WHERE g.counted = 1 AND c.swap_sides = 1
                    GROUP BY g.cell_id, g.number / 2 HAVING count(*) = 2)
                GROUP BY cell_id) AS q ON q.cell_id = p.cell_id",
    },
    Rollup {
        table: "cell_openings",
        stored: "cell_openings",
        key: &["cell_id", "opening_number"],
        integers: &[
            "games", "wins", "draws", "losses", "first_mover_half_points", "games_moving_first",
            "half_points_moving_first", "pairs",
            "pairs_half_points", "pairs_won_by_first_mover", "pairs_won_by_second_mover",
            "first_player_searched_games", "second_player_searched_games", "margin_games",
            "margin_sum",
        ],
        reals: &[
            "first_player_wall_us_mean_sum", "second_player_wall_us_mean_sum",
            "first_player_cpu_us_mean_sum", "second_player_cpu_us_mean_sum",
        ],
        only: "true",
        recount: "SELECT cell_id, opening_number, sum(games) AS games, sum(wins) AS wins,
                sum(draws) AS draws, sum(losses) AS losses,
                sum(first_mover_half_points) AS first_mover_half_points,
                sum(games_moving_first) AS games_moving_first,
                sum(half_points_moving_first) AS half_points_moving_first,
                sum(complete) AS pairs, sum(complete * (2 * wins + draws)) AS pairs_half_points,
                sum(complete * (first_won = 2)) AS pairs_won_by_first_mover,
                sum(complete * (first_lost = 2)) AS pairs_won_by_second_mover,
                sum(first_player_searched_games) AS first_player_searched_games,
                sum(second_player_searched_games) AS second_player_searched_games,
                total(first_player_wall_us_mean_sum) AS first_player_wall_us_mean_sum,
                total(second_player_wall_us_mean_sum) AS second_player_wall_us_mean_sum,
                total(first_player_cpu_us_mean_sum) AS first_player_cpu_us_mean_sum,
                total(second_player_cpu_us_mean_sum) AS second_player_cpu_us_mean_sum,
                sum(margin_games) AS margin_games, sum(margin_sum) AS margin_sum
            FROM (
                SELECT cell_id, unit, unit % coalesce(openings_count, 1 << 62) AS opening_number,
                    count(*) AS games,
                    swap_sides = 1 AND count(*) = 2 AS complete,
                    sum(outcome = CASE moved_first WHEN 1 THEN 'win' ELSE 'loss' END) AS wins,
                    sum(outcome = 'draw') AS draws,
                    sum(outcome = CASE moved_first WHEN 1 THEN 'loss' ELSE 'win' END) AS losses,
                    sum(outcome = 'win') AS first_won, sum(outcome = 'loss') AS first_lost,
                    sum(CASE outcome WHEN 'win' THEN 2 WHEN 'draw' THEN 1 ELSE 0 END)
                        AS first_mover_half_points,
                    sum(moved_first) AS games_moving_first,
                    sum(moved_first
                        * CASE outcome WHEN 'win' THEN 2 WHEN 'draw' THEN 1 ELSE 0 END)
                        AS half_points_moving_first,
                    count(CASE moved_first WHEN 1 THEN mean_0 ELSE mean_1 END)
                        AS first_player_searched_games,
                    count(CASE moved_first WHEN 1 THEN mean_1 ELSE mean_0 END)
                        AS second_player_searched_games,
                    total(CASE moved_first WHEN 1 THEN mean_0 ELSE mean_1 END)
                        AS first_player_wall_us_mean_sum,
                    total(CASE moved_first WHEN 1 THEN mean_1 ELSE mean_0 END)
                        AS second_player_wall_us_mean_sum,
                    total(CASE moved_first WHEN 1 THEN cpu_0 ELSE cpu_1 END)
                        AS first_player_cpu_us_mean_sum,
                    total(CASE moved_first WHEN 1 THEN cpu_1 ELSE cpu_0 END)
                        AS second_player_cpu_us_mean_sum,
                    count(margin) AS margin_games,
                    coalesce(sum(CASE moved_first WHEN 1 THEN margin ELSE -margin END), 0)
                        AS margin_sum
                FROM (
                    SELECT g.cell_id, g.outcome, g.margin, c.swap_sides, k.openings_count,
                        g.number / (1 + c.swap_sides) AS unit,
                        g.number % 2 = 0 OR c.swap_sides = 0 AS moved_first,
                        (SELECT 1.0 * s.wall_us / nullif(s.searched_moves, 0) FROM game_sides AS s
                            WHERE s.game_id = g.game_id AND s.side = 0) AS mean_0,
                        (SELECT 1.0 * s.wall_us / nullif(s.searched_moves, 0) FROM game_sides AS s
                            WHERE s.game_id = g.game_id AND s.side = 1) AS mean_1,
                        (SELECT 1.0 * s.cpu_us / nullif(s.searched_moves, 0) FROM game_sides AS s
                            WHERE s.game_id = g.game_id AND s.side = 0) AS cpu_0,
                        (SELECT 1.0 * s.cpu_us / nullif(s.searched_moves, 0) FROM game_sides AS s
                            WHERE s.game_id = g.game_id AND s.side = 1) AS cpu_1
                    FROM games AS g JOIN cells AS c ON c.cell_id = g.cell_id
                    JOIN conditions AS k ON k.conditions_id = c.conditions_id
                    WHERE g.counted = 1)
                GROUP BY cell_id, unit)
            GROUP BY cell_id, opening_number",
    },
    Rollup {
        table: "worker_results",
        stored: "worker_results",
        key: &["experiment_id", "worker_id"],
        integers: &["games", "plies", "first_started_unix_us", "last_started_unix_us"],
        reals: &["wall_us"],
        only: "true",
        // The times when games began cover all played games, whether or not they count.
        recount: "SELECT g.worker_id, c.experiment_id, sum(g.counted) AS games,
                sum(CASE WHEN g.counted THEN g.plies ELSE 0 END) AS plies,
                total(CASE WHEN g.counted THEN g.wall_us END) AS wall_us,
                min(g.started_unix_us) AS first_started_unix_us,
                max(g.started_unix_us) AS last_started_unix_us
            FROM games AS g JOIN cells AS c ON c.cell_id = g.cell_id
            WHERE g.outcome IS NOT NULL GROUP BY g.worker_id, c.experiment_id",
    },
];
