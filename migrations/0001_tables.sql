-- The results database.
--
-- People open this file with sqlite3, pandas or DuckDB: the schema is a user interface, and its
-- reference is docs/sql.md. Tables are plural, keys are <singular>_id, units are in the names
-- (wall_us: microseconds by the wall clock), ids and seeds stay below 2^53 so that JavaScript and
-- DuckDB's doubles read them exactly, and no column needs parsing to be of use.
--
-- Ids that people cite, or that must only grow, are AUTOINCREMENT: SQLite never assigns one again,
-- even after its row was deleted.
--
-- A stock SQLite of 2021 (3.37, the first with STRICT tables) must be able to read the schema: no
-- newer syntax, and no functions from SQLite's mathematics, which it may lack.

------------------------------------------------------------------------------------------------
-- The database and its writers
------------------------------------------------------------------------------------------------

-- One row: names this database among all others, so that a worker which meets another one behind
-- the same address knows that its leases and cells are not meant.
CREATE TABLE databases (
    database_id INTEGER PRIMARY KEY CHECK (database_id = 1),
    uuid TEXT NOT NULL
) STRICT;
INSERT INTO databases (database_id, uuid) VALUES (1, lower(hex(randomblob(16))));

-- One row for each start of a coordinator. The greatest epoch is the one that may write: every
-- transaction checks it, so a coordinator that was replaced ends itself.
CREATE TABLE coordinators (
    coordinator_epoch INTEGER PRIMARY KEY,
    started_unix_us INTEGER NOT NULL,
    version TEXT NOT NULL
) STRICT;

------------------------------------------------------------------------------------------------
-- Experiments, cells, players, openings
------------------------------------------------------------------------------------------------

-- Sweeps that were submitted.
CREATE TABLE experiments (
    experiment_id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Made by the client, so that a repeated submit is a no-op.
    uuid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    game TEXT NOT NULL,
    seed INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'paused', 'cancelled', 'finished')),
    -- Larger goes first.
    priority INTEGER NOT NULL,
    -- 'games' stores no moves, only what is summed over them.
    record TEXT NOT NULL CHECK (record IN ('moves', 'games')),
    -- The file as it was submitted: with it, and this engine revision, everything can be redone.
    sweep_toml TEXT NOT NULL,
    engine_revision INTEGER NOT NULL,
    submitted_unix_us INTEGER NOT NULL,
    finished_unix_us INTEGER,
    -- This experiment's own views, with a column for each axis; '' if it is being removed.
    results_view TEXT NOT NULL,
    times_view TEXT NOT NULL,
    -- How long a game may take by its worker's clock before it fails; NULL: as long as it takes. It
    -- decides no move: a game has the result that it would have had, or none.
    game_timeout_us INTEGER CHECK (game_timeout_us > 0),
    -- Whether results of its cells decide which cells it gets next: 'open' while more cells may
    -- come, so that the experiment is not finished when its games are; then 'ended'. NULL: its
    -- sweep names all its cells.
    course TEXT CHECK (course IN ('open', 'ended')),
    -- When its moves were last dropped: games stored before then have no moves, whatever `record`
    -- contains. NULL: never.
    pruned_unix_us INTEGER,
    -- Which cells are served first: 'grid', each to its end before the next, in the grid's order;
    -- 'informative', the cell whose score is known least.
    allocation TEXT NOT NULL DEFAULT 'grid'
        CHECK (allocation IN ('grid', 'informative')),
    -- 'games': players meet each other. 'accuracy': each player chooses a move in given positions,
    -- alone, and the second player of a cell is the reference, which values every legal move there
    -- and never moves. A choice is stored as a game that ends after its first ply, so it is leased,
    -- counted once, timed, exported and removed like any other game.
    kind TEXT NOT NULL DEFAULT 'games' CHECK (kind IN ('games', 'accuracy')),
    -- A timed game of this experiment is disturbed if the machine took more than this share of a player's time.
    disturbed_above REAL NOT NULL DEFAULT 0.05
        CHECK (disturbed_above >= 0 AND disturbed_above <= 1),
    -- How often a disturbed game of this experiment is played again at most. 0: disturbed games count.
    replays_max INTEGER NOT NULL DEFAULT 0 CHECK (replays_max >= 0),
    -- The speed, in nodes per second, of a worker on which time limits apply as the sweep states
    -- them. They are longer on slower workers and shorter on faster ones, by the factor
    -- reference_speed / speed. NULL: time limits are the same on all workers.
    reference_speed INTEGER CHECK (reference_speed > 0),
    -- The greatest factor, in thousandths; the least is its inverse.
    factor_max_permille INTEGER NOT NULL DEFAULT 4000
        CHECK (factor_max_permille >= 1000),
    -- The number of forfeits by one player after which the experiment is paused. NULL: never;
    -- forfeits are losses like others.
    forfeits_max INTEGER CHECK (forfeits_max >= 0),
    -- Forfeits of games with ids up to this one do not pause the experiment again, since it was
    -- resumed after them.
    forfeits_after_game_id INTEGER NOT NULL DEFAULT 0,
    -- The player that forfeited more than forfeits_max, while the experiment is paused for it.
    forfeits_player TEXT,
    -- Labels that the sweep asks of workers: an object of `require` and `prefer`, lists of labels,
    -- where the sweep has any. NULL: none. (SQLite before 3.45 returns 0 for json_valid(NULL), so
    -- the check names NULL.)
    placement_json TEXT
        CHECK (placement_json IS NULL OR json_valid(placement_json))
) STRICT;
CREATE INDEX experiments_name ON experiments (name);
CREATE UNIQUE INDEX experiments_results_view ON experiments (results_view) WHERE results_view <> '';
CREATE UNIQUE INDEX experiments_times_view ON experiments (times_view) WHERE times_view <> '';

-- The axes of an experiment, in the file's order.
CREATE TABLE experiment_axes (
    experiment_id INTEGER NOT NULL REFERENCES experiments,
    number INTEGER NOT NULL,
    axis TEXT NOT NULL,
    PRIMARY KEY (experiment_id, number),
    UNIQUE (experiment_id, axis)
) STRICT, WITHOUT ROWID;

-- The files that an experiment's sweep names, as they were submitted with it: with them and
-- sweep_toml everything can be redone.
CREATE TABLE experiment_files (
    experiment_id INTEGER NOT NULL REFERENCES experiments,
    -- As the sweep spells it.
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (experiment_id, name)
) STRICT, WITHOUT ROWID;

-- The players, by their names in the sweep, that the others' strength is measured against.
CREATE TABLE experiment_anchors (
    experiment_id INTEGER NOT NULL REFERENCES experiments,
    -- In the file's order.
    number INTEGER NOT NULL,
    player TEXT NOT NULL,
    PRIMARY KEY (experiment_id, number)
) STRICT, WITHOUT ROWID;

-- Every text that an experiment was given, the latest one too, with what it changed.
CREATE TABLE sweep_versions (
    experiment_id INTEGER NOT NULL REFERENCES experiments,
    -- From 1.
    version INTEGER NOT NULL,
    -- Made by the client for each submit, so that a repeated one is a no-op.
    uuid TEXT NOT NULL UNIQUE,
    sweep_toml TEXT NOT NULL,
    submitted_unix_us INTEGER NOT NULL,
    -- Cells that the text names and the one before named too; of these, those that get more games.
    cells_kept INTEGER NOT NULL,
    cells_continued INTEGER NOT NULL,
    -- Cells that no version before named; that an earlier version named but not the previous one;
    -- and that the previous version named but this one does not.
    cells_added INTEGER NOT NULL,
    cells_returned INTEGER NOT NULL,
    cells_dropped INTEGER NOT NULL,
    -- Games of its cells that were settled when it came, and those that were not.
    games_kept INTEGER NOT NULL,
    games_to_play INTEGER NOT NULL,
    UNIQUE (experiment_id, version)
) STRICT;

-- Claims: statements of a sweep about its results. Claims made before the first game was settled
-- are judged at one family-wise error rate; later ones are exploratory. No claim is part of a cell.
CREATE TABLE claims (
    claim_id INTEGER PRIMARY KEY,
    experiment_id INTEGER NOT NULL REFERENCES experiments,
    -- In the order in which they were stated, from 0.
    number INTEGER NOT NULL,
    -- The claim, in the author's words.
    text TEXT NOT NULL,
    -- The comparison and its cells, by the hashes of their definitions: canonical JSON.
    definition_json TEXT NOT NULL,
    -- SHA-256 of the text and the definition, hexadecimal.
    hash TEXT NOT NULL,
    -- When it was submitted first.
    submitted_unix_us INTEGER NOT NULL,
    -- 1: a game of the experiment had been settled before.
    exploratory INTEGER NOT NULL CHECK (exploratory IN (0, 1)),
    -- 0: the sweep states it no longer; it stays, since it was stated before the first game.
    in_sweep INTEGER NOT NULL CHECK (in_sweep IN (0, 1)),
    -- The rule by which its cells were to end, in words; NULL without one.
    stop_rule TEXT,
    UNIQUE (experiment_id, hash)
) STRICT;

-- The cells that a claim is about.
CREATE TABLE claim_cells (
    claim_id INTEGER NOT NULL REFERENCES claims,
    -- Its place among the claim's cells, from 0.
    number INTEGER NOT NULL,
    cell_id INTEGER NOT NULL REFERENCES cells,
    -- Which of the cell's two players the claim's is: its first ('player') or its second ('opponent').
    player TEXT NOT NULL CHECK (player IN ('player', 'opponent')),
    -- How many games the cell was to have when the claim was stated.
    games INTEGER NOT NULL,
    PRIMARY KEY (claim_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX claim_cells_cell ON claim_cells (cell_id);

-- A player is identified by the hash of its parameters: one player in many cells is one row.
CREATE TABLE players (
    player_id INTEGER PRIMARY KEY,
    -- SHA-256 of parameters_json, in hexadecimal.
    hash TEXT NOT NULL UNIQUE,
    algorithm TEXT NOT NULL,
    -- Canonical JSON of all its parameters, limits included.
    parameters_json TEXT NOT NULL,
    -- The network that the player evaluates positions with; NULL: none.
    network_id INTEGER REFERENCES networks
) STRICT;

-- The part of a cell's definition that is not a player: the sweep's seed, game, rules, openings,
-- plies_max. It is the beginning of the definition's canonical JSON, up to the first player, as
-- workers get it.
CREATE TABLE conditions (
    conditions_id INTEGER PRIMARY KEY,
    definition_prefix TEXT NOT NULL UNIQUE,
    -- The number of different openings: after them the first one comes again. NULL where there are
    -- more than any experiment plays, or where they were not counted.
    openings_count INTEGER CHECK (openings_count > 0)
) STRICT;

-- The game's rules under these conditions, such as win_before_rotation. Numbers and switches as in
-- player_parameters.
CREATE TABLE condition_rules (
    conditions_id INTEGER NOT NULL REFERENCES conditions,
    rule TEXT NOT NULL,
    value_number REAL,
    value_text TEXT NOT NULL,
    PRIMARY KEY (conditions_id, rule)
) STRICT, WITHOUT ROWID;

-- When a cell has been played enough. Rows are shared, and stay.
CREATE TABLE stop_rules (
    stop_rule_id INTEGER PRIMARY KEY,
    -- The rule in words.
    rule TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('precision', 'sprt')),
    -- A cell ends once half the width of its score's interval is no more than this, in points of a game.
    precision REAL CHECK (precision > 0 AND precision < 0.5),
    -- A cell ends once a sequential probability ratio test takes one of two strengths of its first player, in
    -- Elo of this model, for the likelier one; alpha and beta are how probable it is to take elo1 where
    -- elo0 is true, and the other way round.
    elo0 REAL,
    elo1 REAL CHECK (elo0 < elo1),
    alpha REAL CHECK (alpha > 0 AND alpha < 0.5),
    beta REAL CHECK (beta > 0 AND beta < 0.5),
    model TEXT CHECK (model IN ('normalized', 'logistic')),
    -- 1: a rule that is read over pairs (games, where sides are fixed) also where openings come
    -- again.
    over_pairs INTEGER NOT NULL DEFAULT 0 CHECK (over_pairs IN (0, 1)),
    CHECK ((kind = 'precision') = (precision IS NOT NULL)),
    CHECK ((kind = 'sprt') = (elo0 IS NOT NULL AND elo1 IS NOT NULL AND alpha IS NOT NULL
        AND beta IS NOT NULL AND model IS NOT NULL))
) STRICT;

-- Two players under one set of conditions: the unit of results. A game is fully determined by its
-- cell and its number.
CREATE TABLE cells (
    cell_id INTEGER PRIMARY KEY AUTOINCREMENT,
    experiment_id INTEGER NOT NULL REFERENCES experiments,
    -- Its place in the grid's order, from 0. Nothing random depends on it (invariant 1).
    number INTEGER NOT NULL,
    -- SHA-256 of the definition, in hexadecimal: names the cell in leases and between databases.
    definition_hash TEXT NOT NULL,
    -- The part of its definition that other cells share. With its players it is the whole
    -- definition: see the view cell_definitions.
    conditions_id INTEGER NOT NULL REFERENCES conditions,
    -- From the definition alone; with a game's number and side it gives a player's random numbers.
    seed INTEGER NOT NULL,
    -- The first player moves first in even numbers.
    first_player_id INTEGER NOT NULL REFERENCES players (player_id),
    second_player_id INTEGER NOT NULL REFERENCES players (player_id),
    -- Their names in the sweep.
    first_player_name TEXT NOT NULL,
    second_player_name TEXT NOT NULL,
    -- Where pairs start: 'start', 'random', 'all' or 'listed'; after so many plies, if random or all.
    openings TEXT NOT NULL,
    opening_plies INTEGER,
    -- A game still going on after so many plies is a draw.
    plies_max INTEGER,
    games_planned INTEGER NOT NULL,
    -- 1: in odd numbers the players are swapped, two games from one opening are a pair, and the pair is
    -- the unit of statistics. 0: the first player moves first in every game, game n starts from opening n,
    -- there are no pairs (pairs_0 to pairs_2 of cell_results are 0), and the unit is the game.
    swap_sides INTEGER NOT NULL DEFAULT 1 CHECK (swap_sides IN (0, 1)),
    -- Whether its result depends on time, or the sweep measures time.
    timed INTEGER NOT NULL CHECK (timed IN (0, 1)),
    -- Whether the sweep, as it is now, still names it. One that it no longer names keeps its games
    -- but leaves the reports.
    in_sweep INTEGER NOT NULL DEFAULT 1 CHECK (in_sweep IN (0, 1)),
    -- The scheduler's cursor: the lowest number that was never leased.
    next_number INTEGER NOT NULL DEFAULT 0,
    -- Up to this number its games are settled, in whole pairs, and the rule has read them; 0 without one.
    decided_number INTEGER NOT NULL DEFAULT 0,
    -- Where the rule ends it: games from this number on are not counted. NULL: not yet, or no rule.
    stop_number INTEGER CHECK (stop_number > 0),
    -- The number of settled cells that the experiment's course had read when it asked for this
    -- cell. NULL: the sweep names it.
    asked_after INTEGER,
    -- Its stop rule; NULL: it gets all its games. Not part of its definition.
    stop_rule_id INTEGER REFERENCES stop_rules,
    -- The network that this cell's one task, numbered 0, trains; NULL: its tasks are games.
    trains_network_id INTEGER REFERENCES networks,
    -- 1: the sweep names the cell with other builds of its engines. It gets no more games, and
    -- stays in the reports, right before the cell that replaced it: both have the same number. Its
    -- players have the names of their builds.
    superseded INTEGER NOT NULL DEFAULT 0 CHECK (superseded IN (0, 1)),
    -- Whether its players are assumed to repeat a game whose opening comes again: neither draws
    -- random numbers, and no clock decides. The cell then ends after one round of its openings,
    -- unless games of the next round differ.
    repeats INTEGER NOT NULL DEFAULT 0 CHECK (repeats IN (0, 1)),
    -- This order of columns also serves the search by hash alone.
    UNIQUE (definition_hash, experiment_id)
) STRICT;
CREATE INDEX cells_experiment ON cells (experiment_id, number);

-- A cell's place on each axis: a number to compute with (durations in milliseconds), if the value
-- is one, and the text that the sweep has.
CREATE TABLE cell_axes (
    cell_id INTEGER NOT NULL REFERENCES cells,
    axis TEXT NOT NULL,
    value_number REAL,
    value_text TEXT NOT NULL,
    PRIMARY KEY (cell_id, axis)
) STRICT, WITHOUT ROWID;

-- Results of settled cells as the course of their experiment read them, in the order of their
-- numbers. A row stays as it is when games are replayed.
CREATE TABLE told_cells (
    cell_id INTEGER PRIMARY KEY REFERENCES cells,
    -- As in cell_results.
    games INTEGER NOT NULL,
    games_failed INTEGER NOT NULL,
    wins INTEGER NOT NULL,
    draws INTEGER NOT NULL,
    losses INTEGER NOT NULL,
    pairs_0 INTEGER NOT NULL,
    pairs_half INTEGER NOT NULL,
    pairs_1 INTEGER NOT NULL,
    pairs_1_half INTEGER NOT NULL,
    pairs_2 INTEGER NOT NULL,
    margin_sum INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Notes of runs: of experiments that depend on their own results (`find`, `tune` and `evolve` of a
-- sweep), one run for each point of the grid and opponent. Written with the cells and outcomes that
-- they follow from; they decide nothing.
CREATE TABLE course_notes (
    experiment_id INTEGER NOT NULL REFERENCES experiments,
    -- From 0, in the order of the grid.
    run INTEGER NOT NULL,
    -- 'begun': what the run is. 'tried': settings that a step tries. 'estimated': the best
    -- settings, as far as they are known after a step. 'ended': the run is done. Evolution adds
    -- 'individual' and 'scored', with the generation as step and the individual's index as trial,
    -- and 'generation'.
    kind TEXT NOT NULL,
    -- The step, from 0; 0 where there is none.
    step INTEGER NOT NULL,
    -- Which of the step, from 0; 0 where there is none.
    trial INTEGER NOT NULL,
    -- The note itself, as JSON: views take it apart.
    note TEXT NOT NULL,
    PRIMARY KEY (experiment_id, run, kind, step, trial)
) STRICT, WITHOUT ROWID;

-- Positions that games start from.
CREATE TABLE openings (
    opening_id INTEGER PRIMARY KEY,
    game TEXT NOT NULL,
    -- In the game's notation.
    position TEXT NOT NULL,
    -- Plies to mate if both sides play their best, for openings drawn from an ending. NULL
    -- elsewhere, and in a draw.
    plies_to_mate INTEGER,
    UNIQUE (game, position)
) STRICT;

------------------------------------------------------------------------------------------------
-- Networks
------------------------------------------------------------------------------------------------

-- Networks made by trainings. A network is identified by the training's definition: it is the same
-- in every experiment that names its recipe, and is trained once. A player names it in its
-- parameter `network`; the training is the one task of a cell of the experiment that needed it
-- first, which no report shows (in_sweep = 0).
CREATE TABLE networks (
    network_id INTEGER PRIMARY KEY,
    -- SHA-256 of the training's definition, in hexadecimal: names the network in every database.
    definition_hash TEXT NOT NULL UNIQUE,
    -- The ending that it learns from, such as KBNK.
    ending TEXT NOT NULL,
    -- Canonical JSON of its recipe, all of it.
    recipe_json TEXT NOT NULL,
    -- When it was trained, or could finally not be; NULL: not yet.
    settled_unix_us INTEGER,
    -- Why it could not be trained.
    failure TEXT,
    -- Of the network as bytes: how many, the hash at their end, in hexadecimal, and the bytes.
    bytes INTEGER,
    sha256 TEXT,
    content BLOB,
    engine_revision INTEGER,
    -- The worker that trained it, when and for how long, by the worker's clock.
    worker_id INTEGER REFERENCES workers,
    started_unix_us INTEGER,
    wall_us INTEGER,
    CHECK (failure IS NULL OR content IS NULL),
    CHECK ((content IS NULL) = (sha256 IS NULL)),
    CHECK ((settled_unix_us IS NULL) = (failure IS NULL AND content IS NULL))
) STRICT;
CREATE INDEX networks_worker ON networks (worker_id);

-- The parts of a network: one, or one for each side to move. Errors are roots of mean squares, in plies.
CREATE TABLE network_runs (
    network_id INTEGER NOT NULL REFERENCES networks,
    -- From 0.
    part INTEGER NOT NULL,
    -- Positions that there are to learn from, that it learnt from, and that it was validated by.
    positions INTEGER NOT NULL,
    examples INTEGER NOT NULL,
    validation INTEGER NOT NULL,
    -- The epoch whose weights were kept, from 1.
    best_epoch INTEGER NOT NULL,
    validation_error REAL NOT NULL,
    -- The error of a network that always answers the mean.
    constant_error REAL NOT NULL,
    PRIMARY KEY (network_id, part)
) STRICT, WITHOUT ROWID;

-- The learning curve; of many epochs some are left out.
CREATE TABLE network_epochs (
    network_id INTEGER NOT NULL REFERENCES networks,
    part INTEGER NOT NULL,
    -- From 1.
    epoch INTEGER NOT NULL,
    training_error REAL NOT NULL,
    validation_error REAL NOT NULL,
    PRIMARY KEY (network_id, part, epoch)
) STRICT, WITHOUT ROWID;

-- How well the positions of one side to move were learnt.
CREATE TABLE network_sides (
    network_id INTEGER NOT NULL REFERENCES networks,
    part INTEGER NOT NULL,
    to_move TEXT NOT NULL CHECK (to_move IN ('white', 'black')),
    positions INTEGER NOT NULL,
    -- Of their plies to mate: the mean, and the standard deviation.
    mean_plies REAL NOT NULL,
    spread REAL NOT NULL,
    error REAL NOT NULL,
    PRIMARY KEY (network_id, part, to_move)
) STRICT, WITHOUT ROWID;

-- How well the positions at one distance from mate were learnt.
CREATE TABLE network_distances (
    network_id INTEGER NOT NULL REFERENCES networks,
    part INTEGER NOT NULL,
    -- Odd where white is to move.
    plies INTEGER NOT NULL,
    positions INTEGER NOT NULL,
    error REAL NOT NULL,
    -- By how many plies mate is taken for nearer than it is, on average.
    nearer REAL NOT NULL,
    PRIMARY KEY (network_id, part, plies)
) STRICT, WITHOUT ROWID;

-- How well the positions with black's king on one square were learnt.
CREATE TABLE network_squares (
    network_id INTEGER NOT NULL REFERENCES networks,
    part INTEGER NOT NULL,
    -- Such as a1.
    square TEXT NOT NULL,
    positions INTEGER NOT NULL,
    error REAL NOT NULL,
    PRIMARY KEY (network_id, part, square)
) STRICT, WITHOUT ROWID;

------------------------------------------------------------------------------------------------
-- Workers, leases, and the state that the scheduler reads after a restart
------------------------------------------------------------------------------------------------

-- A row for each start of a worker. It is deleted later if no lease and no result refers to it, the
-- worker's last Hello was more than a day ago, and the worker does not call any more. A column is
-- empty, or NULL, where the worker's system does not report the value.
CREATE TABLE workers (
    worker_id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Made by the worker at its start; the same after a reconnect.
    uuid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    host TEXT NOT NULL,
    slots INTEGER NOT NULL,
    engine_revision INTEGER NOT NULL,
    version TEXT NOT NULL,
    first_seen_unix_us INTEGER NOT NULL,
    last_hello_unix_us INTEGER NOT NULL,
    -- The machine's processor, as the system names it.
    cpu_model TEXT NOT NULL DEFAULT '',
    -- The number of logical processors that the worker may use.
    logical_cores INTEGER CHECK (logical_cores > 0),
    -- With the architecture, as 'Debian GNU/Linux 12 (bookworm), Linux 6.1.0-18-amd64, x86_64'.
    operating_system TEXT NOT NULL DEFAULT '',
    -- The Git commit that was checked out where its program was built, in hexadecimal. Uncommitted
    -- changes are not in it.
    build_commit TEXT NOT NULL DEFAULT '',
    -- How its program was compiled: 'release' or 'debug'.
    build_profile TEXT NOT NULL DEFAULT '',
    -- The cores that it may use by their kinds, as '6 fast cores of 2 threads, 8 slower cores'.
    cores TEXT NOT NULL DEFAULT '',
    -- The number of exclusive slots: timed games are played on these alone. 0: timed games are
    -- played on all slots.
    quiet_slots INTEGER CHECK (quiet_slots >= 0),
    -- The CPU time that its threads may use together in each period, if that is limited, and the
    -- length of a period.
    cpu_quota_us INTEGER CHECK (cpu_quota_us > 0),
    cpu_period_us INTEGER CHECK (cpu_period_us > 0),
    -- Labels of its machine: an object of texts, such as {"site":"lab2","gpu":""}.
    labels_json TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(labels_json)),
    -- SHA-256 of the secret that Hello returned to the worker, from the first call that brings the
    -- secret. NULL: no call has brought it yet.
    secret_sha256 BLOB CHECK (length(secret_sha256) = 32),
    -- The token or client certificate of the worker's last Hello, such as 'token:lab',
    -- 'certificate:lab' or 'owner'. NULL where neither was required.
    credential TEXT
) STRICT;
-- People name workers.
CREATE INDEX workers_name ON workers (name);

-- Speeds that workers measured of their machines: nodes that a plain search of a game visits in a
-- second on one slot, by the clock, while all slots that play timed games do the same.
CREATE TABLE worker_speeds (
    worker_id INTEGER NOT NULL REFERENCES workers (worker_id),
    game TEXT NOT NULL,
    -- By the coordinator's clock.
    measured_unix_us INTEGER NOT NULL,
    nodes_per_second INTEGER NOT NULL CHECK (nodes_per_second > 0),
    -- The standard deviation between spells of 50 ms and between slots, as a share of the speed.
    noise REAL NOT NULL,
    -- How many slots measured at once.
    slots INTEGER NOT NULL,
    PRIMARY KEY (worker_id, game, measured_unix_us)
) STRICT, WITHOUT ROWID;

-- Workers that are not trusted any more: none of their results counts, and they get no games. A row
-- says which worker is excluded, from what, and how far its results are removed: they move to
-- uncounted_games with the reason 'excluded', and their games are replayed. That is done in small
-- pieces between the coordinator's other work; a coordinator that was killed continues at its next
-- start.
CREATE TABLE exclusions (
    exclusion_id INTEGER PRIMARY KEY,
    worker_id INTEGER NOT NULL REFERENCES workers,
    -- NULL: from all.
    experiment_id INTEGER REFERENCES experiments,
    -- Results of games that began before by the worker's clock stay. NULL: none stays.
    since_unix_us INTEGER,
    requested_unix_us INTEGER NOT NULL,
    -- When the worker was readmitted. NULL: it gets no games.
    readmitted_unix_us INTEGER,
    -- Results that were removed, and when the last one was. NULL: there may be more.
    games_done INTEGER NOT NULL DEFAULT 0,
    done_unix_us INTEGER,
    -- Progress: experiments and cells with smaller ids are done, and games of this cell with
    -- smaller numbers.
    at_experiment_id INTEGER NOT NULL DEFAULT 0,
    at_cell_id INTEGER NOT NULL DEFAULT 0,
    at_number INTEGER NOT NULL DEFAULT 0,
    -- When the first and the last game of this experiment began that stay of the worker's.
    kept_first_unix_us INTEGER,
    kept_last_unix_us INTEGER,
    -- The engine whose games the exclusion is about, by its name in sweeps: this worker forfeits
    -- them and others do not. NULL: all games. Such rows are written by the coordinator and not by
    -- people.
    engine TEXT,
    -- For these: games with the engine that the worker had forfeited when it was barred, and all
    -- its games with the engine.
    forfeits INTEGER,
    engine_games INTEGER,
    -- The same of all other workers together.
    forfeits_of_others INTEGER,
    engine_games_of_others INTEGER,
    -- How it forfeited the last of them, and the engine's last output: the games themselves are
    -- removed.
    message TEXT,
    output TEXT
) STRICT;
CREATE INDEX exclusions_worker ON exclusions (worker_id);
CREATE INDEX exclusions_undone ON exclusions (exclusion_id) WHERE done_unix_us IS NULL;

-- A result is taken only for a game that was leased to the worker reporting it (invariant 6), however
-- late it comes. Only leases that ended long ago, before the latest 100,000 were granted, and whose games
-- all have a result, or their experiments an end, are deleted: ids only grow, and none comes again.
CREATE TABLE leases (
    lease_id INTEGER PRIMARY KEY AUTOINCREMENT,
    worker_id INTEGER NOT NULL REFERENCES workers,
    granted_unix_us INTEGER NOT NULL,
    -- Both NULL while it lives.
    ended_unix_us INTEGER,
    ended_by TEXT CHECK (ended_by IN ('finished', 'expired', 'given_back', 'cancelled')),
    CHECK ((ended_unix_us IS NULL) = (ended_by IS NULL))
) STRICT;
CREATE INDEX leases_live ON leases (worker_id) WHERE ended_by IS NULL;
-- Deleting a worker looks for what refers to it.
CREATE INDEX leases_worker ON leases (worker_id);

-- The games a lease was granted with: `games` numbers from `first_number` on.
CREATE TABLE lease_ranges (
    lease_id INTEGER NOT NULL REFERENCES leases,
    cell_id INTEGER NOT NULL REFERENCES cells,
    first_number INTEGER NOT NULL,
    games INTEGER NOT NULL CHECK (games > 0),
    PRIMARY KEY (lease_id, cell_id, first_number)
) STRICT, WITHOUT ROWID;
-- Deleting a cell looks for what refers to it: without this, through every lease there ever was.
CREATE INDEX lease_ranges_cell ON lease_ranges (cell_id);

-- Numbers below a cell's next_number that are neither settled nor in a live lease.
CREATE TABLE returned_ranges (
    cell_id INTEGER NOT NULL REFERENCES cells,
    first_number INTEGER NOT NULL,
    games INTEGER NOT NULL CHECK (games > 0),
    PRIMARY KEY (cell_id, first_number)
) STRICT, WITHOUT ROWID;

-- Games that were lost or failed at least once, settled since or not. Each row stays as long as its
-- game, for the view failures; there is at most one row for each game.
CREATE TABLE attempts (
    cell_id INTEGER NOT NULL REFERENCES cells,
    number INTEGER NOT NULL,
    -- Leases lost while the game was reported as started; of these, leases of this game alone.
    lost INTEGER NOT NULL DEFAULT 0,
    lost_alone INTEGER NOT NULL DEFAULT 0,
    -- Failures that workers reported, and the message of the last one.
    failed INTEGER NOT NULL DEFAULT 0,
    last_message TEXT,
    PRIMARY KEY (cell_id, number)
) STRICT, WITHOUT ROWID;

------------------------------------------------------------------------------------------------
-- Games and moves
------------------------------------------------------------------------------------------------

-- Exactly the settled result of each game (invariant 4). A key that grows keeps inserts fast.
CREATE TABLE games (
    game_id INTEGER PRIMARY KEY AUTOINCREMENT,
    cell_id INTEGER NOT NULL REFERENCES cells,
    number INTEGER NOT NULL,
    opening_id INTEGER REFERENCES openings,
    -- The player that moved first in this game, and the one that moved second: in odd numbers the
    -- cell's players are swapped.
    first_player_id INTEGER NOT NULL REFERENCES players (player_id),
    second_player_id INTEGER NOT NULL REFERENCES players (player_id),
    -- Which side of the game (white or black, x or o) moved first from the opening: `first` is the side
    -- that moves first from the start of the game. As `outcome`, NULL only for a game that finally failed.
    first_side TEXT CHECK (first_side IN ('first', 'second')),
    -- For the player that moved first. A game that finally failed has no outcome, and the reason is
    -- in `failure`.
    outcome TEXT CHECK (outcome IN ('win', 'draw', 'loss')),
    termination TEXT,
    plies INTEGER,
    -- Equal games have equal hashes; below 2^53.
    moves_hash INTEGER,
    -- Not checked here: SQLite would look through all games before it deletes a worker. A worker
    -- with a game has a row of worker_results, which refers to the worker.
    worker_id INTEGER,
    engine_revision INTEGER,
    -- By the worker's clock, for people only.
    started_unix_us INTEGER,
    wall_us INTEGER,
    -- Every statistic reads counted = 1.
    counted INTEGER NOT NULL CHECK (counted IN (0, 1)),
    not_counted_reason TEXT,
    failure TEXT,
    -- How far the player that moved first was ahead at the end; negative where the other was. NULL
    -- in a game that counts nothing, and where something else than the game's own rules ended it: a
    -- fault, the sweep's max_plies or its adjudication.
    margin INTEGER,
    -- Of a timed game: the share of a player's time lost to other processes, the greater of both
    -- players' shares, and whether it was more than the sweep allowed when the game was stored.
    -- NULL of games that are not timed, and between two external engines.
    robbed_share REAL,
    disturbed INTEGER CHECK (disturbed IN (0, 1)),
    -- The factor of its players' time limits, and the speed of its worker that it follows from, in
    -- nodes per second. NULL where time limits were as the sweep states them.
    time_factor REAL CHECK (time_factor > 0),
    speed INTEGER CHECK (speed > 0),
    UNIQUE (cell_id, number),
    CHECK ((counted = 0) = (not_counted_reason IS NOT NULL)),
    CHECK (counted = 0 OR outcome IS NOT NULL),
    CHECK ((failure IS NULL) = (outcome IS NOT NULL)),
    CHECK (failure IS NOT NULL OR (opening_id IS NOT NULL AND first_side IS NOT NULL
        AND termination IS NOT NULL AND plies IS NOT NULL AND moves_hash IS NOT NULL AND engine_revision IS NOT NULL))
) STRICT;
-- There is no index by worker, which would cost every game: a search for one worker's games finds
-- their experiments in worker_results, and reads all games of those.
CREATE INDEX games_distinct ON games (cell_id, moves_hash, opening_id, first_player_id)
    WHERE counted = 1;
CREATE INDEX games_disturbed ON games (cell_id) WHERE disturbed = 1;
CREATE INDEX games_scaled ON games (cell_id) WHERE time_factor IS NOT NULL;
-- Counted games that were forfeited. Not 'resignation': a player that resigns has not failed.
CREATE INDEX games_forfeited ON games (cell_id)
    WHERE counted = 1 AND termination IN ('crash', 'stall', 'illegal_move', 'time_forfeit');

-- One row for each ply, unless the sweep says record = "games". Clustered by game: the moves of a
-- game are one read, and no second index costs space.
CREATE TABLE moves (
    game_id INTEGER NOT NULL REFERENCES games,
    -- From 0, counted from the opening.
    ply INTEGER NOT NULL,
    -- 0: the player that moved first from the opening; 1: the other. It separates the players in
    -- self-play.
    side INTEGER NOT NULL CHECK (side IN (0, 1)),
    player_id INTEGER NOT NULL REFERENCES players,
    move TEXT NOT NULL,
    -- Equal for positions that are equal up to the game's symmetries; of the position before the move.
    position_key INTEGER NOT NULL,
    legal_moves INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    evaluations INTEGER NOT NULL,
    -- Leaves of the full tree of this depth: the yardstick for evaluations.
    full_tree_leaves INTEGER NOT NULL,
    -- For the side to move; NULL where the algorithm has none.
    score INTEGER,
    wall_us INTEGER NOT NULL,
    cpu_us INTEGER NOT NULL,
    -- depth, nodes, evaluations, generations, time, proven or only_move.
    ended_by TEXT NOT NULL,
    -- The time that an external engine reports for the move; NULL where it reports none, and for
    -- built-in players.
    told_us INTEGER,
    -- How often the system took the core from the player's thread: involuntary context switches.
    -- NULL where the system does not report it, and for external engines.
    involuntary_switches INTEGER,
    PRIMARY KEY (game_id, ply)
) STRICT, WITHOUT ROWID;

-- External engines (algorithm 'uci' or 'gtp') that played a settled game, as they identify
-- themselves: each worker's machine maps an engine's name to a program of its own. One row for each
-- different one. Games of built-in players have no row in this table and the next two.
CREATE TABLE engines (
    engine_id INTEGER PRIMARY KEY,
    -- Its name and its author, as it reports them; each '' if it does not.
    name TEXT NOT NULL,
    author TEXT NOT NULL,
    -- Of its program, in hexadecimal.
    sha256 TEXT NOT NULL,
    UNIQUE (name, author, sha256)
) STRICT;

-- The engine that played each side of a settled game. Results that are kept beside the settled ones
-- have no row.
CREATE TABLE game_engines (
    game_id INTEGER NOT NULL REFERENCES games,
    -- As in moves. 0: the player that moved first from the opening; 1: the other.
    side INTEGER NOT NULL CHECK (side IN (0, 1)),
    -- Not checked here: rows of engines are never deleted, and an index for it would cost every game.
    engine_id INTEGER NOT NULL,
    PRIMARY KEY (game_id, side)
) STRICT, WITHOUT ROWID;

-- How an external engine lost a settled game by a fault, or resigned it: exactly the games whose
-- termination is 'time_forfeit', 'illegal_move', 'crash', 'stall' or 'resignation'.
CREATE TABLE forfeits (
    game_id INTEGER PRIMARY KEY REFERENCES games,
    -- The fault, in words.
    message TEXT NOT NULL,
    -- The last lines exchanged with the program: '> ' to it, '< ' from it, '! ' on its standard
    -- error.
    output TEXT NOT NULL
) STRICT;

-- Every other result that arrived, kept whole: reason is repeat, conflict, excluded, verification,
-- disturbed or after_cancel (invariant 4). Columns as in games.
CREATE TABLE uncounted_games (
    uncounted_game_id INTEGER PRIMARY KEY,
    cell_id INTEGER NOT NULL REFERENCES cells,
    number INTEGER NOT NULL,
    reason TEXT NOT NULL,
    opening_id INTEGER NOT NULL REFERENCES openings,
    first_player_id INTEGER NOT NULL REFERENCES players (player_id),
    second_player_id INTEGER NOT NULL REFERENCES players (player_id),
    first_side TEXT NOT NULL CHECK (first_side IN ('first', 'second')),
    outcome TEXT NOT NULL CHECK (outcome IN ('win', 'draw', 'loss')),
    termination TEXT NOT NULL,
    plies INTEGER NOT NULL,
    moves_hash INTEGER NOT NULL,
    worker_id INTEGER NOT NULL REFERENCES workers,
    engine_revision INTEGER NOT NULL,
    started_unix_us INTEGER NOT NULL,
    wall_us INTEGER NOT NULL,
    received_unix_us INTEGER NOT NULL,
    margin INTEGER,
    -- A disturbed result whose game is replayed is kept here (reason 'disturbed'), once for each
    -- lease under which it was reported. NULL for all other reasons.
    lease_id INTEGER,
    time_factor REAL CHECK (time_factor > 0),
    speed INTEGER CHECK (speed > 0)
) STRICT;
CREATE INDEX uncounted_games_game ON uncounted_games (cell_id, number);
CREATE INDEX uncounted_games_worker ON uncounted_games (worker_id);
-- Two results of one deterministic game that differ: these must be found at once.
CREATE INDEX uncounted_games_conflicts ON uncounted_games (cell_id) WHERE reason = 'conflict';
CREATE UNIQUE INDEX uncounted_games_disturbed ON uncounted_games (cell_id, number, lease_id)
    WHERE reason = 'disturbed';

-- Their moves, always. Columns as in moves.
CREATE TABLE uncounted_moves (
    uncounted_game_id INTEGER NOT NULL REFERENCES uncounted_games,
    ply INTEGER NOT NULL,
    side INTEGER NOT NULL CHECK (side IN (0, 1)),
    player_id INTEGER NOT NULL REFERENCES players,
    move TEXT NOT NULL,
    position_key INTEGER NOT NULL,
    legal_moves INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    evaluations INTEGER NOT NULL,
    full_tree_leaves INTEGER NOT NULL,
    score INTEGER,
    wall_us INTEGER NOT NULL,
    cpu_us INTEGER NOT NULL,
    ended_by TEXT NOT NULL,
    involuntary_switches INTEGER,
    PRIMARY KEY (uncounted_game_id, ply)
) STRICT, WITHOUT ROWID;

-- Reports of a game that are not a valid record of it: a wrong opening, a move that is not legal,
-- another result than follows from the moves. Kept as they arrived, for whoever investigates the
-- worker. The game is replayed.
CREATE TABLE refused_results (
    refused_result_id INTEGER PRIMARY KEY,
    lease_id INTEGER NOT NULL,
    cell_id INTEGER NOT NULL REFERENCES cells,
    number INTEGER NOT NULL,
    worker_id INTEGER NOT NULL REFERENCES workers,
    -- The problem, in words.
    problem TEXT NOT NULL,
    -- The beginning of the record, as in the protocol: spelrum.v1.Game.
    record BLOB NOT NULL,
    received_unix_us INTEGER NOT NULL,
    UNIQUE (lease_id, cell_id, number)
) STRICT;
CREATE INDEX refused_results_cell ON refused_results (cell_id);
CREATE INDEX refused_results_worker ON refused_results (worker_id);

-- Games that another worker replays, and the result of comparing the two. Each is the one task,
-- numbered 0, of a cell of the experiment of its own, which no report shows (in_sweep = 0).
CREATE TABLE verifications (
    -- The cell whose task it is. Conditions and players are those of the cell that is verified.
    cell_id INTEGER PRIMARY KEY REFERENCES cells,
    -- Which game is verified: its cell, its number there, and its result as it was when this was ordered. That is
    -- NULL once the result was taken out.
    verified_cell_id INTEGER NOT NULL REFERENCES cells,
    number INTEGER NOT NULL,
    game_id INTEGER REFERENCES games ON DELETE SET NULL,
    -- How often it was ordered before.
    ordered_before INTEGER NOT NULL,
    -- Where the search of each ply ends, in nodes: a list in JSON, empty if the moves are not recorded.
    stops_json TEXT NOT NULL,
    -- The worker that played the game, and does not verify it.
    played_by_worker_id INTEGER REFERENCES workers,
    ordered_unix_us INTEGER NOT NULL,
    -- When there was a verdict; NULL: not yet.
    settled_unix_us INTEGER,
    verdict TEXT CHECK (verdict IN ('same', 'different', 'not played')),
    -- Why it was not played.
    failure TEXT,
    -- The worker that replayed it, and its engine revision.
    verified_by_worker_id INTEGER REFERENCES workers,
    engine_revision INTEGER,
    -- Where the two games first differ: the ply, from 0, and what differs there, in JSON. The ply is NULL for what the
    -- whole game has.
    ply INTEGER,
    difference_json TEXT,
    CHECK ((settled_unix_us IS NULL) = (verdict IS NULL)),
    CHECK ((failure IS NOT NULL) = (verdict IS NOT NULL AND verdict = 'not played')),
    CHECK ((difference_json IS NOT NULL) = (verdict IS NOT NULL AND verdict = 'different'))
) STRICT;
CREATE INDEX verifications_verified ON verifications (verified_cell_id, number);
CREATE INDEX verifications_game ON verifications (game_id);
CREATE INDEX verifications_played_by ON verifications (played_by_worker_id);
CREATE INDEX verifications_verified_by ON verifications (verified_by_worker_id);
CREATE INDEX verifications_different ON verifications (cell_id) WHERE verdict = 'different';

-- A position whose moves a reference has valued: once for all cells that share their conditions and
-- their reference, so that every player is compared with the same values. A result with other
-- values is refused.
CREATE TABLE valued_positions (
    valued_position_id INTEGER PRIMARY KEY,
    conditions_id INTEGER NOT NULL REFERENCES conditions,
    -- cells.second_player_id of its cells.
    reference_player_id INTEGER NOT NULL REFERENCES players (player_id),
    opening_id INTEGER NOT NULL REFERENCES openings,
    engine_revision INTEGER NOT NULL,
    -- Plies of random play from the start of the game to it; NULL where it was listed.
    plies INTEGER,
    legal_moves INTEGER NOT NULL,
    -- For the side to move. Exact values are 1 (a win), 0 and -1; those of minimax are its scores. Where the best
    -- and the worst are equal there is nothing to choose, and the position is in no statistic.
    best_value INTEGER NOT NULL,
    worst_value INTEGER NOT NULL,
    best_moves INTEGER NOT NULL,
    -- The rank of a best move (1 is the first; moves of equal value share the mean of their ranks), and what a
    -- random mover is expected to get: rank, loss of value, and how often a best move.
    best_rank REAL NOT NULL,
    random_rank REAL NOT NULL,
    random_loss REAL NOT NULL,
    random_best REAL NOT NULL,
    UNIQUE (conditions_id, reference_player_id, opening_id, engine_revision)
) STRICT;

-- The value of every legal move of a valued position.
CREATE TABLE move_values (
    valued_position_id INTEGER NOT NULL REFERENCES valued_positions,
    move TEXT NOT NULL,
    -- Its place among the legal moves, in canonical order, from 0.
    number INTEGER NOT NULL,
    value INTEGER NOT NULL,
    -- By value, 1 for the best; moves of equal value share the mean of their ranks.
    rank REAL NOT NULL,
    PRIMARY KEY (valued_position_id, move)
) STRICT, WITHOUT ROWID;

------------------------------------------------------------------------------------------------
-- Rollups: sums that the views read, so that questions over a million games are answered at once. Written
-- in the same transaction as the games; a recount from the rows gives the same (invariant 8).
--
-- A searched move is one not ended by only_move. Sums are over searched moves. Sums over more than one game
-- are REAL: exact up to 2^53, without overflow beyond.
------------------------------------------------------------------------------------------------

-- One player's side of one settled game, whether or not its moves are stored.
CREATE TABLE game_sides (
    game_id INTEGER NOT NULL REFERENCES games,
    side INTEGER NOT NULL CHECK (side IN (0, 1)),
    player_id INTEGER NOT NULL REFERENCES players,
    moves INTEGER NOT NULL,
    searched_moves INTEGER NOT NULL,
    wall_us INTEGER NOT NULL,
    cpu_us INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    evaluations INTEGER NOT NULL,
    full_tree_leaves REAL NOT NULL,
    -- Sum of squares, for the variance.
    wall_us_squared REAL NOT NULL,
    PRIMARY KEY (game_id, side)
) STRICT, WITHOUT ROWID;

-- The cost of one side's searches of one completed depth in a settled game without moves (record =
-- 'games', or its moves were dropped): so the sums over many games can lose each of them again.
CREATE TABLE game_depths (
    game_id INTEGER NOT NULL REFERENCES games,
    side INTEGER NOT NULL CHECK (side IN (0, 1)),
    depth INTEGER NOT NULL,
    searched_moves INTEGER NOT NULL,
    wall_us REAL NOT NULL,
    cpu_us REAL NOT NULL,
    nodes REAL NOT NULL,
    evaluations REAL NOT NULL,
    full_tree_leaves REAL NOT NULL,
    wall_us_squared REAL NOT NULL,
    -- How many of them are in each of time_buckets: {"time_bucket_id":searched_moves,...}.
    move_times_json TEXT NOT NULL,
    PRIMARY KEY (game_id, side, depth)
) STRICT, WITHOUT ROWID;

-- A cell's counted games. A cell without a settled game has no row.
CREATE TABLE cell_results (
    cell_id INTEGER PRIMARY KEY REFERENCES cells,
    games INTEGER NOT NULL,
    -- Up to where its stop rule ends it.
    games_failed INTEGER NOT NULL,
    -- For the cell's first player.
    wins INTEGER NOT NULL,
    draws INTEGER NOT NULL,
    losses INTEGER NOT NULL,
    -- The same, only games in which it moved first.
    wins_moving_first INTEGER NOT NULL,
    draws_moving_first INTEGER NOT NULL,
    losses_moving_first INTEGER NOT NULL,
    -- Pairs with both games counted, by the points of the cell's first player.
    pairs_0 INTEGER NOT NULL,
    pairs_half INTEGER NOT NULL,
    pairs_1 INTEGER NOT NULL,
    pairs_1_half INTEGER NOT NULL,
    pairs_2 INTEGER NOT NULL,
    -- Games that differ in opening, moves or first player.
    distinct_games INTEGER NOT NULL,
    plies INTEGER NOT NULL,
    wall_us REAL NOT NULL,
    -- Mean score of the first player over the pairs, with its 95% confidence interval.
    score REAL NOT NULL,
    score_low REAL NOT NULL,
    score_high REAL NOT NULL,
    -- As in cell_openings, over all openings.
    pairs_won_by_first_mover INTEGER NOT NULL DEFAULT 0,
    pairs_won_by_second_mover INTEGER NOT NULL DEFAULT 0,
    -- Where openings come again: the number of equally weighted openings that they are worth (Kish:
    -- the square of the sum of their units divided by the sum of the squares), and the variance of
    -- their scores. The interval of the score follows from these two. Both NULL where the unit is
    -- the pair, or the game.
    openings_effective REAL,
    openings_variance REAL,
    -- Over the counted games that have a margin, from the view of the cell's first player: their
    -- number, the sum of the margins, and of the squares of the margins.
    margin_games INTEGER NOT NULL DEFAULT 0,
    margin_sum INTEGER NOT NULL DEFAULT 0,
    margin_squares INTEGER NOT NULL DEFAULT 0,
    -- Pairs of which both games count and have a margin: their number, the sum of all their
    -- margins, and the sum of the products of the two. All 0 where sides are fixed.
    margin_pairs INTEGER NOT NULL DEFAULT 0,
    margin_pairs_sum INTEGER NOT NULL DEFAULT 0,
    margin_products INTEGER NOT NULL DEFAULT 0,
    -- The 95% interval of the mean margin, over what the score is over. NULL of one unit alone.
    margin_low REAL,
    margin_high REAL
) STRICT;

-- A cell's counted games by the opening that they started from: where openings come again, an
-- interval is over openings and not over pairs, and cells are compared opening by opening. Openings
-- without a counted game have no row. Every row follows from games and game_sides.
CREATE TABLE cell_openings (
    cell_id INTEGER NOT NULL REFERENCES cells,
    -- The pair's number (the game's, where sides are fixed) modulo conditions.openings_count; its own where
    -- that is NULL. Equal numbers are equal openings in all cells of the same conditions.
    opening_number INTEGER NOT NULL,
    games INTEGER NOT NULL,
    -- For the cell's first player.
    wins INTEGER NOT NULL,
    draws INTEGER NOT NULL,
    losses INTEGER NOT NULL,
    -- Half points of the player that moved first from the opening: a win is 2 and a draw 1.
    first_mover_half_points INTEGER NOT NULL,
    -- Of these games, those in which the cell's first player moved first, and what it got in them.
    games_moving_first INTEGER NOT NULL,
    half_points_moving_first INTEGER NOT NULL,
    -- Pairs with both games counted; the half points of the cell's first player in them; pairs in
    -- which the player that moved first won both games, and pairs in which the other won both. All
    -- 0 where sides are fixed.
    pairs INTEGER NOT NULL,
    pairs_half_points INTEGER NOT NULL,
    pairs_won_by_first_mover INTEGER NOT NULL,
    pairs_won_by_second_mover INTEGER NOT NULL,
    -- Games in which the cell's first player searched for a move; and, summed up over these games, the mean
    -- time of its searched moves, and the natural logarithm of that mean, which counts as half a microsecond
    -- where it is less.
    first_player_searched_games INTEGER NOT NULL,
    first_player_wall_us_mean_sum REAL NOT NULL,
    first_player_wall_us_mean_log_sum REAL NOT NULL,
    -- The same of its second player, also where it is the first one again.
    second_player_searched_games INTEGER NOT NULL,
    second_player_wall_us_mean_sum REAL NOT NULL,
    second_player_wall_us_mean_log_sum REAL NOT NULL,
    -- As in cell_results.
    margin_games INTEGER NOT NULL DEFAULT 0,
    margin_sum INTEGER NOT NULL DEFAULT 0,
    -- As the columns of wall_us, in CPU time: sums of the mean CPU time of a player's searched
    -- moves in each game, and of the natural logarithm of that mean, which counts as half a
    -- microsecond where it is less.
    first_player_cpu_us_mean_sum REAL NOT NULL DEFAULT 0,
    first_player_cpu_us_mean_log_sum REAL NOT NULL DEFAULT 0,
    second_player_cpu_us_mean_sum REAL NOT NULL DEFAULT 0,
    second_player_cpu_us_mean_log_sum REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (cell_id, opening_number)
) STRICT, WITHOUT ROWID;

-- The cost of one player's searches of one completed depth in a cell.
CREATE TABLE cell_depths (
    cell_id INTEGER NOT NULL REFERENCES cells,
    player_id INTEGER NOT NULL REFERENCES players,
    depth INTEGER NOT NULL,
    searched_moves INTEGER NOT NULL,
    wall_us REAL NOT NULL,
    cpu_us REAL NOT NULL,
    nodes REAL NOT NULL,
    evaluations REAL NOT NULL,
    full_tree_leaves REAL NOT NULL,
    wall_us_squared REAL NOT NULL,
    PRIMARY KEY (cell_id, player_id, depth)
) STRICT, WITHOUT ROWID;

-- The same searches by their time, for quantiles. Only buckets that hold any.
CREATE TABLE cell_move_times (
    cell_id INTEGER NOT NULL REFERENCES cells,
    player_id INTEGER NOT NULL REFERENCES players,
    depth INTEGER NOT NULL,
    time_bucket_id INTEGER NOT NULL REFERENCES time_buckets,
    searched_moves INTEGER NOT NULL,
    PRIMARY KEY (cell_id, player_id, depth, time_bucket_id)
) STRICT, WITHOUT ROWID;

-- Eight buckets for each doubling of the time, exact below 16 us: a quantile is off by at most
-- 6.25%. Bucket b >= 8 begins at (8 + b % 8) * 2^(b / 8 - 1) us.
CREATE TABLE time_buckets (
    time_bucket_id INTEGER PRIMARY KEY,
    from_us INTEGER NOT NULL UNIQUE,
    below_us INTEGER NOT NULL
) STRICT;
INSERT INTO time_buckets (time_bucket_id, from_us, below_us)
WITH RECURSIVE numbers (b) AS (SELECT 0 UNION ALL SELECT b + 1 FROM numbers WHERE b < 407)
SELECT
    b,
    CASE WHEN b < 8 THEN b ELSE (8 + b % 8) << (b / 8 - 1) END,
    CASE WHEN b < 7 THEN b + 1 ELSE (8 + (b + 1) % 8) << ((b + 1) / 8 - 1) END
FROM numbers;

-- A worker's games of an experiment: there is a row if it played any settled game of it.
CREATE TABLE worker_results (
    worker_id INTEGER NOT NULL REFERENCES workers,
    experiment_id INTEGER NOT NULL REFERENCES experiments,
    -- Of those that count, which may be none.
    games INTEGER NOT NULL,
    plies INTEGER NOT NULL,
    wall_us REAL NOT NULL,
    -- Of all, whether or not they count; by the worker's clock.
    first_started_unix_us INTEGER NOT NULL,
    last_started_unix_us INTEGER NOT NULL,
    PRIMARY KEY (worker_id, experiment_id)
) STRICT, WITHOUT ROWID;

------------------------------------------------------------------------------------------------
-- Removals: of experiments, or of their moves
------------------------------------------------------------------------------------------------

-- Removals, from the request until the file has shrunk. They proceed in small pieces between the
-- coordinator's other work; a coordinator that was killed continues at its next start.
CREATE TABLE removals (
    removal_id INTEGER PRIMARY KEY,
    -- NULL once its rows are gone and only the file has to shrink.
    experiment_id INTEGER UNIQUE REFERENCES experiments,
    -- Its name: one that is being removed has lost it, so that another may have it.
    experiment TEXT NOT NULL,
    -- 'everything' of it, or its 'moves'.
    what TEXT NOT NULL CHECK (what IN ('everything', 'moves')),
    requested_unix_us INTEGER NOT NULL,
    -- How many games there were to go through, and how many of them are done.
    games INTEGER NOT NULL,
    games_done INTEGER NOT NULL DEFAULT 0,
    -- Progress: cells with smaller ids are done, and games of this cell with smaller numbers.
    cell_id INTEGER NOT NULL DEFAULT 0,
    number INTEGER NOT NULL DEFAULT 0
) STRICT;

------------------------------------------------------------------------------------------------
-- Digests, by which `spelrum check` finds values that a disk has changed. They are of the values as they are
-- stored; docs/reliability.md ("Rot") says how they are computed. Each is below 2^53.
------------------------------------------------------------------------------------------------

-- The digest of a game's whole record: its rows of games, moves, game_sides, game_depths,
-- game_engines and forfeits, except games.counted and games.not_counted_reason, which follow from
-- the other columns and its cell's stop_number. Written with the game.
CREATE TABLE game_digests (
    game_id INTEGER PRIMARY KEY REFERENCES games ON DELETE CASCADE,
    digest INTEGER NOT NULL
) STRICT;

-- The digest of each other table, written when a coordinator or a run closes the file, and in
-- backups and exports. Empty while the file is open, and after a process that was killed.
-- 'sqlite_schema' is the schema itself.
CREATE TABLE table_digests (
    table_name TEXT PRIMARY KEY,
    row_count INTEGER NOT NULL,
    digest INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
