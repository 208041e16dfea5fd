-- What a worker's machine gives to timed games. Empty, or NULL, where a worker does not say: one of an earlier release,
-- or on a system that does not tell.

-- The cores that it may use by their kinds, as '6 fast cores of 2 threads, 8 slower cores'.
ALTER TABLE workers ADD COLUMN cores TEXT NOT NULL DEFAULT '';
-- How many of its slots are quiet: timed games are played there alone. 0: they are played on all slots.
ALTER TABLE workers ADD COLUMN quiet_slots INTEGER CHECK (quiet_slots >= 0);
-- What its threads may take together of CPU time in each period, if that is limited, and how long a period is.
ALTER TABLE workers ADD COLUMN cpu_quota_us INTEGER CHECK (cpu_quota_us > 0);
ALTER TABLE workers ADD COLUMN cpu_period_us INTEGER CHECK (cpu_period_us > 0);

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
    w.build_profile,
    w.cores,
    w.quiet_slots,
    CAST(w.cpu_quota_us AS REAL) / w.cpu_period_us AS cpu_quota,
    w.cpu_period_us AS cpu_quota_period_us
FROM workers AS w
LEFT JOIN worker_results AS r ON r.worker_id = w.worker_id
LEFT JOIN experiments AS e ON e.experiment_id = r.experiment_id;
