-- Builds of engines: a rebuilt engine is another player, whose cells stand beside those of the build before it.

-- 1: the sweep names the cell with other builds of its engines. It gets no more games, and stays in the reports,
-- right before the cell that took its place: both have the same number. Its players have the names of their builds.
ALTER TABLE cells ADD COLUMN superseded INTEGER NOT NULL DEFAULT 0 CHECK (superseded IN (0, 1));

-- The builds of each engine, in the order in which they came to its experiment, with what came of their games.
CREATE VIEW builds AS
WITH sides AS (
    SELECT c.experiment_id, c.cell_id, c.superseded, p.parameters_json ->> '$.engine' AS engine,
        p.parameters_json ->> '$.build' AS build, coalesce(r.games, 0) AS games,
        coalesce(CASE p.player_id WHEN c.first_player_id THEN r.wins ELSE r.losses END, 0) AS wins,
        coalesce(r.draws, 0) AS draws,
        coalesce(CASE p.player_id WHEN c.first_player_id THEN r.losses ELSE r.wins END, 0) AS losses
    FROM players AS p
    JOIN cells AS c ON p.player_id IN (c.first_player_id, c.second_player_id)
    LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
    WHERE p.algorithm IN ('uci', 'gtp') AND c.in_sweep = 1
)
SELECT s.experiment_id, e.name AS experiment, s.engine,
    row_number() OVER (PARTITION BY s.experiment_id, s.engine ORDER BY min(s.cell_id)) AS number,
    s.build, min(s.superseded) = 0 AS is_current, count(*) AS cells, sum(s.games) AS games,
    sum(s.wins) AS wins, sum(s.draws) AS draws, sum(s.losses) AS losses,
    (sum(s.wins) + 0.5 * sum(s.draws)) / nullif(sum(s.games), 0) AS score
FROM sides AS s JOIN experiments AS e ON e.experiment_id = s.experiment_id
WHERE NOT EXISTS (
    SELECT 1 FROM removals AS x
    WHERE x.experiment_id = e.experiment_id AND x.what = 'everything')
GROUP BY s.experiment_id, s.engine, s.build
ORDER BY s.experiment_id, s.engine, number;
