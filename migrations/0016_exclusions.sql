-- Workers that are not believed any more: nothing of theirs counts, and they get no games.

-- Who was excluded, from what, and how far the results of it are taken out: they go to uncounted_games with the
-- reason 'excluded', and their games are played again. That goes in small pieces between the coordinator's other
-- work; a coordinator that was killed goes on with it at its next start.
CREATE TABLE exclusions (
    exclusion_id INTEGER PRIMARY KEY,
    worker_id INTEGER NOT NULL REFERENCES workers,
    -- NULL: from all.
    experiment_id INTEGER REFERENCES experiments,
    -- Results of games that began before by the worker's clock stay. NULL: none stays.
    since_unix_us INTEGER,
    requested_unix_us INTEGER NOT NULL,
    -- When somebody let it in again. NULL: it gets no games.
    readmitted_unix_us INTEGER,
    -- Results that were taken out, and when the last one was. NULL: there may be more.
    games_done INTEGER NOT NULL DEFAULT 0,
    done_unix_us INTEGER,
    -- Where it is: done are experiments and cells with smaller ids, and of this cell games with smaller numbers.
    at_experiment_id INTEGER NOT NULL DEFAULT 0,
    at_cell_id INTEGER NOT NULL DEFAULT 0,
    at_number INTEGER NOT NULL DEFAULT 0,
    -- When the first and the last game of this experiment began that stay of the worker's.
    kept_first_unix_us INTEGER,
    kept_last_unix_us INTEGER
) STRICT;
-- People name workers.
CREATE INDEX workers_name ON workers (name);
CREATE INDEX exclusions_worker ON exclusions (worker_id);
CREATE INDEX exclusions_undone ON exclusions (exclusion_id) WHERE done_unix_us IS NULL;
