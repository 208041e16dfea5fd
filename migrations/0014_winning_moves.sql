-- How often a player keeps a win, over the positions in which some move wins and some move does not, beside what a
-- random mover is expected to get there. It follows from the values of the moves, which are all stored.

DROP VIEW accuracy;
DROP VIEW choices;

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
    -- Whether the chosen move wins. NULL where there is no win, or no move gives it away, and where the reference does
    -- not say who wins: the values of 'exact' and 'table' do, scores of minimax do not.
    CASE WHEN r.algorithm IN ('exact', 'table') AND p.best_value > 0 AND p.worst_value <= 0
        THEN v.value > 0 END AS keeps_win,
    -- The share of legal moves that win, where keeps_win is not NULL. Counted from the values of the moves, so that
    -- positions that were stored earlier have it as well.
    CASE WHEN r.algorithm IN ('exact', 'table') AND p.best_value > 0 AND p.worst_value <= 0
        THEN (SELECT 1.0 * count(*) FROM move_values AS w
            WHERE w.valued_position_id = p.valued_position_id AND w.value > 0) / p.legal_moves
        END AS random_keeps_win,
    m.depth,
    m.nodes,
    m.evaluations,
    m.wall_us,
    p.valued_position_id
FROM cells AS c
JOIN experiments AS e ON e.experiment_id = c.experiment_id AND e.kind = 'accuracy'
JOIN players AS r ON r.player_id = c.second_player_id
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
    CASE WHEN p.algorithm IN ('exact', 'table') THEN count(h.keeps_win) END AS winnable,
    avg(h.keeps_win) AS keeps_win,
    avg(h.random_keeps_win) AS random_keeps_win,
    (avg(h.keeps_win) - avg(h.random_keeps_win)) / (1.0 - avg(h.random_keeps_win)) AS keeps_win_skill,
    c.first_player_id AS player_id,
    c.second_player_id AS reference_id,
    c.timed
FROM cells AS c
JOIN experiments AS e ON e.experiment_id = c.experiment_id AND e.kind = 'accuracy'
JOIN players AS p ON p.player_id = c.second_player_id
LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
LEFT JOIN choices AS h ON h.cell_id = c.cell_id
WHERE c.in_sweep = 1
GROUP BY c.experiment_id, c.cell_id;
