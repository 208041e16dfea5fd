-- By what a worker proves in each call who it is, and what let it in.

-- SHA-256 of the secret that Hello's answer gave the worker, from the first call that brought the secret on. NULL: it
-- has none yet, or is of an earlier release.
ALTER TABLE workers ADD COLUMN secret_sha256 BLOB CHECK (length(secret_sha256) = 32);
-- The token or client certificate that the worker said Hello with last, such as 'token:lab', 'certificate:lab' or
-- 'owner'. NULL where neither was demanded.
ALTER TABLE workers ADD COLUMN credential TEXT;

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
    w.cpu_period_us AS cpu_quota_period_us,
    w.credential
FROM workers AS w
LEFT JOIN worker_results AS r ON r.worker_id = w.worker_id
LEFT JOIN experiments AS e ON e.experiment_id = r.experiment_id;
