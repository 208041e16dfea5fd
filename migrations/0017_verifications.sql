-- Games that are played once more by another worker than the one that played them, and what came of comparing the
-- two. Each is the one task, numbered 0, of a cell of the experiment of its own, which no report shows (in_sweep = 0).
CREATE TABLE verifications (
    -- The cell whose task it is. Conditions and players are those of the cell that is verified.
    cell_id INTEGER PRIMARY KEY REFERENCES cells,
    -- Which game is verified: its cell, its number there, and its result as it was when this was ordered. That is
    -- NULL once the result was taken out.
    verified_cell_id INTEGER NOT NULL REFERENCES cells,
    number INTEGER NOT NULL,
    game_id INTEGER REFERENCES games ON DELETE SET NULL,
    -- How often it was ordered before.
    ordered_before INTEGER NOT NULL,
    -- Where the search of each ply ends, in nodes: a list in JSON, empty if the moves are not recorded.
    stops_json TEXT NOT NULL,
    -- Who played the game, and does not verify it.
    played_by_worker_id INTEGER REFERENCES workers,
    ordered_unix_us INTEGER NOT NULL,
    -- When there was a verdict; NULL: not yet.
    settled_unix_us INTEGER,
    verdict TEXT CHECK (verdict IN ('same', 'different', 'not played')),
    -- Why it was not played.
    failure TEXT,
    -- Who played it again, with which engine.
    verified_by_worker_id INTEGER REFERENCES workers,
    engine_revision INTEGER,
    -- Where the two games first differ: the ply, from 0, and what differs there, in JSON. The ply is NULL for what the
    -- whole game has.
    ply INTEGER,
    difference_json TEXT,
    CHECK ((settled_unix_us IS NULL) = (verdict IS NULL)),
    CHECK ((failure IS NOT NULL) = (verdict IS NOT NULL AND verdict = 'not played')),
    CHECK ((difference_json IS NOT NULL) = (verdict IS NOT NULL AND verdict = 'different'))
) STRICT;
CREATE INDEX verifications_verified ON verifications (verified_cell_id, number);
CREATE INDEX verifications_game ON verifications (game_id);
CREATE INDEX verifications_played_by ON verifications (played_by_worker_id);
CREATE INDEX verifications_verified_by ON verifications (verified_by_worker_id);
CREATE INDEX verifications_different ON verifications (cell_id) WHERE verdict = 'different';

-- Each cell's definition: all that decides its tasks, as workers get it. SHA-256 of it is the hash.
DROP VIEW cell_definitions;
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
