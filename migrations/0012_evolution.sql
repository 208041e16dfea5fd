-- Evolution (`evolve` of a sweep): every individual that was bred, what came of it, and each generation. They are notes
-- of kinds of their own in course_notes: 'individual' and 'scored' with the generation as step and the individual's
-- index as trial, and 'generation'.

-- The individuals of all generations of all runs.
CREATE VIEW individuals AS
SELECT
    n.experiment_id,
    e.name AS experiment,
    n.run,
    n.step AS generation,
    n.trial AS individual,
    n.note ->> 'formula' AS formula,
    n.note ->> 'simplified' AS simplified,
    n.note ->> 'size' AS size,
    n.note ->> 'depth' AS depth,
    -- 'random', 'elite', 'crossover' or 'mutation'.
    n.note ->> 'operator' AS operator,
    -- Its parents among the individuals of the generation before; that which gave its root first. NULL where there is none.
    n.note ->> '$.parents[0]' AS first_parent,
    n.note ->> '$.parents[1]' AS second_parent,
    -- From here on NULL as long as its generation is not measured. The fitness is also NULL if a game failed.
    s.note ->> 'fitness' AS fitness,
    -- Its place in the order of its generation, from 0.
    s.note ->> 'rank' AS rank,
    s.note ->> 'games' AS games,
    s.note ->> 'games_failed' AS games_failed,
    s.note ->> 'wins' AS wins,
    s.note ->> 'draws' AS draws,
    s.note ->> 'losses' AS losses,
    -- The sum of the margins of its games.
    s.note ->> 'margin' AS margin,
    -- How many rounds of a knock-out it survived.
    s.note ->> 'rounds' AS rounds,
    -- Whether it played no games of its own, and keeps what an equal one came to.
    s.note ->> 'kept' AS kept
FROM course_notes AS n
JOIN experiments AS e ON e.experiment_id = n.experiment_id
LEFT JOIN course_notes AS s
    ON s.experiment_id = n.experiment_id AND s.run = n.run AND s.kind = 'scored' AND s.step = n.step
    AND s.trial = n.trial
WHERE n.kind = 'individual';

-- The generations that are measured. Figures of fitness are of those individuals that have one.
CREATE VIEW generations AS
SELECT
    n.experiment_id,
    e.name AS experiment,
    n.run,
    n.step AS generation,
    n.note ->> 'individuals' AS individuals,
    -- How many of them have a fitness.
    n.note ->> 'measured' AS measured,
    -- The first in its order, and its fitness.
    n.note ->> 'best_individual' AS best_individual,
    n.note ->> 'best' AS best,
    n.note ->> 'mean' AS mean,
    n.note ->> 'least' AS least,
    -- The standard deviation of fitness.
    n.note ->> 'sd' AS sd,
    -- How many different simplified formulas there are.
    n.note ->> 'distinct' AS distinct_forms,
    n.note ->> 'mean_size' AS mean_size,
    n.note ->> 'mean_depth' AS mean_depth
FROM course_notes AS n
JOIN experiments AS e ON e.experiment_id = n.experiment_id
WHERE n.kind = 'generation';

-- Which individual each cell measures. In a league and in a knock-out it measures the one that it meets, too.
CREATE VIEW individual_cells AS
SELECT
    c.experiment_id,
    c.cell_id,
    CAST(r.value_number AS INTEGER) AS run,
    CAST(g.value_number AS INTEGER) AS generation,
    CAST(i.value_number AS INTEGER) AS individual,
    -- The individual of the same generation that it meets; NULL if it meets somebody else.
    CAST(m.value_number AS INTEGER) AS meets
FROM cells AS c
CROSS JOIN cell_axes AS r ON r.cell_id = c.cell_id AND r.axis = 'run'
CROSS JOIN cell_axes AS g ON g.cell_id = c.cell_id AND g.axis = 'generation'
CROSS JOIN cell_axes AS i ON i.cell_id = c.cell_id AND i.axis = 'individual'
LEFT JOIN cell_axes AS m ON m.cell_id = c.cell_id AND m.axis = 'meets'
WHERE c.asked_after IS NOT NULL;
