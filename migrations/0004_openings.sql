-- Results by opening: where openings come again, an interval is over openings and not over pairs, cells are
-- compared opening by opening, and what moving first is worth is told apart from strength.
--
-- Every row of cell_openings follows from games and game_sides. The program that applies this fills it in the
-- same transaction, since SQLite need not know logarithms: a database of this schema is never without.

-- A cell's counted games by the opening that they started from. A cell's openings without a counted game have
-- no row.
CREATE TABLE cell_openings (
    cell_id INTEGER NOT NULL REFERENCES cells,
    -- The pair's number (the game's, where sides are fixed) modulo conditions.openings_count; its own where
    -- that is NULL. Equal numbers are equal openings in all cells of the same conditions.
    opening_number INTEGER NOT NULL,
    games INTEGER NOT NULL,
    -- For the cell's first player.
    wins INTEGER NOT NULL,
    draws INTEGER NOT NULL,
    losses INTEGER NOT NULL,
    -- What whoever moved first from the opening got, in half points: a win is 2 and a draw 1.
    first_mover_half_points INTEGER NOT NULL,
    -- Of these games, those in which the cell's first player moved first, and what it got in them.
    games_moving_first INTEGER NOT NULL,
    half_points_moving_first INTEGER NOT NULL,
    -- Pairs with both games counted; what the cell's first player got in them; and those in which who moved
    -- first won both games, and who moved second did. All 0 where sides are fixed.
    pairs INTEGER NOT NULL,
    pairs_half_points INTEGER NOT NULL,
    pairs_won_by_first_mover INTEGER NOT NULL,
    pairs_won_by_second_mover INTEGER NOT NULL,
    -- Games in which the cell's first player searched for a move; and, summed up over these games, the mean
    -- time of its searched moves, and the natural logarithm of that mean, which counts as half a microsecond
    -- where it is less.
    first_player_searched_games INTEGER NOT NULL,
    first_player_wall_us_mean_sum REAL NOT NULL,
    first_player_wall_us_mean_log_sum REAL NOT NULL,
    -- The same of its second player, also where it is the first one again.
    second_player_searched_games INTEGER NOT NULL,
    second_player_wall_us_mean_sum REAL NOT NULL,
    second_player_wall_us_mean_log_sum REAL NOT NULL,
    PRIMARY KEY (cell_id, opening_number)
) STRICT, WITHOUT ROWID;

-- As in cell_openings, over all openings.
ALTER TABLE cell_results ADD COLUMN pairs_won_by_first_mover INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cell_results ADD COLUMN pairs_won_by_second_mover INTEGER NOT NULL DEFAULT 0;
-- Where openings come again: how many equally weighted ones they are worth (Kish: the square of the sum of
-- their units through the sum of the squares), and how their scores vary. The interval of the score follows
-- from these two. Both NULL where the unit is the pair, or the game.
ALTER TABLE cell_results ADD COLUMN openings_effective REAL;
ALTER TABLE cell_results ADD COLUMN openings_variance REAL;

-- 1: a precision that is read over pairs (games, where sides are fixed) also where openings come again. So
-- were all, once; a sweep asks for none any more.
ALTER TABLE stop_rules ADD COLUMN over_pairs INTEGER NOT NULL DEFAULT 0 CHECK (over_pairs IN (0, 1));

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
        AS score_moving_second
FROM cells AS c
JOIN conditions AS k ON k.conditions_id = c.conditions_id
JOIN experiments AS e ON e.experiment_id = c.experiment_id
LEFT JOIN stop_rules AS s ON s.stop_rule_id = c.stop_rule_id
LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
LEFT JOIN (
    SELECT cell_id, pairs_0 + pairs_half + pairs_1 + pairs_1_half + pairs_2 AS pairs
    FROM cell_results) AS p ON p.cell_id = c.cell_id
WHERE c.in_sweep = 1;
