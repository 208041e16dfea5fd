//! The questions that reports ask, as SQL that [`super::Readers::query`] runs, here or through the
//! `Query` call of a coordinator elsewhere.
//!
//! A query has no parameters. Each of these takes one, the experiment's id, which is an integer
//! and is written into it: see [`Question::of`].

use spelrum_tournament::{CellId, ExperimentId, GameId};

/// A question about one experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The query, with `{experiment_id}` where the id belongs.
    template: &'static str,
}

impl Question {
    /// The query about this experiment.
    #[must_use]
    pub fn of(&self, experiment: ExperimentId) -> String {
        self.template.replace("{experiment_id}", &experiment.to_string())
    }
}

/// All experiments: `experiment_id`, `name`, `uuid`, `game`, `state`, `cells`, `games_planned`,
/// `games_settled`, `games_failed`, `submitted_unix_us`, `results_view`, `times_view`.
pub const EXPERIMENTS: &str = "SELECT p.experiment_id, p.name, p.uuid, p.game, p.state, p.cells, \
     p.games_planned, p.games_settled, p.games_failed, p.submitted_unix_us, e.results_view, \
     e.times_view \
     FROM experiment_progress AS p JOIN experiments AS e ON e.experiment_id = p.experiment_id \
     ORDER BY p.experiment_id";

/// The axes in the file's order: `axis`.
pub const AXES: Question = Question {
    template: "SELECT axis FROM experiment_axes WHERE experiment_id = {experiment_id} \
         ORDER BY number",
};

/// Each cell's place on each axis, in the grid's order: `cell_id`, `axis`, `value_number`,
/// `value_text`.
pub const CELL_AXES: Question = Question {
    template: "SELECT c.cell_id, x.axis, a.value_number, a.value_text \
         FROM cells AS c \
         JOIN experiment_axes AS x ON x.experiment_id = c.experiment_id \
         JOIN cell_axes AS a ON a.cell_id = c.cell_id AND a.axis = x.axis \
         WHERE c.experiment_id = {experiment_id} AND c.in_sweep = 1 \
         ORDER BY c.number, x.number",
};

/// Each cell's result, in the grid's order: `cell_id`, `axes`, `player`, `opponent`,
/// `games_planned`, `games`, `games_failed`, `wins`, `draws`, `losses`, `score`, `score_low`,
/// `score_high`, `pairs`, `pairs_0`, `pairs_half`, `pairs_1`, `pairs_1_half`, `pairs_2`,
/// `distinct_games`, `plies_mean`, `timed`, `swap_sides`.
pub const CELL_RESULTS: Question = Question {
    template: "SELECT cell_id, axes, player, opponent, games_planned, games, games_failed, wins, \
         draws, losses, score, score_low, score_high, pairs, pairs_0, pairs_half, pairs_1, \
         pairs_1_half, pairs_2, distinct_games, plies_mean, timed, swap_sides \
         FROM results WHERE experiment_id = {experiment_id} ORDER BY cell_number",
};

/// Results pooled over the cells that share a value of an axis: `axis`, `value_text`,
/// `value_number`, `player`, `opponent`, `cells`, `games`, `wins`, `draws`, `losses`, `score`,
/// `pairs_0`, `pairs_half`, `pairs_1`, `pairs_1_half`, `pairs_2`.
pub const AXIS_RESULTS: Question = Question {
    template: "SELECT r.axis, r.value_text, r.value_number, r.player, r.opponent, r.cells, \
         r.games, r.wins, r.draws, r.losses, r.score, r.pairs_0, r.pairs_half, r.pairs_1, \
         r.pairs_1_half, r.pairs_2 \
         FROM axis_results AS r \
         JOIN experiment_axes AS x ON x.experiment_id = r.experiment_id AND x.axis = r.axis \
         WHERE r.experiment_id = {experiment_id} \
         ORDER BY x.number, r.value_number, r.value_text, r.player, r.opponent",
};

/// What a searched move cost each player in each cell, in the grid's order: `cell_id`, `axes`,
/// `player`, `searched_moves`, `wall_us_mean`, `wall_us_variance`, `wall_us_median`,
/// `wall_us_p90`, `wall_us_p99`, `cpu_us_mean`, `depth_mean`, `nodes_mean`, `evaluations_mean`,
/// `full_tree_share` (evaluations by the leaves of the full tree), `nodes_per_second`.
pub const TIME_PER_MOVE: Question = Question {
    template: "SELECT t.cell_id, t.axes, t.player, t.searched_moves, t.wall_us_mean, \
         t.wall_us_variance, t.wall_us_median, t.wall_us_p90, t.wall_us_p99, t.cpu_us_mean, \
         t.depth_mean, t.nodes_mean, t.evaluations_mean, t.full_tree_share, t.nodes_per_second \
         FROM time_per_move AS t JOIN cells AS c ON c.cell_id = t.cell_id \
         WHERE t.experiment_id = {experiment_id} \
         ORDER BY c.number, t.player_id <> c.first_player_id",
};

/// The same by the depth that a search completed: `cell_id`, `player`, `depth`, and the columns of
/// [`TIME_PER_MOVE`] from `searched_moves` on, without `depth_mean`.
pub const TIME_PER_DEPTH: Question = Question {
    template: "SELECT t.cell_id, t.player, t.depth, t.searched_moves, t.wall_us_mean, \
         t.wall_us_variance, t.wall_us_median, t.wall_us_p90, t.wall_us_p99, t.cpu_us_mean, \
         t.nodes_mean, t.evaluations_mean, t.full_tree_share, t.nodes_per_second \
         FROM time_per_depth AS t JOIN cells AS c ON c.cell_id = t.cell_id \
         WHERE t.experiment_id = {experiment_id} \
         ORDER BY c.number, t.player_id <> c.first_player_id, t.depth",
};

/// Every two players that met, over all cells: `player`, `opponent`, `games`, `wins`, `draws`,
/// `losses`, `score`.
pub const HEAD_TO_HEAD: Question = Question {
    template: "SELECT player, opponent, games, wins, draws, losses, score FROM head_to_head \
         WHERE experiment_id = {experiment_id} ORDER BY player, opponent",
};

/// The players by their names in the sweep: `player`, `player_id`, `algorithm`, `parameters`.
pub const PLAYERS: Question = Question {
    template: "SELECT DISTINCT n.player, n.player_id, d.algorithm, d.parameters \
         FROM ( \
             SELECT first_player_name AS player, first_player_id AS player_id FROM cells \
             WHERE experiment_id = {experiment_id} AND in_sweep = 1 \
             UNION SELECT second_player_name, second_player_id FROM cells \
             WHERE experiment_id = {experiment_id} AND in_sweep = 1) AS n \
         JOIN player_descriptions AS d ON d.player_id = n.player_id \
         ORDER BY n.player, n.player_id",
};

/// Games that failed or were lost: `cell_id`, `number`, `player`, `opponent`, `lost`, `failed`,
/// `settled`, `finally_failed`, `message`.
pub const FAILURES: Question = Question {
    template: "SELECT cell_id, number, player, opponent, lost, failed, settled, finally_failed, \
         message FROM failures WHERE experiment_id = {experiment_id} \
         ORDER BY finally_failed DESC, failed + lost DESC, cell_id, number",
};

/// The workers that had games counted: `worker_id`, `worker`, `host`, `slots`, `version`, `games`,
/// `plies`, `playing_wall_us`, `game_wall_us_mean`.
pub const WORKERS: Question = Question {
    template: "SELECT worker_id, worker, host, slots, version, games, plies, playing_wall_us, \
         game_wall_us_mean FROM worker_productivity WHERE experiment_id = {experiment_id} \
         ORDER BY games DESC, worker_id",
};

/// How far an experiment is, and the work left as sums over its cells, in one row however many
/// these are: `state`, `cells`, `cells_settled`, `games_planned`, `games_settled`, `games_failed`,
/// `games_left`; `wall_us`, which all games took; the fields of
/// `spelrum_tournament::forecast::Backlog` by their names; `spread_squares` and `spread_weight`,
/// its `GameSpread` over the latest games; `slots` of the workers that hold games of it, and
/// `last_game_id`, of any experiment.
pub const PROGRESS: Question = Question {
    template: "WITH work (games_planned, games_left, games, games_failed, wall_us) AS ( \
             SELECT coalesce(c.stop_number, c.games_planned) AS games_planned, \
                 max(0, coalesce(c.stop_number, c.games_planned) - coalesce(r.games + r.games_failed, 0)), \
                 coalesce(r.games, 0), coalesce(r.games_failed, 0), coalesce(r.wall_us, 0.0) \
             FROM cells AS c LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id \
             WHERE c.experiment_id = {experiment_id} AND c.in_sweep = 1), \
         sums AS ( \
             SELECT count(*) AS cells, \
                 coalesce(sum(games_left = 0), 0) AS cells_settled, \
                 coalesce(sum(games_planned), 0) AS games_planned, \
                 coalesce(sum(games + games_failed), 0) AS games_settled, \
                 coalesce(sum(games_failed), 0) AS games_failed, \
                 coalesce(sum(games_left), 0) AS games_left, \
                 coalesce(sum(wall_us), 0.0) AS wall_us, \
                 coalesce(sum(games_left) FILTER (WHERE games = 0), 0) AS unseen_games_left, \
                 coalesce(sum(games_left * wall_us / games) FILTER (WHERE games > 0), 0.0) \
                     AS seen_us, \
                 coalesce(sum(games_left * wall_us / games * games_left * wall_us / games \
                         * (1.0 / games + 1.0 / games_left)) \
                     FILTER (WHERE games > 0 AND games_left > 0), 0.0) AS seen_squares, \
                 coalesce(max(wall_us / games) FILTER (WHERE games > 0 AND games_left > 0), 0.0) \
                     AS longest_us, \
                 coalesce(sum(games > 0), 0) AS seen_cells, \
                 coalesce(sum(wall_us / games) FILTER (WHERE games > 0), 0.0) AS means_us, \
                 coalesce(sum(wall_us / games * wall_us / games) FILTER (WHERE games > 0), 0.0) \
                     AS mean_squares \
             FROM work), \
         latest (off, weight) AS ( \
             SELECT g.wall_us * r.games / r.wall_us - 1.0, 1.0 - 1.0 / r.games \
             FROM games AS g NOT INDEXED \
             JOIN cells AS c ON c.cell_id = g.cell_id \
             JOIN cell_results AS r ON r.cell_id = g.cell_id \
             WHERE g.game_id > (SELECT max(game_id) - 500 FROM games) AND g.counted = 1 \
                 AND c.experiment_id = {experiment_id} AND r.games >= 2 AND r.wall_us > 0) \
         SELECT e.state, s.*, \
             (SELECT coalesce(sum(off * off), 0.0) FROM latest) AS spread_squares, \
             (SELECT coalesce(sum(weight), 0.0) FROM latest) AS spread_weight, \
             (SELECT coalesce(sum(w.slots), 0) FROM workers AS w WHERE w.worker_id IN ( \
                 SELECT l.worker_id FROM leases AS l \
                 WHERE l.ended_by IS NULL AND EXISTS ( \
                     SELECT 1 FROM lease_ranges AS g JOIN cells AS c ON c.cell_id = g.cell_id \
                     WHERE g.lease_id = l.lease_id AND c.experiment_id = {experiment_id}))) \
                 AS slots, \
             (SELECT coalesce(max(game_id), 0) FROM games) AS last_game_id \
         FROM experiments AS e JOIN sums AS s \
         WHERE e.experiment_id = {experiment_id}",
};

/// The most rows of [`settled_since`].
pub const SETTLED_CELLS_MAX: usize = 1_000;

/// The cells of an experiment that are settled, of those that got a result after the game with this
/// id, in the order of their last: `last_game_id` (to go on from), `cell_id`, `axes`, `player`,
/// `opponent`, `wins`, `draws`, `losses`, `games_failed`, `score`, `score_low`, `score_high`; at
/// most [`SETTLED_CELLS_MAX`]. Looks at no game that is older.
#[must_use]
pub fn settled_since(experiment: ExperimentId, last_game_id: i64) -> String {
    format!(
        "SELECT f.last_game_id, r.cell_id, r.axes, r.player, r.opponent, r.wins, r.draws, r.losses, \
             r.games_failed, r.score, r.score_low, r.score_high \
         FROM ( \
             SELECT g.cell_id, max(g.game_id) AS last_game_id FROM games AS g NOT INDEXED \
             WHERE g.game_id > {last_game_id} GROUP BY g.cell_id) AS f \
         CROSS JOIN results AS r ON r.cell_id = f.cell_id \
         WHERE r.experiment_id = {experiment} AND r.games + r.games_failed >= r.games_planned \
         ORDER BY f.last_game_id LIMIT {SETTLED_CELLS_MAX}"
    )
}

/// All questions about one experiment, by name.
pub const ALL: &[(&str, Question)] = &[
    ("axes", AXES),
    ("cell_axes", CELL_AXES),
    ("cell_results", CELL_RESULTS),
    ("axis_results", AXIS_RESULTS),
    ("time_per_move", TIME_PER_MOVE),
    ("time_per_depth", TIME_PER_DEPTH),
    ("head_to_head", HEAD_TO_HEAD),
    ("players", PLAYERS),
    ("failures", FAILURES),
    ("workers", WORKERS),
    ("progress", PROGRESS),
];

/// A settled game by its id: the columns of [`game_of_cell`].
#[must_use]
pub fn game(game_id: i64) -> String {
    settled_game(&format!("g.game_id = {game_id}"))
}

/// A settled game by its cell and number: `game_id`, `cell_id`, `number`, `experiment`,
/// `experiment_uuid`, `record`, `first_name` and `second_name` (who moved first, and who second),
/// `opening`, `first_side`, `outcome`, `termination`, `plies`, `moves_hash`, `engine_revision`, `wall_us`,
/// `counted`, `not_counted_reason`, `failure`. One row, or none.
#[must_use]
pub fn game_of_cell(game: GameId) -> String {
    settled_game(&format!("g.cell_id = {} AND g.number = {}", game.cell, game.number))
}

fn settled_game(condition: &str) -> String {
    format!(
        "SELECT g.game_id, g.cell_id, g.number, e.name AS experiment, \
             e.uuid AS experiment_uuid, e.record, \
             CASE g.number % 2 * c.swap_sides WHEN 0 THEN c.first_player_name \
                 ELSE c.second_player_name END AS first_name, \
             CASE g.number % 2 * c.swap_sides WHEN 0 THEN c.second_player_name \
                 ELSE c.first_player_name END AS second_name, \
             o.position AS opening, g.first_side, g.outcome, g.termination, g.plies, \
             g.moves_hash, g.engine_revision, g.wall_us, g.counted, g.not_counted_reason, g.failure \
         FROM games AS g \
         JOIN cells AS c ON c.cell_id = g.cell_id \
         JOIN experiments AS e ON e.experiment_id = c.experiment_id \
         LEFT JOIN openings AS o ON o.opening_id = g.opening_id \
         WHERE {condition}"
    )
}

/// A game's recorded moves by ply: `ply`, `side`, `move`, `position_key`, `legal_moves`, `depth`,
/// `nodes`, `evaluations`, `full_tree_leaves`, `score`, `wall_us`, `cpu_us`, `ended_by`.
#[must_use]
pub fn moves(game_id: i64) -> String {
    format!(
        "SELECT ply, side, move, position_key, legal_moves, depth, nodes, evaluations, \
             full_tree_leaves, score, wall_us, cpu_us, ended_by \
         FROM moves WHERE game_id = {game_id} ORDER BY ply"
    )
}

/// A cell and all that decides its games: `definition_hash`, `definition_json`, `games_planned`.
/// One row, or none.
#[must_use]
pub fn cell(cell: CellId) -> String {
    format!(
        "SELECT c.definition_hash, d.definition_json, c.games_planned FROM cells AS c \
         JOIN cell_definitions AS d ON d.cell_id = c.cell_id WHERE c.cell_id = {cell}"
    )
}
