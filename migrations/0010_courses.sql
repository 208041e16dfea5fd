-- Experiments that depend on their own results (`find` of a sweep): what is to be known of their runs, one for each
-- point of the grid and opponent. Written with the cells and outcomes that it follows from; it decides nothing.

-- What a run of an experiment noted.
CREATE TABLE course_notes (
    experiment_id INTEGER NOT NULL REFERENCES experiments,
    -- From 0, in the order of the grid.
    run INTEGER NOT NULL,
    -- 'begun': what the run is. 'tried': settings that a step tries. 'estimated': the best settings, as far as is known
    -- after a step. 'ended': the run is done. Other kinds of runs may have more to say.
    kind TEXT NOT NULL,
    -- The step, from 0; 0 where there is none.
    step INTEGER NOT NULL,
    -- Which of the step, from 0; 0 where there is none.
    trial INTEGER NOT NULL,
    -- What there is to be known, as JSON: the views below take it apart.
    note TEXT NOT NULL,
    PRIMARY KEY (experiment_id, run, kind, step, trial)
) STRICT, WITHOUT ROWID;

-- The runs of experiments: each follows a course of its own.
CREATE VIEW runs AS
SELECT
    n.experiment_id,
    e.name AS experiment,
    n.run,
    n.note ->> 'kind' AS kind,
    n.note ->> 'player' AS player,
    -- Whom it meets, as a JSON list of names.
    n.note -> 'opponents' AS opponents,
    -- Its place on the grid's axes, as a JSON object of texts.
    (
        SELECT json_group_object(a.value ->> 'axis', a.value ->> 'text')
        FROM json_each(n.note, '$.axes') AS a
    ) AS axes,
    EXISTS (
        SELECT 1 FROM course_notes AS x
        WHERE x.experiment_id = n.experiment_id AND x.run = n.run AND x.kind = 'ended'
    ) AS ended
FROM course_notes AS n
JOIN experiments AS e ON e.experiment_id = n.experiment_id
WHERE n.kind = 'begun';

-- Which run and step each cell of such an experiment is of.
CREATE VIEW run_cells AS
SELECT
    c.experiment_id,
    c.cell_id,
    CAST(r.value_number AS INTEGER) AS run,
    CAST(s.value_number AS INTEGER) AS step
FROM cells AS c
CROSS JOIN cell_axes AS r ON r.cell_id = c.cell_id AND r.axis = 'run'
CROSS JOIN cell_axes AS s ON s.cell_id = c.cell_id AND s.axis = 'step'
WHERE c.asked_after IS NOT NULL;

-- What runs tried: a row for each parameter of each trial.
CREATE VIEW trials AS
SELECT
    n.experiment_id,
    e.name AS experiment,
    n.run,
    n.step,
    n.trial,
    s.value ->> 'parameter' AS parameter,
    s.value ->> 'number' AS value_number,
    s.value ->> 'text' AS value_text
FROM course_notes AS n
JOIN experiments AS e ON e.experiment_id = n.experiment_id
CROSS JOIN json_each(n.note, '$.settings') AS s
WHERE n.kind = 'tried';

-- What runs held for the best after each step: a row for each parameter.
CREATE VIEW estimates AS
SELECT
    n.experiment_id,
    e.name AS experiment,
    n.run,
    n.step,
    s.value ->> 'parameter' AS parameter,
    s.value ->> 'number' AS value_number,
    s.value ->> 'text' AS value_text,
    -- Whether there is a 95% interval; an end of it that lies beyond what is tried is NULL.
    s.value -> 'interval' IS NOT NULL AS has_interval,
    s.value ->> '$.interval.low.number' AS low_number,
    s.value ->> '$.interval.low.text' AS low_text,
    s.value ->> '$.interval.high.number' AS high_number,
    s.value ->> '$.interval.high.text' AS high_text
FROM course_notes AS n
JOIN experiments AS e ON e.experiment_id = n.experiment_id
CROSS JOIN json_each(n.note, '$.estimates') AS s
WHERE n.kind = 'estimated';
