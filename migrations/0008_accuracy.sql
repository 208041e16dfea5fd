-- Experiments of kind 'accuracy': each player chooses a move in given positions, alone, and a reference (the
-- exact solver, or minimax to a depth) says what every legal move there is worth. A choice is stored as a game
-- that ends after its first ply: so it is leased, counted once, timed, exported and removed like any other. What
-- is here besides are the values.

-- 'games': players meet each other. 'accuracy': each chooses alone, and the second player of a cell is the
-- reference, which never moves.
ALTER TABLE experiments ADD COLUMN kind TEXT NOT NULL DEFAULT 'games' CHECK (kind IN ('games', 'accuracy'));

-- A position whose moves a reference has valued: once for all cells that share their conditions and their
-- reference, so that every player is held against the same values. A result whose values are others is refused.
CREATE TABLE valued_positions (
    valued_position_id INTEGER PRIMARY KEY,
    conditions_id INTEGER NOT NULL REFERENCES conditions,
    -- cells.second_player_id of its cells.
    reference_player_id INTEGER NOT NULL REFERENCES players (player_id),
    opening_id INTEGER NOT NULL REFERENCES openings,
    engine_revision INTEGER NOT NULL,
    -- Plies of random play from the start of the game to it; NULL where it was listed.
    plies INTEGER,
    legal_moves INTEGER NOT NULL,
    -- For the side to move. Exact values are 1 (a win), 0 and -1; those of minimax are its scores. Where the best
    -- and the worst are equal there is nothing to choose, and the position is in no statistic.
    best_value INTEGER NOT NULL,
    worst_value INTEGER NOT NULL,
    best_moves INTEGER NOT NULL,
    -- The rank of a best move (1 is the first; moves of equal value share the mean of their ranks), and what a
    -- random mover is expected to get: rank, loss of value, and how often a best move.
    best_rank REAL NOT NULL,
    random_rank REAL NOT NULL,
    random_loss REAL NOT NULL,
    random_best REAL NOT NULL,
    UNIQUE (conditions_id, reference_player_id, opening_id, engine_revision)
) STRICT;

CREATE TABLE move_values (
    valued_position_id INTEGER NOT NULL REFERENCES valued_positions,
    move TEXT NOT NULL,
    -- Its place among the legal moves, in canonical order, from 0.
    number INTEGER NOT NULL,
    value INTEGER NOT NULL,
    -- By value, 1 for the best; moves of equal value share the mean of their ranks.
    rank REAL NOT NULL,
    PRIMARY KEY (valued_position_id, move)
) STRICT, WITHOUT ROWID;

-- Every counted choice in a position that has something to choose.
CREATE VIEW choices AS
SELECT
    c.experiment_id,
    e.name AS experiment,
    g.cell_id,
    c.first_player_name AS player,
    c.second_player_name AS reference,
    g.game_id,
    g.number,
    o.position,
    p.plies,
    m.move,
    v.value,
    p.best_value,
    v.rank,
    p.best_value - v.value AS loss,
    v.value = p.best_value AS is_best,
    p.legal_moves,
    p.best_moves,
    p.best_rank,
    p.random_rank,
    p.random_loss,
    p.random_best,
    m.depth,
    m.nodes,
    m.evaluations,
    m.wall_us,
    p.valued_position_id
FROM cells AS c
JOIN experiments AS e ON e.experiment_id = c.experiment_id AND e.kind = 'accuracy'
JOIN games AS g ON g.cell_id = c.cell_id AND g.counted = 1
JOIN valued_positions AS p ON p.conditions_id = c.conditions_id
    AND p.reference_player_id = c.second_player_id AND p.opening_id = g.opening_id
    AND p.engine_revision = g.engine_revision AND p.best_value > p.worst_value
JOIN moves AS m ON m.game_id = g.game_id AND m.ply = 0
JOIN move_values AS v ON v.valued_position_id = p.valued_position_id AND v.move = m.move
JOIN openings AS o ON o.opening_id = g.opening_id
WHERE c.in_sweep = 1;

-- How well each player chooses in each cell, over the positions that have something to choose. A skill is 0 for
-- a random mover and 1 for one that never errs.
CREATE VIEW accuracy AS
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
    c.second_player_name AS reference,
    c.games_planned AS choices_planned,
    coalesce(r.games, 0) AS choices,
    coalesce(r.games_failed, 0) AS choices_failed,
    count(h.game_id) AS positions,
    avg(h.is_best) AS best,
    avg(h.random_best) AS random_best,
    (avg(h.is_best) - avg(h.random_best)) / (1.0 - avg(h.random_best)) AS best_skill,
    avg(h.rank) AS rank,
    avg(h.random_rank) AS random_rank,
    (avg(h.random_rank) - avg(h.rank)) / (avg(h.random_rank) - avg(h.best_rank)) AS rank_skill,
    avg(h.loss) AS loss,
    avg(h.random_loss) AS random_loss,
    1.0 - avg(h.loss) / avg(h.random_loss) AS loss_skill,
    c.first_player_id AS player_id,
    c.second_player_id AS reference_id,
    c.timed
FROM cells AS c
JOIN experiments AS e ON e.experiment_id = c.experiment_id AND e.kind = 'accuracy'
LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
LEFT JOIN choices AS h ON h.cell_id = c.cell_id
WHERE c.in_sweep = 1
GROUP BY c.experiment_id, c.cell_id;
