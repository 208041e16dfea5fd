-- Programs of others as players (algorithm 'uci' or 'gtp'): which one it was that played each game, since what an
-- engine's name means is said by each worker's machine for itself; and how one lost a game by a fault of its own.
-- Games of our players alone have no row in any of these tables.

-- Every program that ever played a settled game, as it told of itself. One row for each that is different.
CREATE TABLE engines (
    engine_id INTEGER PRIMARY KEY,
    -- What it says that it is, and who made it; each '' if it does not say.
    name TEXT NOT NULL,
    author TEXT NOT NULL,
    -- Of its program, in hexadecimal.
    sha256 TEXT NOT NULL,
    UNIQUE (name, author, sha256)
) STRICT;

-- Which of them played a settled game, on which side. Results that are kept beside the settled ones have none.
CREATE TABLE game_engines (
    game_id INTEGER NOT NULL REFERENCES games,
    -- As in moves. 0: who moved first from the opening; 1: the other.
    side INTEGER NOT NULL CHECK (side IN (0, 1)),
    -- Not checked here: rows of engines are never deleted, and an index for it would cost every game.
    engine_id INTEGER NOT NULL,
    PRIMARY KEY (game_id, side)
) STRICT, WITHOUT ROWID;

-- How settled games were lost by a fault of a program of others, or given up by it: exactly those whose termination
-- is 'time_forfeit', 'illegal_move', 'crash', 'stall' or 'resignation'.
CREATE TABLE forfeits (
    game_id INTEGER PRIMARY KEY REFERENCES games,
    -- What it did, in words.
    message TEXT NOT NULL,
    -- The last lines that were said: '> ' to the program, '< ' by it, '! ' on its standard error.
    output TEXT NOT NULL
) STRICT;

-- How long a program of others says that it took; NULL where it does not, and of our players.
ALTER TABLE moves ADD COLUMN told_us INTEGER;

-- Which programs of others played as which player in each cell, over counted games. More than one row for one
-- player of one cell: its results are of several programs.
CREATE VIEW engines_used AS
SELECT
    c.experiment_id,
    e.name AS experiment,
    c.cell_id,
    c.number AS cell_number,
    CASE x.side WHEN 0 THEN g.first_player_id ELSE g.second_player_id END AS player_id,
    CASE (g.number % 2 * c.swap_sides + x.side) % 2 WHEN 0 THEN c.first_player_name
        ELSE c.second_player_name END AS player,
    n.engine_id,
    n.name AS engine,
    n.author,
    n.sha256,
    -- In self-play one program has both sides of a game.
    count(DISTINCT g.game_id) AS games
FROM cells AS c
JOIN experiments AS e ON e.experiment_id = c.experiment_id
JOIN games AS g ON g.cell_id = c.cell_id AND g.counted = 1
JOIN game_engines AS x ON x.game_id = g.game_id
JOIN engines AS n ON n.engine_id = x.engine_id
WHERE c.in_sweep = 1
GROUP BY c.experiment_id, c.cell_id, 5, 6, n.engine_id;
