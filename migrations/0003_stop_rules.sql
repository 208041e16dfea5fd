-- Cells may end by a sequential test as well as by a precision: stop rules become rows of their own. How
-- many openings there are is known where they come again, since few of them under many pairs are not many
-- pairs.
--
-- Self-play tells nothing of who beats whom: head_to_head leaves it out (it counted such games twice).

-- When a cell has been played enough. Rows are shared, and stay.
CREATE TABLE stop_rules (
    stop_rule_id INTEGER PRIMARY KEY,
    -- The rule in words.
    rule TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('precision', 'sprt')),
    -- A cell ends once half the width of its score's interval is no more than this, in points of a game.
    precision REAL CHECK (precision > 0 AND precision < 0.5),
    -- A cell ends once a sequential probability ratio test takes one of two strengths of its first player, in
    -- Elo of this model, for the likelier one; alpha and beta are how probable it is to take elo1 where
    -- elo0 is true, and the other way round.
    elo0 REAL,
    elo1 REAL CHECK (elo0 < elo1),
    alpha REAL CHECK (alpha > 0 AND alpha < 0.5),
    beta REAL CHECK (beta > 0 AND beta < 0.5),
    model TEXT CHECK (model IN ('normalized', 'logistic')),
    CHECK ((kind = 'precision') = (precision IS NOT NULL)),
    CHECK ((kind = 'sprt') = (elo0 IS NOT NULL AND elo1 IS NOT NULL AND alpha IS NOT NULL
        AND beta IS NOT NULL AND model IS NOT NULL))
) STRICT;

-- Two that differ beyond the fifteenth digit are one.
INSERT OR IGNORE INTO stop_rules (rule, kind, precision)
SELECT DISTINCT 'precision ' || stop_precision, 'precision', stop_precision
FROM cells WHERE stop_precision IS NOT NULL;

-- NULL: the cell gets all its games. No part of its definition.
ALTER TABLE cells ADD COLUMN stop_rule_id INTEGER REFERENCES stop_rules;
UPDATE cells SET stop_rule_id = (
    SELECT s.stop_rule_id FROM stop_rules AS s WHERE s.rule = 'precision ' || cells.stop_precision)
WHERE stop_precision IS NOT NULL;

-- After so many openings the first comes again: NULL where there are more than anybody plays, or where
-- nobody has counted them.
ALTER TABLE conditions ADD COLUMN openings_count INTEGER CHECK (openings_count > 0);

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
        coalesce(k.openings_count, 9223372036854775807)) AS openings_used
FROM cells AS c
JOIN conditions AS k ON k.conditions_id = c.conditions_id
JOIN experiments AS e ON e.experiment_id = c.experiment_id
LEFT JOIN stop_rules AS s ON s.stop_rule_id = c.stop_rule_id
LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
LEFT JOIN (
    SELECT cell_id, pairs_0 + pairs_half + pairs_1 + pairs_1_half + pairs_2 AS pairs
    FROM cell_results) AS p ON p.cell_id = c.cell_id
WHERE c.in_sweep = 1;

ALTER TABLE cells DROP COLUMN stop_precision;

DROP VIEW head_to_head;
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
