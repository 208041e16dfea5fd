-- Views that answer the usual questions. Every statistic reads counted = 1, directly or through the
-- rollups.

-- Each cell's definition: all that decides its tasks, as workers get it. SHA-256 of it is the hash.
CREATE VIEW cell_definitions AS
SELECT
    c.cell_id,
    c.definition_hash,
    CASE WHEN v.cell_id IS NULL THEN '' ELSE '{"format":1,"verification":[' END
        || k.definition_prefix || f.parameters_json || ',' || s.parameters_json || ']}'
        || CASE WHEN v.cell_id IS NULL THEN ''
            ELSE ',' || v.number || ',' || v.stops_json || ',' || v.ordered_before || ']}' END
        AS definition_json
FROM cells AS c
JOIN conditions AS k ON k.conditions_id = c.conditions_id
JOIN players AS f ON f.player_id = c.first_player_id
JOIN players AS s ON s.player_id = c.second_player_id
LEFT JOIN verifications AS v ON v.cell_id = c.cell_id;

-- The rules of each cell's game.
CREATE VIEW cell_rules AS
SELECT c.cell_id, r.rule, r.value_number, r.value_text
FROM cells AS c JOIN condition_rules AS r ON r.conditions_id = c.conditions_id;

-- Every parameter of each player, a row each.
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

-- Each player in a line, with all its parameters.
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

-- The progress of each experiment, except those that are being removed.
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

-- Each cell's result, for its first player ("player") against its second ("opponent"). The score is over
-- pairs, or over games where sides are fixed; its interval over openings where they come again.
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
    s.precision AS stop_precision,
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
    c.swap_sides,
    s.rule AS stop_rule,
    c.stop_rule_id,
    -- As many as there are pairs, or games where sides are fixed; or as there are openings, if fewer.
    min(CASE c.swap_sides WHEN 1 THEN coalesce(p.pairs, 0) ELSE coalesce(r.games, 0) END,
        coalesce(k.openings_count, 9223372036854775807)) AS openings_used,
    r.openings_effective,
    r.openings_variance,
    coalesce(r.pairs_won_by_first_mover, 0) AS pairs_won_by_first_mover,
    coalesce(r.pairs_won_by_second_mover, 0) AS pairs_won_by_second_mover,
    -- The score of the player that moved first from the opening.
    1.0 * (r.wins_moving_first + r.losses - r.losses_moving_first + 0.5 * r.draws)
        / nullif(r.games, 0) AS first_mover_score,
    coalesce(r.wins_moving_first, 0) AS wins_moving_first,
    coalesce(r.draws_moving_first, 0) AS draws_moving_first,
    coalesce(r.losses_moving_first, 0) AS losses_moving_first,
    -- The player's points per game where it moved first, and where it moved second.
    (r.wins_moving_first + 0.5 * r.draws_moving_first)
        / nullif(r.wins_moving_first + r.draws_moving_first + r.losses_moving_first, 0)
        AS score_moving_first,
    (r.wins - r.wins_moving_first + 0.5 * (r.draws - r.draws_moving_first))
        / nullif(r.games - r.wins_moving_first - r.draws_moving_first - r.losses_moving_first, 0)
        AS score_moving_second,
    -- How far the player was ahead at the end, of the games that have a margin. The interval is over what that of
    -- the score is over.
    coalesce(r.margin_games, 0) AS margin_games,
    1.0 * r.margin_sum / nullif(r.margin_games, 0) AS margin_mean,
    r.margin_low,
    r.margin_high
FROM cells AS c
JOIN conditions AS k ON k.conditions_id = c.conditions_id
JOIN experiments AS e ON e.experiment_id = c.experiment_id
LEFT JOIN stop_rules AS s ON s.stop_rule_id = c.stop_rule_id
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
    WHERE c.in_sweep = 1 AND c.first_player_id <> c.second_player_id
    UNION ALL
    SELECT c.experiment_id, c.second_player_name, c.first_player_name,
        r.games, r.losses, r.draws, r.wins
    FROM cells AS c JOIN cell_results AS r ON r.cell_id = c.cell_id
    WHERE c.in_sweep = 1 AND c.first_player_id <> c.second_player_id)
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
    g.wall_us,
    -- How far the player was ahead at the end; NULL of a game without a margin.
    g.margin
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
    g.wall_us,
    -g.margin
FROM games AS g
JOIN cells AS c ON c.cell_id = g.cell_id AND c.in_sweep = 1
WHERE g.counted = 1;

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

-- Each counted game from an opening whose plies to mate are known: the player that could mate
-- ("attacker") and its opponent ("defender"), whether it did, and how much longer it took than the
-- table.
CREATE VIEW mates AS
SELECT
    g.game_id,
    c.experiment_id,
    e.name AS experiment,
    g.cell_id,
    g.number,
    o.position,
    -- An odd number is a win for the player that moves first.
    CASE (g.number * c.swap_sides + o.plies_to_mate) % 2 WHEN 1 THEN c.first_player_name
        ELSE c.second_player_name END AS attacker,
    CASE (g.number * c.swap_sides + o.plies_to_mate) % 2 WHEN 1 THEN c.second_player_name
        ELSE c.first_player_name END AS defender,
    o.plies_to_mate,
    (o.plies_to_mate + 1) / 2 AS moves_to_mate,
    g.outcome = CASE o.plies_to_mate % 2 WHEN 1 THEN 'win' ELSE 'loss' END AS mated,
    g.plies,
    CASE g.outcome WHEN CASE o.plies_to_mate % 2 WHEN 1 THEN 'win' ELSE 'loss' END
        THEN g.plies - o.plies_to_mate END AS plies_more,
    g.termination
FROM games AS g
JOIN openings AS o ON o.opening_id = g.opening_id AND o.plies_to_mate IS NOT NULL
JOIN cells AS c ON c.cell_id = g.cell_id AND c.in_sweep = 1
JOIN experiments AS e ON e.experiment_id = c.experiment_id
WHERE g.counted = 1;

-- Every counted choice in a position that has something to choose.
CREATE VIEW choices AS
SELECT
    c.experiment_id,
    e.name AS experiment,
    g.cell_id,
    c.first_player_name AS player,
    c.second_player_name AS reference,
    g.game_id,
    g.number,
    o.position,
    p.plies,
    m.move,
    v.value,
    p.best_value,
    v.rank,
    p.best_value - v.value AS loss,
    v.value = p.best_value AS is_best,
    p.legal_moves,
    p.best_moves,
    p.best_rank,
    p.random_rank,
    p.random_loss,
    p.random_best,
    -- Whether the chosen move wins. NULL where there is no win, or no move gives it away, and where
    -- the reference does not say who wins: the values of 'exact' and 'table' do, scores of minimax
    -- do not.
    CASE WHEN r.algorithm IN ('exact', 'table') AND p.best_value > 0 AND p.worst_value <= 0
        THEN v.value > 0 END AS keeps_win,
    -- The share of legal moves that win, where keeps_win is not NULL.
    CASE WHEN r.algorithm IN ('exact', 'table') AND p.best_value > 0 AND p.worst_value <= 0
        THEN (SELECT 1.0 * count(*) FROM move_values AS w
            WHERE w.valued_position_id = p.valued_position_id AND w.value > 0) / p.legal_moves
        END AS random_keeps_win,
    m.depth,
    m.nodes,
    m.evaluations,
    m.wall_us,
    p.valued_position_id
FROM cells AS c
JOIN experiments AS e ON e.experiment_id = c.experiment_id AND e.kind = 'accuracy'
JOIN players AS r ON r.player_id = c.second_player_id
JOIN games AS g ON g.cell_id = c.cell_id AND g.counted = 1
JOIN valued_positions AS p ON p.conditions_id = c.conditions_id
    AND p.reference_player_id = c.second_player_id AND p.opening_id = g.opening_id
    AND p.engine_revision = g.engine_revision AND p.best_value > p.worst_value
JOIN moves AS m ON m.game_id = g.game_id AND m.ply = 0
JOIN move_values AS v ON v.valued_position_id = p.valued_position_id AND v.move = m.move
JOIN openings AS o ON o.opening_id = g.opening_id
WHERE c.in_sweep = 1;

-- How well each player chooses in each cell, over the positions that have something to choose. A skill is 0 for
-- a random mover and 1 for one that never errs.
CREATE VIEW accuracy AS
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
    c.second_player_name AS reference,
    c.games_planned AS choices_planned,
    coalesce(r.games, 0) AS choices,
    coalesce(r.games_failed, 0) AS choices_failed,
    count(h.game_id) AS positions,
    avg(h.is_best) AS best,
    avg(h.random_best) AS random_best,
    (avg(h.is_best) - avg(h.random_best)) / (1.0 - avg(h.random_best)) AS best_skill,
    avg(h.rank) AS rank,
    avg(h.random_rank) AS random_rank,
    (avg(h.random_rank) - avg(h.rank)) / (avg(h.random_rank) - avg(h.best_rank)) AS rank_skill,
    avg(h.loss) AS loss,
    avg(h.random_loss) AS random_loss,
    1.0 - avg(h.loss) / avg(h.random_loss) AS loss_skill,
    CASE WHEN p.algorithm IN ('exact', 'table') THEN count(h.keeps_win) END AS winnable,
    avg(h.keeps_win) AS keeps_win,
    avg(h.random_keeps_win) AS random_keeps_win,
    (avg(h.keeps_win) - avg(h.random_keeps_win)) / (1.0 - avg(h.random_keeps_win)) AS keeps_win_skill,
    c.first_player_id AS player_id,
    c.second_player_id AS reference_id,
    c.timed
FROM cells AS c
JOIN experiments AS e ON e.experiment_id = c.experiment_id AND e.kind = 'accuracy'
JOIN players AS p ON p.player_id = c.second_player_id
LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
LEFT JOIN choices AS h ON h.cell_id = c.cell_id
WHERE c.in_sweep = 1
GROUP BY c.experiment_id, c.cell_id;

-- The cost of a player's searched moves in a cell, by the depth that the search completed.
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

-- The cost of a player's searched moves in a cell, over all depths.
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

-- Moves of players that have a time limit for each move: by how much each overran its limit, which
-- is the sweep's, or time_factor times that.
CREATE VIEW limited_moves AS
SELECT
    experiment_id, experiment, cell_id, number, game_id, ply, player_id, player,
    move_time_us,
    time_factor,
    limit_us,
    wall_us,
    -- Negative of a move that took less than it might.
    wall_us - limit_us AS overrun_us,
    cpu_us, involuntary_switches, nodes, ended_by
FROM (
    SELECT
        c.experiment_id,
        e.name AS experiment,
        g.cell_id,
        g.number,
        m.game_id,
        m.ply,
        m.player_id,
        CASE (g.number % 2 * c.swap_sides + m.side) % 2 WHEN 0 THEN c.first_player_name
            ELSE c.second_player_name END AS player,
        p.parameters_json ->> '$.move_time_us' AS move_time_us,
        g.time_factor,
        -- As the engine rounds it.
        CASE WHEN g.time_factor IS NULL THEN p.parameters_json ->> '$.move_time_us'
            ELSE max(1, ((p.parameters_json ->> '$.move_time_us')
                * CAST(round(g.time_factor * 1000) AS INTEGER) + 500) / 1000) END AS limit_us,
        m.wall_us,
        m.cpu_us,
        m.involuntary_switches,
        m.nodes,
        m.ended_by
    FROM cells AS c
    JOIN experiments AS e ON e.experiment_id = c.experiment_id
    JOIN games AS g ON g.cell_id = c.cell_id AND g.counted = 1
    JOIN moves AS m ON m.game_id = g.game_id
    JOIN players AS p ON p.player_id = m.player_id
    WHERE c.in_sweep = 1 AND p.parameters_json ->> '$.move_time_us' IS NOT NULL
);

-- External engines by the player and cell that they played for, over counted games. More than one
-- row for one player of one cell: its results are of several programs.
CREATE VIEW engines_used AS
SELECT
    c.experiment_id,
    e.name AS experiment,
    c.cell_id,
    c.number AS cell_number,
    CASE x.side WHEN 0 THEN g.first_player_id ELSE g.second_player_id END AS player_id,
    CASE (g.number % 2 * c.swap_sides + x.side) % 2 WHEN 0 THEN c.first_player_name
        ELSE c.second_player_name END AS player,
    n.engine_id,
    n.name AS engine,
    n.author,
    n.sha256,
    -- In self-play one program has both sides of a game.
    count(DISTINCT g.game_id) AS games
FROM cells AS c
JOIN experiments AS e ON e.experiment_id = c.experiment_id
JOIN games AS g ON g.cell_id = c.cell_id AND g.counted = 1
JOIN game_engines AS x ON x.game_id = g.game_id
JOIN engines AS n ON n.engine_id = x.engine_id
WHERE c.in_sweep = 1
GROUP BY c.experiment_id, c.cell_id, 5, 6, n.engine_id;

-- Builds of each engine in the order in which they came to its experiment, with the results of
-- their games. A rebuilt engine is another player, whose cells stand beside those of the previous
-- build.
CREATE VIEW builds AS
WITH sides AS (
    SELECT c.experiment_id, c.cell_id, c.superseded, p.parameters_json ->> '$.engine' AS engine,
        p.parameters_json ->> '$.build' AS build, coalesce(r.games, 0) AS games,
        coalesce(CASE p.player_id WHEN c.first_player_id THEN r.wins ELSE r.losses END, 0) AS wins,
        coalesce(r.draws, 0) AS draws,
        coalesce(CASE p.player_id WHEN c.first_player_id THEN r.losses ELSE r.wins END, 0) AS losses
    FROM players AS p
    JOIN cells AS c ON p.player_id IN (c.first_player_id, c.second_player_id)
    LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
    WHERE p.algorithm IN ('uci', 'gtp') AND c.in_sweep = 1
)
SELECT s.experiment_id, e.name AS experiment, s.engine,
    row_number() OVER (PARTITION BY s.experiment_id, s.engine ORDER BY min(s.cell_id)) AS number,
    s.build, min(s.superseded) = 0 AS is_current, count(*) AS cells, sum(s.games) AS games,
    sum(s.wins) AS wins, sum(s.draws) AS draws, sum(s.losses) AS losses,
    (sum(s.wins) + 0.5 * sum(s.draws)) / nullif(sum(s.games), 0) AS score
FROM sides AS s JOIN experiments AS e ON e.experiment_id = s.experiment_id
WHERE NOT EXISTS (
    SELECT 1 FROM removals AS x
    WHERE x.experiment_id = e.experiment_id AND x.what = 'everything')
GROUP BY s.experiment_id, s.engine, s.build
ORDER BY s.experiment_id, s.engine, number;

-- Counted games that a player forfeited: the player, the kind of forfeit, the worker, and the
-- program's last output.
CREATE VIEW forfeited AS
SELECT
    c.experiment_id,
    e.name AS experiment,
    c.cell_id,
    g.game_id,
    g.number,
    CASE (g.number % 2 * c.swap_sides + (g.outcome = 'win')) % 2 WHEN 0 THEN c.first_player_name
        ELSE c.second_player_name END AS player,
    g.termination AS kind,
    g.plies,
    w.worker_id,
    w.name AS worker,
    w.host,
    f.message,
    f.output
FROM games AS g
JOIN cells AS c ON c.cell_id = g.cell_id
JOIN experiments AS e ON e.experiment_id = c.experiment_id
LEFT JOIN workers AS w ON w.worker_id = g.worker_id
LEFT JOIN forfeits AS f ON f.game_id = g.game_id
WHERE g.counted = 1 AND g.termination IN ('crash', 'stall', 'illegal_move', 'time_forfeit') AND c.in_sweep = 1;

-- Workers that get no games of an engine, since it forfeits them there and not on other workers.
CREATE VIEW barred AS
SELECT
    x.worker_id,
    w.name AS worker,
    w.host,
    x.engine,
    x.forfeits,
    x.engine_games AS games,
    x.forfeits_of_others,
    x.engine_games_of_others AS games_of_others,
    x.requested_unix_us AS barred_unix_us,
    x.games_done AS games_taken_out,
    x.message,
    x.output
FROM exclusions AS x
JOIN workers AS w ON w.worker_id = x.worker_id
WHERE x.engine IS NOT NULL AND x.readmitted_unix_us IS NULL;

-- The games and the playing time of each worker, by experiment.
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
    r.last_started_unix_us,
    w.cpu_model,
    w.logical_cores,
    w.operating_system,
    w.build_commit,
    w.build_profile,
    w.cores,
    w.quiet_slots,
    CAST(w.cpu_quota_us AS REAL) / w.cpu_period_us AS cpu_quota,
    w.cpu_period_us AS cpu_quota_period_us,
    w.credential
FROM workers AS w
LEFT JOIN worker_results AS r ON r.worker_id = w.worker_id
LEFT JOIN experiments AS e ON e.experiment_id = r.experiment_id;

-- The runs of experiments: each follows a course of its own.
CREATE VIEW runs AS
SELECT
    n.experiment_id,
    e.name AS experiment,
    n.run,
    n.note ->> 'kind' AS kind,
    n.note ->> 'player' AS player,
    -- Its opponents, as a JSON list of names.
    n.note -> 'opponents' AS opponents,
    -- Its place on the grid's axes, as a JSON object of texts.
    (
        SELECT json_group_object(a.value ->> 'axis', a.value ->> 'text')
        FROM json_each(n.note, '$.axes') AS a
    ) AS axes,
    EXISTS (
        SELECT 1 FROM course_notes AS x
        WHERE x.experiment_id = n.experiment_id AND x.run = n.run AND x.kind = 'ended'
    ) AS ended
FROM course_notes AS n
JOIN experiments AS e ON e.experiment_id = n.experiment_id
WHERE n.kind = 'begun';

-- Which run and step each cell of such an experiment is of.
CREATE VIEW run_cells AS
SELECT
    c.experiment_id,
    c.cell_id,
    CAST(r.value_number AS INTEGER) AS run,
    CAST(s.value_number AS INTEGER) AS step
FROM cells AS c
CROSS JOIN cell_axes AS r ON r.cell_id = c.cell_id AND r.axis = 'run'
CROSS JOIN cell_axes AS s ON s.cell_id = c.cell_id AND s.axis = 'step'
WHERE c.asked_after IS NOT NULL;

-- Settings that runs tried: a row for each parameter of each trial.
CREATE VIEW trials AS
SELECT
    n.experiment_id,
    e.name AS experiment,
    n.run,
    n.step,
    n.trial,
    s.value ->> 'parameter' AS parameter,
    s.value ->> 'number' AS value_number,
    s.value ->> 'text' AS value_text
FROM course_notes AS n
JOIN experiments AS e ON e.experiment_id = n.experiment_id
CROSS JOIN json_each(n.note, '$.settings') AS s
WHERE n.kind = 'tried';

-- Best settings known to runs after each step: a row for each parameter.
CREATE VIEW estimates AS
SELECT
    n.experiment_id,
    e.name AS experiment,
    n.run,
    n.step,
    s.value ->> 'parameter' AS parameter,
    s.value ->> 'number' AS value_number,
    s.value ->> 'text' AS value_text,
    -- Whether there is a 95% interval; an end of it beyond the values that are tried is NULL.
    s.value -> 'interval' IS NOT NULL AS has_interval,
    s.value ->> '$.interval.low.number' AS low_number,
    s.value ->> '$.interval.low.text' AS low_text,
    s.value ->> '$.interval.high.number' AS high_number,
    s.value ->> '$.interval.high.text' AS high_text
FROM course_notes AS n
JOIN experiments AS e ON e.experiment_id = n.experiment_id
CROSS JOIN json_each(n.note, '$.estimates') AS s
WHERE n.kind = 'estimated';

-- The individuals of all generations of all runs.
CREATE VIEW individuals AS
SELECT
    n.experiment_id,
    e.name AS experiment,
    n.run,
    n.step AS generation,
    n.trial AS individual,
    n.note ->> 'formula' AS formula,
    n.note ->> 'simplified' AS simplified,
    n.note ->> 'size' AS size,
    n.note ->> 'depth' AS depth,
    -- 'random', 'elite', 'crossover' or 'mutation'.
    n.note ->> 'operator' AS operator,
    -- Its parents among the individuals of the previous generation; the parent of its root first. NULL without a parent.
    n.note ->> '$.parents[0]' AS first_parent,
    n.note ->> '$.parents[1]' AS second_parent,
    -- From here on NULL as long as its generation is not measured. The fitness is also NULL if a game failed.
    s.note ->> 'fitness' AS fitness,
    -- Its place in the order of its generation, from 0.
    s.note ->> 'rank' AS rank,
    s.note ->> 'games' AS games,
    s.note ->> 'games_failed' AS games_failed,
    s.note ->> 'wins' AS wins,
    s.note ->> 'draws' AS draws,
    s.note ->> 'losses' AS losses,
    -- The sum of the margins of its games.
    s.note ->> 'margin' AS margin,
    -- How many rounds of a knock-out it survived.
    s.note ->> 'rounds' AS rounds,
    -- Whether it played no games of its own, and keeps what an equal one came to.
    s.note ->> 'kept' AS kept
FROM course_notes AS n
JOIN experiments AS e ON e.experiment_id = n.experiment_id
LEFT JOIN course_notes AS s
    ON s.experiment_id = n.experiment_id AND s.run = n.run AND s.kind = 'scored' AND s.step = n.step
    AND s.trial = n.trial
WHERE n.kind = 'individual';

-- The generations that are measured. Figures of fitness are of those individuals that have one.
CREATE VIEW generations AS
SELECT
    n.experiment_id,
    e.name AS experiment,
    n.run,
    n.step AS generation,
    n.note ->> 'individuals' AS individuals,
    -- How many of them have a fitness.
    n.note ->> 'measured' AS measured,
    -- The first in its order, and its fitness.
    n.note ->> 'best_individual' AS best_individual,
    n.note ->> 'best' AS best,
    n.note ->> 'mean' AS mean,
    n.note ->> 'least' AS least,
    -- The standard deviation of fitness.
    n.note ->> 'sd' AS sd,
    -- How many different simplified formulas there are.
    n.note ->> 'distinct' AS distinct_forms,
    n.note ->> 'mean_size' AS mean_size,
    n.note ->> 'mean_depth' AS mean_depth
FROM course_notes AS n
JOIN experiments AS e ON e.experiment_id = n.experiment_id
WHERE n.kind = 'generation';

-- Which individual each cell measures. In a league and in a knock-out it measures the one that it meets, too.
CREATE VIEW individual_cells AS
SELECT
    c.experiment_id,
    c.cell_id,
    CAST(r.value_number AS INTEGER) AS run,
    CAST(g.value_number AS INTEGER) AS generation,
    CAST(i.value_number AS INTEGER) AS individual,
    -- The individual of the same generation that it meets; NULL if it meets another player.
    CAST(m.value_number AS INTEGER) AS meets
FROM cells AS c
CROSS JOIN cell_axes AS r ON r.cell_id = c.cell_id AND r.axis = 'run'
CROSS JOIN cell_axes AS g ON g.cell_id = c.cell_id AND g.axis = 'generation'
CROSS JOIN cell_axes AS i ON i.cell_id = c.cell_id AND i.axis = 'individual'
LEFT JOIN cell_axes AS m ON m.cell_id = c.cell_id AND m.axis = 'meets'
WHERE c.asked_after IS NOT NULL;
