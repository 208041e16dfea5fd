-- By how much games are won, in what a game counts (Othello: discs), beside win, draw and loss. Games of older
-- databases have none, so that nothing needs to be summed up.

-- How far who moved first was ahead at the end; negative where the other was. NULL in a game that counts nothing, and
-- where something else than the game's own rules ended it: a fault, the sweep's max_plies or its adjudication.
ALTER TABLE games ADD COLUMN margin INTEGER;
ALTER TABLE uncounted_games ADD COLUMN margin INTEGER;

-- Over the counted games that have a margin, seen from the cell's first player: how many, the sum of the margins, and
-- of their squares.
ALTER TABLE cell_results ADD COLUMN margin_games INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cell_results ADD COLUMN margin_sum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cell_results ADD COLUMN margin_squares INTEGER NOT NULL DEFAULT 0;
-- Pairs of which both games count and have one: how many, the sum of all their margins, and the sum of the products of
-- the two. All 0 where sides are fixed.
ALTER TABLE cell_results ADD COLUMN margin_pairs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cell_results ADD COLUMN margin_pairs_sum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cell_results ADD COLUMN margin_products INTEGER NOT NULL DEFAULT 0;
-- The 95% interval of the mean margin, over what the score is over. NULL of one unit alone.
ALTER TABLE cell_results ADD COLUMN margin_low REAL;
ALTER TABLE cell_results ADD COLUMN margin_high REAL;

-- As in cell_results.
ALTER TABLE cell_openings ADD COLUMN margin_games INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cell_openings ADD COLUMN margin_sum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE told_cells ADD COLUMN margin_sum INTEGER NOT NULL DEFAULT 0;

DROP VIEW results;
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
    -- Of whoever moved first from the opening.
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

DROP VIEW game_players;
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
