-- Games that begin in endings whose every position a table knows, beside what it says.

-- Plies to mate if both sides play their best, of openings drawn from an ending. NULL elsewhere, in a draw, and of what
-- was stored by older programs.
ALTER TABLE openings ADD COLUMN plies_to_mate INTEGER;

-- Each counted game from an opening whose plies to mate are known: who could mate ("attacker") against whom, whether
-- that came about, and how long it took beside the table.
CREATE VIEW mates AS
SELECT
    g.game_id,
    c.experiment_id,
    e.name AS experiment,
    g.cell_id,
    g.number,
    o.position,
    -- An odd number is a win for who moves first.
    CASE (g.number * c.swap_sides + o.plies_to_mate) % 2 WHEN 1 THEN c.first_player_name
        ELSE c.second_player_name END AS attacker,
    CASE (g.number * c.swap_sides + o.plies_to_mate) % 2 WHEN 1 THEN c.second_player_name
        ELSE c.first_player_name END AS defender,
    o.plies_to_mate,
    (o.plies_to_mate + 1) / 2 AS moves_to_mate,
    g.outcome = CASE o.plies_to_mate % 2 WHEN 1 THEN 'win' ELSE 'loss' END AS mated,
    g.plies,
    CASE g.outcome WHEN CASE o.plies_to_mate % 2 WHEN 1 THEN 'win' ELSE 'loss' END
        THEN g.plies - o.plies_to_mate END AS plies_more,
    g.termination
FROM games AS g
JOIN openings AS o ON o.opening_id = g.opening_id AND o.plies_to_mate IS NOT NULL
JOIN cells AS c ON c.cell_id = g.cell_id AND c.in_sweep = 1
JOIN experiments AS e ON e.experiment_id = c.experiment_id
WHERE g.counted = 1;
