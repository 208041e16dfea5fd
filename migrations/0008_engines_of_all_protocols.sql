-- The view of builds with the engines of all protocols, also of later ones: every external engine has a name.
DROP VIEW builds;
CREATE VIEW builds AS
-- The [builds](engines.md#builds) of each engine that an experiment's sweep names or named before it was
-- rebuilt, in the order in which they came, with the results of their games.
WITH sides AS (
    SELECT c.experiment_id, c.cell_id, c.superseded, p.parameters_json ->> '$.engine' AS engine,
        p.parameters_json ->> '$.build' AS build, coalesce(r.games, 0) AS games,
        coalesce(CASE p.player_id WHEN c.first_player_id THEN r.wins ELSE r.losses END, 0) AS wins,
        coalesce(r.draws, 0) AS draws,
        coalesce(CASE p.player_id WHEN c.first_player_id THEN r.losses ELSE r.wins END, 0) AS losses
    FROM players AS p
    JOIN cells AS c ON p.player_id IN (c.first_player_id, c.second_player_id)
    LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
    WHERE p.parameters_json ->> '$.engine' IS NOT NULL AND c.in_sweep = 1
)
SELECT
    -- The experiment.
    s.experiment_id,
    e.name AS experiment,
    -- The engine's name in the sweep.
    s.engine,
    -- Its builds in order: 1 came first.
    row_number() OVER (PARTITION BY s.experiment_id, s.engine ORDER BY min(s.cell_id)) AS number,
    -- Its hash, in hexadecimal; NULL: unknown.
    s.build,
    -- 1: it plays now; 0: another build took its place.
    min(s.superseded) = 0 AS is_current,
    -- Cells in which it plays, and counted games of these.
    count(*) AS cells,
    sum(s.games) AS games,
    -- The engine's results in these games; cells against different opponents are added up, so compare
    -- builds that met the same opponents.
    sum(s.wins) AS wins,
    sum(s.draws) AS draws,
    sum(s.losses) AS losses,
    (sum(s.wins) + 0.5 * sum(s.draws)) / nullif(sum(s.games), 0) AS score
FROM sides AS s JOIN experiments AS e ON e.experiment_id = s.experiment_id
WHERE NOT EXISTS (
    SELECT 1 FROM removals AS x
    WHERE x.experiment_id = e.experiment_id AND x.what = 'everything')
GROUP BY s.experiment_id, s.engine, s.build
ORDER BY s.experiment_id, s.engine, number;
