-- Experiments that grow, and cells that share what they have in common: a sweep of 100,000 cells has
-- few players and conditions, or else many of one of them, and each is stored once.

------------------------------------------------------------------------------------------------
-- What cells have in common
------------------------------------------------------------------------------------------------

-- What of a cell's definition is no player: the sweep's seed, game, rules, openings, plies_max. As
-- workers get it: the beginning of the definition's canonical JSON, up to the first player.
CREATE TABLE conditions (
    conditions_id INTEGER PRIMARY KEY,
    definition_prefix TEXT NOT NULL UNIQUE
) STRICT;

-- The game's rules under these conditions, such as win_before_rotation. Numbers and switches as in
-- player_parameters.
CREATE TABLE condition_rules (
    conditions_id INTEGER NOT NULL REFERENCES conditions,
    rule TEXT NOT NULL,
    value_number REAL,
    value_text TEXT NOT NULL,
    PRIMARY KEY (conditions_id, rule)
) STRICT, WITHOUT ROWID;

-- Canonical JSON of all its parameters, limits included; SHA-256 of it is the hash.
ALTER TABLE players ADD COLUMN parameters_json TEXT NOT NULL DEFAULT '';
-- Never NULL: SQLite adds no column that refers to a table and must not be NULL.
ALTER TABLE cells ADD COLUMN conditions_id INTEGER REFERENCES conditions;

-- A definition is {"format":…,"max_plies":…,"players":[FIRST,SECOND]}. No text inside it has the
-- mark before the players, since quotes in texts have a backslash before them.
CREATE TABLE migrated_cells (
    cell_id INTEGER PRIMARY KEY,
    definition_prefix TEXT NOT NULL
) STRICT;
INSERT INTO migrated_cells (cell_id, definition_prefix)
SELECT cell_id, substr(definition_json, 1, instr(definition_json, '"players":[') + 10) FROM cells;
INSERT INTO conditions (definition_prefix)
SELECT definition_prefix FROM migrated_cells GROUP BY definition_prefix ORDER BY min(cell_id);
UPDATE cells SET conditions_id = k.conditions_id
FROM migrated_cells AS m JOIN conditions AS k ON k.definition_prefix = m.definition_prefix
WHERE m.cell_id = cells.cell_id;
DROP TABLE migrated_cells;
INSERT INTO condition_rules (conditions_id, rule, value_number, value_text)
SELECT DISTINCT c.conditions_id, r.rule, r.value_number, r.value_text
FROM cell_rules AS r JOIN cells AS c ON c.cell_id = r.cell_id;
UPDATE players SET parameters_json = p.parameters_json
FROM (
    SELECT first_player_id AS player_id, json_extract(definition_json, '$.players[0]')
        AS parameters_json FROM cells
    UNION
    SELECT second_player_id, json_extract(definition_json, '$.players[1]') FROM cells) AS p
WHERE p.player_id = players.player_id;

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

-- What was taken apart must come together again to the last byte, or else nothing is changed.
CREATE TABLE migrated_wrongly (cell_id INTEGER CHECK (false)) STRICT;
INSERT INTO migrated_wrongly (cell_id)
SELECT c.cell_id FROM cells AS c LEFT JOIN cell_definitions AS d ON d.cell_id = c.cell_id
WHERE d.definition_json IS NOT c.definition_json;
DROP TABLE migrated_wrongly;

-- Every parameter spelt out, so that defaults may change later without changing what a stored player
-- means. A limit that is off is absent. value_number: NULL for a word; 1 and 0 for a switch.
DROP TABLE player_parameters;
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

-- The game's rules in a cell, such as win_before_rotation.
DROP TABLE cell_rules;
CREATE VIEW cell_rules AS
SELECT c.cell_id, r.rule, r.value_number, r.value_text
FROM cells AS c JOIN condition_rules AS r ON r.conditions_id = c.conditions_id;

ALTER TABLE cells DROP COLUMN definition_json;

------------------------------------------------------------------------------------------------
-- What a sweep was before
------------------------------------------------------------------------------------------------

-- Every text that an experiment was given, the latest one too, with what it changed.
CREATE TABLE sweep_versions (
    experiment_id INTEGER NOT NULL REFERENCES experiments,
    -- From 1.
    version INTEGER NOT NULL,
    -- Made by the client for each submit, so that a repeated one is a no-op.
    uuid TEXT NOT NULL UNIQUE,
    sweep_toml TEXT NOT NULL,
    submitted_unix_us INTEGER NOT NULL,
    -- Cells that the text names and the one before named too; of these, those that get more games.
    cells_kept INTEGER NOT NULL,
    cells_continued INTEGER NOT NULL,
    -- Cells that were never there; that the one before did not name, but an earlier one; and that
    -- this one does not name any more.
    cells_added INTEGER NOT NULL,
    cells_returned INTEGER NOT NULL,
    cells_dropped INTEGER NOT NULL,
    -- Games of its cells that were settled when it came, and those that were not.
    games_kept INTEGER NOT NULL,
    games_to_play INTEGER NOT NULL,
    UNIQUE (experiment_id, version)
) STRICT;
INSERT INTO sweep_versions (experiment_id, version, uuid, sweep_toml, submitted_unix_us,
    cells_kept, cells_continued, cells_added, cells_returned, cells_dropped, games_kept,
    games_to_play)
SELECT e.experiment_id, 1, e.uuid, e.sweep_toml, e.submitted_unix_us,
    0, 0, (SELECT count(*) FROM cells AS c WHERE c.experiment_id = e.experiment_id), 0, 0,
    0, (SELECT coalesce(sum(c.games_planned), 0) FROM cells AS c
        WHERE c.experiment_id = e.experiment_id)
FROM experiments AS e;

-- The players, by their names in the sweep, that the others' strength is measured against.
CREATE TABLE experiment_anchors (
    experiment_id INTEGER NOT NULL REFERENCES experiments,
    -- In the file's order.
    number INTEGER NOT NULL,
    player TEXT NOT NULL,
    PRIMARY KEY (experiment_id, number)
) STRICT, WITHOUT ROWID;

------------------------------------------------------------------------------------------------
-- Views: what a sweep no longer names leaves them
------------------------------------------------------------------------------------------------

DROP VIEW game_players;
-- Two rows for each counted game: each player's own view of it.
CREATE VIEW game_players AS
SELECT
    g.game_id,
    c.experiment_id,
    g.cell_id,
    g.number,
    g.number / 2 AS pair,
    g.opening_id,
    0 AS side,
    g.first_player_id AS player_id,
    CASE WHEN g.number % 2 = 0 THEN c.first_player_name ELSE c.second_player_name END AS player,
    g.second_player_id AS opponent_id,
    CASE WHEN g.number % 2 = 0 THEN c.second_player_name ELSE c.first_player_name END AS opponent,
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
    g.number / 2,
    g.opening_id,
    1,
    g.second_player_id,
    CASE WHEN g.number % 2 = 0 THEN c.second_player_name ELSE c.first_player_name END,
    g.first_player_id,
    CASE WHEN g.number % 2 = 0 THEN c.first_player_name ELSE c.second_player_name END,
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
    CASE WHEN g.number % 2 = 0 THEN c.first_player_name ELSE c.second_player_name END
        AS first_player,
    CASE WHEN g.number % 2 = 0 THEN c.second_player_name ELSE c.first_player_name END
        AS second_player,
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

DROP VIEW failures;
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
