-- How fast workers are, and time limits that are scaled by it.

-- Time limits of this experiment's players are as its sweep says on a worker that visits so many nodes a second, last
-- longer on slower ones, and shorter on faster ones: reference_speed / speed times as long. NULL: on all they are as it
-- says.
ALTER TABLE experiments ADD COLUMN reference_speed INTEGER CHECK (reference_speed > 0);
-- At most so many thousandths as long, and at least the inverse of it.
ALTER TABLE experiments ADD COLUMN factor_max_permille INTEGER NOT NULL DEFAULT 4000
    CHECK (factor_max_permille >= 1000);

-- How many times as long its players' time limits were in a game, and the speed of its worker by which that was found,
-- in nodes per second. NULL where they were as the sweep says.
ALTER TABLE games ADD COLUMN time_factor REAL CHECK (time_factor > 0);
ALTER TABLE games ADD COLUMN speed INTEGER CHECK (speed > 0);
ALTER TABLE uncounted_games ADD COLUMN time_factor REAL CHECK (time_factor > 0);
ALTER TABLE uncounted_games ADD COLUMN speed INTEGER CHECK (speed > 0);
CREATE INDEX games_scaled ON games (cell_id) WHERE time_factor IS NOT NULL;

-- What workers measured of their machines: how many nodes of a plain search of a game one slot visits in a second by
-- the clock, while all slots that play timed games do the same.
CREATE TABLE worker_speeds (
    worker_id INTEGER NOT NULL REFERENCES workers (worker_id),
    game TEXT NOT NULL,
    -- By the coordinator's clock.
    measured_unix_us INTEGER NOT NULL,
    nodes_per_second INTEGER NOT NULL CHECK (nodes_per_second > 0),
    -- The standard deviation between spells of 50 ms and between slots, as a share of the speed.
    noise REAL NOT NULL,
    -- How many slots measured at once.
    slots INTEGER NOT NULL,
    PRIMARY KEY (worker_id, game, measured_unix_us)
) STRICT, WITHOUT ROWID;

-- The moves of players that have a time limit for each move: by how much each overran the limit that it had, which is
-- the sweep's, or time_factor times that.
DROP VIEW limited_moves;
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
