-- Throwing away: experiments, or only their moves.

-- What is being removed, from the moment at which somebody decided it until the file has shrunk. It
-- goes in small pieces between the coordinator's other work; a coordinator that was killed goes on
-- with it at its next start.
CREATE TABLE removals (
    removal_id INTEGER PRIMARY KEY,
    -- NULL once its rows are gone and only the file has to shrink.
    experiment_id INTEGER UNIQUE REFERENCES experiments,
    -- Its name: one that is being removed has lost it, so that another may have it.
    experiment TEXT NOT NULL,
    -- 'everything' of it, or its 'moves'.
    what TEXT NOT NULL CHECK (what IN ('everything', 'moves')),
    requested_unix_us INTEGER NOT NULL,
    -- How many games there were to go through, and how many of them are done.
    games INTEGER NOT NULL,
    games_done INTEGER NOT NULL DEFAULT 0,
    -- Where it is: done are cells with smaller ids, and of this cell games with smaller numbers.
    cell_id INTEGER NOT NULL DEFAULT 0,
    number INTEGER NOT NULL DEFAULT 0
) STRICT;

-- When somebody last dropped its moves: games that were stored before have none, whatever `record`
-- says. NULL: never.
ALTER TABLE experiments ADD COLUMN pruned_unix_us INTEGER;

-- An experiment that is being removed is gone for everybody who asks for experiments.
DROP VIEW experiment_progress;
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
    (SELECT coalesce(sum(c.games_planned), 0) FROM cells AS c
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

-- Deleting a cell looks for what refers to it: without this, through every lease there ever was.
CREATE INDEX lease_ranges_cell ON lease_ranges (cell_id);

-- Two results of one deterministic game that differ: what nobody must overlook is found at once.
CREATE INDEX uncounted_games_conflicts ON uncounted_games (cell_id) WHERE reason = 'conflict';
