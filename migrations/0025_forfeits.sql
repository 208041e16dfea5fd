-- Forfeits: games that a program of others lost by failing, and not by its play.

-- Counted games that were forfeited. Not 'resignation': who gives a game up has not failed.
CREATE INDEX games_forfeited ON games (cell_id)
    WHERE counted = 1 AND termination IN ('crash', 'stall', 'illegal_move', 'time_forfeit');

-- After how many forfeits of one player an experiment is paused. NULL: never, they are losses like others.
ALTER TABLE experiments ADD COLUMN forfeits_max INTEGER CHECK (forfeits_max >= 0);
-- Forfeits of games with ids up to this one do not pause it (again): somebody has resumed it since.
ALTER TABLE experiments ADD COLUMN forfeits_after_game_id INTEGER NOT NULL DEFAULT 0;
-- Who forfeited more than that, while the experiment is paused for it.
ALTER TABLE experiments ADD COLUMN forfeits_player TEXT;

-- The engine whose games an exclusion is about, by its name in sweeps: the worker forfeits them and others do not.
-- NULL: all games. Such rows are written by the coordinator and not by people.
ALTER TABLE exclusions ADD COLUMN engine TEXT;
-- For these: how many of its games with the engine the worker had forfeited when it was barred, and of how many.
ALTER TABLE exclusions ADD COLUMN forfeits INTEGER;
ALTER TABLE exclusions ADD COLUMN engine_games INTEGER;
-- The same of all other workers together.
ALTER TABLE exclusions ADD COLUMN forfeits_of_others INTEGER;
ALTER TABLE exclusions ADD COLUMN engine_games_of_others INTEGER;
-- How it forfeited the last of them, and what it said before: the games are taken out.
ALTER TABLE exclusions ADD COLUMN message TEXT;
ALTER TABLE exclusions ADD COLUMN output TEXT;

-- Counted games that a player forfeited: who, how, where, and what its program said last.
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

-- Workers that get no games of an engine, since it forfeits them there and not at other workers.
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
