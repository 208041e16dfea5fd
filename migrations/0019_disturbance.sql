-- What the machine took from players while they thought.

-- How often the system took the core from the player's thread: involuntary context switches. NULL where the system
-- does not tell, of programs of others, and of games that were played before this was measured.
ALTER TABLE moves ADD COLUMN involuntary_switches INTEGER;
ALTER TABLE uncounted_moves ADD COLUMN involuntary_switches INTEGER;

-- The moves of players that have a time limit for each move: by how much each overran it.
CREATE VIEW limited_moves AS
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
    m.wall_us,
    -- Negative of a move that took less than it might.
    m.wall_us - (p.parameters_json ->> '$.move_time_us') AS overrun_us,
    m.cpu_us,
    m.involuntary_switches,
    m.nodes,
    m.ended_by
FROM cells AS c
JOIN experiments AS e ON e.experiment_id = c.experiment_id
JOIN games AS g ON g.cell_id = c.cell_id AND g.counted = 1
JOIN moves AS m ON m.game_id = g.game_id
JOIN players AS p ON p.player_id = m.player_id
WHERE c.in_sweep = 1 AND p.parameters_json ->> '$.move_time_us' IS NOT NULL;

-- A timed game of this experiment is disturbed if the machine took more than this share of a player's time.
ALTER TABLE experiments ADD COLUMN disturbed_above REAL NOT NULL DEFAULT 0.05
    CHECK (disturbed_above >= 0 AND disturbed_above <= 1);

-- Of a timed game: which share of its time was taken from the player from whom more was taken, and whether that is
-- more than its sweep allowed when the game came in. NULL of games that are not timed, whose players are both programs
-- of others, or that came in before this was looked at.
ALTER TABLE games ADD COLUMN robbed_share REAL;
ALTER TABLE games ADD COLUMN disturbed INTEGER CHECK (disturbed IN (0, 1));
CREATE INDEX games_disturbed ON games (cell_id) WHERE disturbed = 1;

-- How often a disturbed game of this experiment is played again at most. 0: disturbed games count.
ALTER TABLE experiments ADD COLUMN replays_max INTEGER NOT NULL DEFAULT 0 CHECK (replays_max >= 0);

-- A disturbed result whose game is played again is kept here (reason 'disturbed'), once for each lease under which it
-- was reported. NULL of all others.
ALTER TABLE uncounted_games ADD COLUMN lease_id INTEGER;
CREATE UNIQUE INDEX uncounted_games_disturbed ON uncounted_games (cell_id, number, lease_id)
    WHERE reason = 'disturbed';
