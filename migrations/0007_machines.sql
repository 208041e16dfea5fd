-- What results come from: the machines of workers, and the program that each of them runs. Empty, or NULL, where a
-- worker does not say: one of an earlier release, or on a system that does not tell.

-- The machine's processor, as it names itself.
ALTER TABLE workers ADD COLUMN cpu_model TEXT NOT NULL DEFAULT '';
-- How many logical processors of it the worker may use.
ALTER TABLE workers ADD COLUMN logical_cores INTEGER CHECK (logical_cores > 0);
-- With the architecture, as 'Debian GNU/Linux 12 (bookworm), Linux 6.1.0-18-amd64, x86_64'.
ALTER TABLE workers ADD COLUMN operating_system TEXT NOT NULL DEFAULT '';
-- The Git commit that was checked out where its program was built, in hexadecimal. What was changed without being
-- committed is not in it.
ALTER TABLE workers ADD COLUMN build_commit TEXT NOT NULL DEFAULT '';
-- How its program was compiled: 'release' or 'debug'.
ALTER TABLE workers ADD COLUMN build_profile TEXT NOT NULL DEFAULT '';

DROP VIEW worker_productivity;
-- What each worker has done, and on what.
CREATE VIEW worker_productivity AS
SELECT
    w.worker_id,
    w.name AS worker,
    w.host,
    w.slots,
    w.engine_revision,
    w.version,
    r.experiment_id,
    e.name AS experiment,
    r.games,
    r.plies,
    r.wall_us AS playing_wall_us,
    r.wall_us / nullif(r.games, 0) AS game_wall_us_mean,
    r.first_started_unix_us,
    r.last_started_unix_us,
    w.cpu_model,
    w.logical_cores,
    w.operating_system,
    w.build_commit,
    w.build_profile
FROM workers AS w
LEFT JOIN worker_results AS r ON r.worker_id = w.worker_id
LEFT JOIN experiments AS e ON e.experiment_id = r.experiment_id;
