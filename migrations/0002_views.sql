-- What people ask. Every statistic reads counted = 1, directly or through the rollups, and every
-- view but slowest_games and game_players answers from rollups alone.

-- Each cell's definition: all that decides its games, as workers get it. SHA-256 of it is the hash.
CREATE VIEW cell_definitions AS
SELECT
    c.cell_id,
    c.definition_hash,
    k.definition_prefix || f.parameters_json || ',' || s.parameters_json || ']}'
        AS definition_json
FROM cells AS c
JOIN conditions AS k ON k.conditions_id = c.conditions_id
JOIN players AS f ON f.player_id = c.first_player_id
JOIN players AS s ON s.player_id = c.second_player_id;


CREATE VIEW player_parameters AS
SELECT
    p.player_id,
    j.key AS parameter,
    CASE j.type WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 WHEN 'text' THEN NULL
        ELSE CAST(j.atom AS REAL) END AS value_number,
    -- Digits as the JSON has them, which SQLite would round: the same value twice in a list gives
    -- [TEXT,TEXT].
    CASE j.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
        WHEN 'real' THEN (
            SELECT CASE WHEN q.text LIKE '%.0' THEN substr(q.text, 1, length(q.text) - 2)
                ELSE q.text END
            FROM (
                SELECT substr(t.twice, 2, length(t.twice) / 2 - 1) AS text
                FROM (SELECT json_extract(p.parameters_json, j.fullkey, j.fullkey) AS twice) AS t)
            AS q)
        ELSE CAST(j.atom AS TEXT) END AS value_text
FROM players AS p, json_each(p.parameters_json) AS j;


CREATE VIEW cell_rules AS
SELECT c.cell_id, r.rule, r.value_number, r.value_text
FROM cells AS c JOIN condition_rules AS r ON r.conditions_id = c.conditions_id;


CREATE VIEW experiment_progress AS
SELECT
    e.experiment_id,
    e.uuid,
    e.name,
    e.game,
    e.state,
    e.priority,
    e.submitted_unix_us,
    e.finished_unix_us,
    (SELECT count(*) FROM cells AS c
        WHERE c.experiment_id = e.experiment_id AND c.in_sweep = 1) AS cells,
    -- A cell that its stop rule has ended gets no more.
    (SELECT coalesce(sum(coalesce(c.stop_number, c.games_planned)), 0) FROM cells AS c
        WHERE c.experiment_id = e.experiment_id AND c.in_sweep = 1) AS games_planned,
    (SELECT coalesce(sum(r.games + r.games_failed), 0) FROM cells AS c
        JOIN cell_results AS r ON r.cell_id = c.cell_id
        WHERE c.experiment_id = e.experiment_id AND c.in_sweep = 1) AS games_settled,
    (SELECT coalesce(sum(r.games_failed), 0) FROM cells AS c
        JOIN cell_results AS r ON r.cell_id = c.cell_id
        WHERE c.experiment_id = e.experiment_id AND c.in_sweep = 1) AS games_failed
FROM experiments AS e
WHERE NOT EXISTS (
    SELECT 1 FROM removals AS r
    WHERE r.experiment_id = e.experiment_id AND r.what = 'everything');

-- Each cell's result, for its first player ("player") against its second ("opponent"). The score and its
-- interval are over pairs, or over games where sides are fixed.
CREATE VIEW results AS
SELECT
    c.cell_id,
    c.experiment_id,
    e.name AS experiment,
    c.number AS cell_number,
    (SELECT group_concat(a.text, ', ') FROM (
        SELECT x.axis || '=' || ca.value_text AS text
        FROM experiment_axes AS x
        JOIN cell_axes AS ca ON ca.cell_id = c.cell_id AND ca.axis = x.axis
        WHERE x.experiment_id = c.experiment_id
        ORDER BY x.number) AS a) AS axes,
    c.first_player_name AS player,
    c.second_player_name AS opponent,
    coalesce(c.stop_number, c.games_planned) AS games_planned,
    c.games_planned AS games_max,
    c.stop_precision,
    c.stop_number AS stopped_after,
    coalesce(r.games, 0) AS games,
    coalesce(r.games_failed, 0) AS games_failed,
    coalesce(r.wins, 0) AS wins,
    coalesce(r.draws, 0) AS draws,
    coalesce(r.losses, 0) AS losses,
    1.0 * r.wins / nullif(r.games, 0) AS win_rate,
    1.0 * r.draws / nullif(r.games, 0) AS draw_rate,
    1.0 * r.losses / nullif(r.games, 0) AS loss_rate,
    CASE WHEN p.pairs > 0 OR r.games > 0 AND c.swap_sides = 0 THEN r.score END AS score,
    CASE WHEN p.pairs > 0 OR r.games > 0 AND c.swap_sides = 0 THEN r.score_low END AS score_low,
    CASE WHEN p.pairs > 0 OR r.games > 0 AND c.swap_sides = 0 THEN r.score_high END AS score_high,
    coalesce(p.pairs, 0) AS pairs,
    coalesce(r.pairs_0, 0) AS pairs_0,
    coalesce(r.pairs_half, 0) AS pairs_half,
    coalesce(r.pairs_1, 0) AS pairs_1,
    coalesce(r.pairs_1_half, 0) AS pairs_1_half,
    coalesce(r.pairs_2, 0) AS pairs_2,
    coalesce(r.distinct_games, 0) AS distinct_games,
    1.0 * r.plies / nullif(r.games, 0) AS plies_mean,
    r.wall_us / nullif(r.games, 0) AS game_wall_us_mean,
    c.first_player_id AS player_id,
    c.second_player_id AS opponent_id,
    c.timed,
    c.swap_sides
FROM cells AS c
JOIN experiments AS e ON e.experiment_id = c.experiment_id
LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
LEFT JOIN (
    SELECT cell_id, pairs_0 + pairs_half + pairs_1 + pairs_1_half + pairs_2 AS pairs
    FROM cell_results) AS p ON p.cell_id = c.cell_id
WHERE c.in_sweep = 1;

-- Results pooled over all cells that share a value of one axis.
CREATE VIEW axis_results AS
SELECT
    c.experiment_id,
    e.name AS experiment,
    a.axis,
    a.value_text,
    a.value_number,
    c.first_player_name AS player,
    c.second_player_name AS opponent,
    count(*) AS cells,
    coalesce(sum(r.games), 0) AS games,
    coalesce(sum(r.wins), 0) AS wins,
    coalesce(sum(r.draws), 0) AS draws,
    coalesce(sum(r.losses), 0) AS losses,
    (sum(r.wins) + 0.5 * sum(r.draws)) / nullif(sum(r.games), 0) AS score,
    coalesce(sum(r.pairs_0), 0) AS pairs_0,
    coalesce(sum(r.pairs_half), 0) AS pairs_half,
    coalesce(sum(r.pairs_1), 0) AS pairs_1,
    coalesce(sum(r.pairs_1_half), 0) AS pairs_1_half,
    coalesce(sum(r.pairs_2), 0) AS pairs_2
FROM cell_axes AS a
JOIN cells AS c ON c.cell_id = a.cell_id AND c.in_sweep = 1
JOIN experiments AS e ON e.experiment_id = c.experiment_id
LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
GROUP BY c.experiment_id, a.axis, a.value_text, a.value_number,
    c.first_player_name, c.second_player_name;

-- Every two players of an experiment that met, over all cells, from both sides.
CREATE VIEW head_to_head AS
WITH met (experiment_id, player, opponent, games, wins, draws, losses) AS (
    SELECT c.experiment_id, c.first_player_name, c.second_player_name,
        r.games, r.wins, r.draws, r.losses
    FROM cells AS c JOIN cell_results AS r ON r.cell_id = c.cell_id
    WHERE c.in_sweep = 1
    UNION ALL
    SELECT c.experiment_id, c.second_player_name, c.first_player_name,
        r.games, r.losses, r.draws, r.wins
    FROM cells AS c JOIN cell_results AS r ON r.cell_id = c.cell_id
    WHERE c.in_sweep = 1)
SELECT
    m.experiment_id,
    e.name AS experiment,
    m.player,
    m.opponent,
    sum(m.games) AS games,
    sum(m.wins) AS wins,
    sum(m.draws) AS draws,
    sum(m.losses) AS losses,
    (sum(m.wins) + 0.5 * sum(m.draws)) / nullif(sum(m.games), 0) AS score
FROM met AS m
JOIN experiments AS e ON e.experiment_id = m.experiment_id
GROUP BY m.experiment_id, m.player, m.opponent;

-- What a searched move cost a player in a cell, by the depth that its search completed.
-- Quantiles are the middles of their buckets (see time_buckets).
CREATE VIEW time_per_depth AS
SELECT
    c.experiment_id,
    d.cell_id,
    d.player_id,
    CASE WHEN d.player_id = c.first_player_id THEN c.first_player_name
        ELSE c.second_player_name END AS player,
    d.depth,
    d.searched_moves,
    d.wall_us / d.searched_moves AS wall_us_mean,
    max(0.0, d.wall_us_squared - d.wall_us * d.wall_us / d.searched_moves)
        / nullif(d.searched_moves - 1, 0) AS wall_us_variance,
    q.wall_us_median,
    q.wall_us_p90,
    q.wall_us_p99,
    d.cpu_us / d.searched_moves AS cpu_us_mean,
    d.nodes / d.searched_moves AS nodes_mean,
    d.evaluations / d.searched_moves AS evaluations_mean,
    d.evaluations / nullif(d.full_tree_leaves, 0.0) AS full_tree_share,
    1e6 * d.nodes / nullif(d.wall_us, 0.0) AS nodes_per_second
FROM cell_depths AS d
JOIN cells AS c ON c.cell_id = d.cell_id AND c.in_sweep = 1
JOIN (
    SELECT
        s.cell_id, s.player_id, s.depth,
        min(CASE WHEN 100 * s.so_far >= 50 * s.total THEN s.middle_us END) AS wall_us_median,
        min(CASE WHEN 100 * s.so_far >= 90 * s.total THEN s.middle_us END) AS wall_us_p90,
        min(CASE WHEN 100 * s.so_far >= 99 * s.total THEN s.middle_us END) AS wall_us_p99
    FROM (
        SELECT
            t.cell_id, t.player_id, t.depth,
            (b.from_us + b.below_us - 1) / 2.0 AS middle_us,
            sum(t.searched_moves) OVER (PARTITION BY t.cell_id, t.player_id, t.depth
                ORDER BY t.time_bucket_id) AS so_far,
            sum(t.searched_moves) OVER (PARTITION BY t.cell_id, t.player_id, t.depth) AS total
        FROM cell_move_times AS t
        JOIN time_buckets AS b ON b.time_bucket_id = t.time_bucket_id) AS s
    GROUP BY s.cell_id, s.player_id, s.depth) AS q
    ON q.cell_id = d.cell_id AND q.player_id = d.player_id AND q.depth = d.depth;

-- What a searched move cost a player in a cell, over all depths.
CREATE VIEW time_per_move AS
SELECT
    c.experiment_id,
    e.name AS experiment,
    d.cell_id,
    (SELECT group_concat(a.text, ', ') FROM (
        SELECT x.axis || '=' || ca.value_text AS text
        FROM experiment_axes AS x
        JOIN cell_axes AS ca ON ca.cell_id = c.cell_id AND ca.axis = x.axis
        WHERE x.experiment_id = c.experiment_id
        ORDER BY x.number) AS a) AS axes,
    d.player_id,
    CASE WHEN d.player_id = c.first_player_id THEN c.first_player_name
        ELSE c.second_player_name END AS player,
    d.searched_moves,
    d.wall_us / d.searched_moves AS wall_us_mean,
    max(0.0, d.wall_us_squared - d.wall_us * d.wall_us / d.searched_moves)
        / nullif(d.searched_moves - 1, 0) AS wall_us_variance,
    q.wall_us_median,
    q.wall_us_p90,
    q.wall_us_p99,
    d.cpu_us / d.searched_moves AS cpu_us_mean,
    d.depth_sum / d.searched_moves AS depth_mean,
    d.nodes / d.searched_moves AS nodes_mean,
    d.evaluations / d.searched_moves AS evaluations_mean,
    d.completed_evaluations / nullif(d.full_tree_leaves, 0.0) AS full_tree_share,
    1e6 * d.nodes / nullif(d.wall_us, 0.0) AS nodes_per_second
FROM (
    SELECT
        cell_id, player_id,
        sum(searched_moves) AS searched_moves,
        sum(wall_us) AS wall_us,
        sum(cpu_us) AS cpu_us,
        sum(1.0 * depth * searched_moves) AS depth_sum,
        sum(nodes) AS nodes,
        sum(evaluations) AS evaluations,
        -- A search that a limit cut off before it completed a depth has no full tree to be a share of.
        total(CASE WHEN depth > 0 THEN evaluations END) AS completed_evaluations,
        sum(full_tree_leaves) AS full_tree_leaves,
        sum(wall_us_squared) AS wall_us_squared
    FROM cell_depths
    GROUP BY cell_id, player_id) AS d
JOIN cells AS c ON c.cell_id = d.cell_id AND c.in_sweep = 1
JOIN experiments AS e ON e.experiment_id = c.experiment_id
JOIN (
    SELECT
        s.cell_id, s.player_id,
        min(CASE WHEN 100 * s.so_far >= 50 * s.total THEN s.middle_us END) AS wall_us_median,
        min(CASE WHEN 100 * s.so_far >= 90 * s.total THEN s.middle_us END) AS wall_us_p90,
        min(CASE WHEN 100 * s.so_far >= 99 * s.total THEN s.middle_us END) AS wall_us_p99
    FROM (
        SELECT
            t.cell_id, t.player_id,
            (b.from_us + b.below_us - 1) / 2.0 AS middle_us,
            sum(t.searched_moves) OVER (PARTITION BY t.cell_id, t.player_id
                ORDER BY t.time_bucket_id) AS so_far,
            sum(t.searched_moves) OVER (PARTITION BY t.cell_id, t.player_id) AS total
        FROM (
            SELECT cell_id, player_id, time_bucket_id, sum(searched_moves) AS searched_moves
            FROM cell_move_times
            GROUP BY cell_id, player_id, time_bucket_id) AS t
        JOIN time_buckets AS b ON b.time_bucket_id = t.time_bucket_id) AS s
    GROUP BY s.cell_id, s.player_id) AS q
    ON q.cell_id = d.cell_id AND q.player_id = d.player_id;

-- How many of a cell's games repeat another.
CREATE VIEW distinct_games AS
SELECT
    c.experiment_id,
    e.name AS experiment,
    c.cell_id,
    c.first_player_name AS player,
    c.second_player_name AS opponent,
    r.games,
    r.distinct_games,
    r.games - r.distinct_games AS repeated_games,
    1.0 * r.distinct_games / nullif(r.games, 0) AS distinct_share
FROM cells AS c
JOIN experiments AS e ON e.experiment_id = c.experiment_id
JOIN cell_results AS r ON r.cell_id = c.cell_id
WHERE c.in_sweep = 1;

-- Two rows for each counted game: each player's own view of it. Where sides are fixed there are
-- no pairs.
CREATE VIEW game_players AS
SELECT
    g.game_id,
    c.experiment_id,
    g.cell_id,
    g.number,
    CASE c.swap_sides WHEN 1 THEN g.number / 2 END AS pair,
    g.opening_id,
    0 AS side,
    g.first_side AS game_side,
    g.first_player_id AS player_id,
    CASE g.number % 2 * c.swap_sides WHEN 0 THEN c.first_player_name
        ELSE c.second_player_name END AS player,
    g.second_player_id AS opponent_id,
    CASE g.number % 2 * c.swap_sides WHEN 0 THEN c.second_player_name
        ELSE c.first_player_name END AS opponent,
    CASE g.outcome WHEN 'win' THEN 1.0 WHEN 'draw' THEN 0.5 ELSE 0.0 END AS score,
    g.termination,
    g.plies,
    g.moves_hash,
    g.worker_id,
    g.engine_revision,
    g.wall_us
FROM games AS g
JOIN cells AS c ON c.cell_id = g.cell_id AND c.in_sweep = 1
WHERE g.counted = 1
UNION ALL
SELECT
    g.game_id,
    c.experiment_id,
    g.cell_id,
    g.number,
    CASE c.swap_sides WHEN 1 THEN g.number / 2 END,
    g.opening_id,
    1,
    CASE g.first_side WHEN 'first' THEN 'second' WHEN 'second' THEN 'first' END,
    g.second_player_id,
    CASE g.number % 2 * c.swap_sides WHEN 0 THEN c.second_player_name
        ELSE c.first_player_name END,
    g.first_player_id,
    CASE g.number % 2 * c.swap_sides WHEN 0 THEN c.first_player_name
        ELSE c.second_player_name END,
    CASE g.outcome WHEN 'win' THEN 0.0 WHEN 'draw' THEN 0.5 ELSE 1.0 END,
    g.termination,
    g.plies,
    g.moves_hash,
    g.worker_id,
    g.engine_revision,
    g.wall_us
FROM games AS g
JOIN cells AS c ON c.cell_id = g.cell_id AND c.in_sweep = 1
WHERE g.counted = 1;

-- What each worker has done.
CREATE VIEW worker_productivity AS
SELECT
    w.worker_id,
    w.name AS worker,
    w.host,
    w.slots,
    w.engine_revision,
    w.version,
    r.experiment_id,
    e.name AS experiment,
    r.games,
    r.plies,
    r.wall_us AS playing_wall_us,
    r.wall_us / nullif(r.games, 0) AS game_wall_us_mean,
    r.first_started_unix_us,
    r.last_started_unix_us
FROM workers AS w
LEFT JOIN worker_results AS r ON r.worker_id = w.worker_id
LEFT JOIN experiments AS e ON e.experiment_id = r.experiment_id;

-- The hundred games that took longest. Reads all games.
CREATE VIEW slowest_games AS
SELECT
    g.game_id,
    c.experiment_id,
    g.cell_id,
    g.number,
    g.wall_us,
    g.plies,
    g.termination,
    CASE g.number % 2 * c.swap_sides WHEN 0 THEN c.first_player_name
        ELSE c.second_player_name END AS first_player,
    CASE g.number % 2 * c.swap_sides WHEN 0 THEN c.second_player_name
        ELSE c.first_player_name END AS second_player,
    w.name AS worker,
    g.started_unix_us
FROM (
    SELECT t.game_id FROM games AS t JOIN cells AS n ON n.cell_id = t.cell_id
    WHERE t.counted = 1 AND n.in_sweep = 1
    ORDER BY t.wall_us DESC, t.game_id LIMIT 100) AS s
JOIN games AS g ON g.game_id = s.game_id
JOIN cells AS c ON c.cell_id = g.cell_id
LEFT JOIN workers AS w ON w.worker_id = g.worker_id
ORDER BY g.wall_us DESC, g.game_id;

-- Games that failed or were lost at least once: how often, and whether they are settled by now.
CREATE VIEW failures AS
SELECT
    c.experiment_id,
    e.name AS experiment,
    a.cell_id,
    a.number,
    c.first_player_name AS player,
    c.second_player_name AS opponent,
    a.lost,
    a.lost_alone,
    a.failed,
    g.game_id IS NOT NULL AS settled,
    g.failure IS NOT NULL AS finally_failed,
    coalesce(g.failure, a.last_message) AS message
FROM attempts AS a
JOIN cells AS c ON c.cell_id = a.cell_id AND c.in_sweep = 1
JOIN experiments AS e ON e.experiment_id = c.experiment_id
LEFT JOIN games AS g ON g.cell_id = a.cell_id AND g.number = a.number;

-- Each player in a line, with every parameter.
CREATE VIEW player_descriptions AS
SELECT
    p.player_id,
    p.algorithm,
    (SELECT group_concat(q.text, ' ') FROM (
        SELECT pp.parameter || '=' || pp.value_text AS text
        FROM player_parameters AS pp
        WHERE pp.player_id = p.player_id AND pp.parameter <> 'algorithm'
        ORDER BY pp.parameter) AS q) AS parameters
FROM players AS p;
