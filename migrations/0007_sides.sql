-- Sides: which side of the game moved first, and cells whose players do not swap theirs.

------------------------------------------------------------------------------------------------
-- Which side of the game moved first from the opening
------------------------------------------------------------------------------------------------

-- Results by side of the game (white or black, x or o) go by it, since an opening may have either to
-- move: `first` is the side that moves first from the start of the game. As `outcome`, it is NULL only
-- for a game that finally failed.
ALTER TABLE games ADD COLUMN first_side TEXT CHECK (first_side IN ('first', 'second'));
-- SQLite adds no column that must not be NULL without a default; whoever writes a row names the side.
ALTER TABLE uncounted_games ADD COLUMN first_side TEXT NOT NULL DEFAULT 'first'
    CHECK (first_side IN ('first', 'second'));

-- Every position so far says whose turn it is: by its last letter in Nim, elsewhere by the number of
-- marbles or marks.
CREATE TABLE migrated_openings (
    opening_id INTEGER PRIMARY KEY,
    first_side TEXT NOT NULL
) STRICT;
INSERT INTO migrated_openings (opening_id, first_side)
SELECT
    opening_id,
    CASE
        WHEN game = 'nim' AND position LIKE '%/b' THEN 'second'
        WHEN game = 'pentago' AND length(replace(position, 'w', ''))
            < length(replace(position, 'b', '')) THEN 'second'
        WHEN game = 'tic-tac-toe' AND length(replace(position, 'x', ''))
            < length(replace(position, 'o', '')) THEN 'second'
        ELSE 'first'
    END
FROM openings;
UPDATE games SET first_side = m.first_side
FROM migrated_openings AS m WHERE m.opening_id = games.opening_id;
UPDATE uncounted_games SET first_side = m.first_side
FROM migrated_openings AS m WHERE m.opening_id = uncounted_games.opening_id;
DROP TABLE migrated_openings;

------------------------------------------------------------------------------------------------
-- Cells whose players do not swap sides
------------------------------------------------------------------------------------------------

-- 1: in odd numbers the players are swapped, two games from one opening are a pair, and the pair is
-- the unit of statistics. 0: the first player moves first in every game, game n starts from opening n,
-- there are no pairs (pairs_0 to pairs_2 of cell_results are 0), and the unit is the game.
ALTER TABLE cells ADD COLUMN swap_sides INTEGER NOT NULL DEFAULT 1 CHECK (swap_sides IN (0, 1));

DROP VIEW results;
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
    c.games_planned,
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

DROP VIEW slowest_games;
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
