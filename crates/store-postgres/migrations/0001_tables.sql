-- The tables of SQLite's schema (migrations/ of the project) that the store's contract needs: the same names and
-- columns, so that the same questions can be asked. Flags are 0 or 1 here too. Sums over games (cell_results and the
-- other rollups), views other than cell_definitions, positions with values, and networks' curves are not here yet.
--
-- Ids that must never be reused come from last_ids and not from sequences: a transaction that is rolled back uses none.

CREATE TABLE last_ids (
    table_name text PRIMARY KEY,
    last_id bigint NOT NULL
);
INSERT INTO last_ids VALUES ('experiments', 0), ('cells', 0), ('workers', 0), ('leases', 0), ('games', 0);

-- One row: who owns the experiments of this database. Every transaction that writes begins by locking it.
CREATE TABLE ownership (
    ownership_id smallint PRIMARY KEY CHECK (ownership_id = 1),
    term bigint NOT NULL
);
INSERT INTO ownership VALUES (1, 0);

CREATE TABLE databases (
    database_id bigint PRIMARY KEY CHECK (database_id = 1),
    uuid text NOT NULL
);
INSERT INTO databases VALUES (1, replace(gen_random_uuid()::text, '-', ''));

CREATE TABLE coordinators (
    coordinator_epoch bigint PRIMARY KEY,
    started_unix_us bigint NOT NULL,
    version text NOT NULL
);

CREATE TABLE experiments (
    experiment_id bigint PRIMARY KEY,
    uuid text NOT NULL UNIQUE,
    name text NOT NULL,
    description text NOT NULL DEFAULT '',
    game text NOT NULL,
    seed bigint NOT NULL,
    state text NOT NULL CHECK (state IN ('running', 'paused', 'cancelled', 'finished')),
    priority integer NOT NULL DEFAULT 0,
    record text NOT NULL DEFAULT 'moves' CHECK (record IN ('moves', 'games')),
    record_details smallint NOT NULL DEFAULT 0 CHECK (record_details IN (0, 1)),
    sweep_toml text NOT NULL,
    engine_revision bigint NOT NULL,
    submitted_unix_us bigint NOT NULL,
    finished_unix_us bigint,
    game_timeout_us bigint CHECK (game_timeout_us > 0),
    course text CHECK (course IN ('open', 'ended')),
    pruned_unix_us bigint,
    allocation text NOT NULL DEFAULT 'grid' CHECK (allocation IN ('grid', 'informative')),
    kind text NOT NULL CHECK (kind IN ('games', 'accuracy')),
    disturbed_above double precision NOT NULL DEFAULT 0.05 CHECK (disturbed_above BETWEEN 0 AND 1),
    replays_max bigint NOT NULL DEFAULT 0 CHECK (replays_max >= 0),
    reference_speed bigint CHECK (reference_speed > 0),
    factor_max_permille bigint NOT NULL DEFAULT 4000 CHECK (factor_max_permille >= 1000),
    forfeits_max bigint CHECK (forfeits_max >= 0),
    forfeits_after_game_id bigint NOT NULL DEFAULT 0,
    forfeits_player text,
    placement_json text,
    games_at_once bigint CHECK (games_at_once >= 2),
    engine_cpu_known smallint NOT NULL DEFAULT 1 CHECK (engine_cpu_known IN (0, 1)),
    replicates text,
    monotone_json text
);
CREATE INDEX experiments_name ON experiments (name);

CREATE TABLE experiment_axes (
    experiment_id bigint NOT NULL REFERENCES experiments,
    number bigint NOT NULL,
    axis text NOT NULL,
    PRIMARY KEY (experiment_id, number),
    UNIQUE (experiment_id, axis)
);

CREATE TABLE experiment_files (
    experiment_id bigint NOT NULL REFERENCES experiments,
    name text NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (experiment_id, name)
);

CREATE TABLE experiment_anchors (
    experiment_id bigint NOT NULL REFERENCES experiments,
    number bigint NOT NULL,
    player text NOT NULL,
    PRIMARY KEY (experiment_id, number)
);

CREATE TABLE sweep_versions (
    experiment_id bigint NOT NULL REFERENCES experiments,
    version bigint NOT NULL,
    uuid text NOT NULL UNIQUE,
    sweep_toml text NOT NULL,
    submitted_unix_us bigint NOT NULL,
    cells_kept bigint NOT NULL,
    cells_continued bigint NOT NULL,
    cells_added bigint NOT NULL,
    cells_returned bigint NOT NULL,
    cells_dropped bigint NOT NULL,
    games_kept bigint NOT NULL,
    games_to_play bigint NOT NULL,
    UNIQUE (experiment_id, version)
);

CREATE TABLE networks (
    network_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    definition_hash text NOT NULL UNIQUE,
    ending text NOT NULL,
    recipe_json text NOT NULL,
    settled_unix_us bigint,
    failure text,
    bytes bigint,
    sha256 text,
    content bytea,
    engine_revision bigint,
    worker_id bigint,
    started_unix_us bigint,
    wall_us bigint,
    CHECK (failure IS NULL OR content IS NULL),
    CHECK ((content IS NULL) = (sha256 IS NULL)),
    CHECK ((settled_unix_us IS NULL) = (failure IS NULL AND content IS NULL))
);

CREATE TABLE players (
    player_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash text NOT NULL UNIQUE,
    algorithm text NOT NULL,
    parameters_json text NOT NULL,
    network_id bigint REFERENCES networks
);

CREATE TABLE conditions (
    conditions_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- SHA-256 of definition_prefix, in hexadecimal: a list of openings may be longer than what an index takes.
    hash text NOT NULL UNIQUE,
    definition_prefix text NOT NULL,
    openings_count bigint CHECK (openings_count > 0)
);

CREATE TABLE stop_rules (
    stop_rule_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rule text NOT NULL UNIQUE,
    kind text NOT NULL CHECK (kind IN ('precision', 'sprt')),
    precision double precision,
    elo0 double precision,
    elo1 double precision,
    alpha double precision,
    beta double precision,
    model text CHECK (model IN ('normalized', 'logistic')),
    over_pairs smallint NOT NULL DEFAULT 0 CHECK (over_pairs IN (0, 1))
);

CREATE TABLE cells (
    cell_id bigint PRIMARY KEY,
    experiment_id bigint NOT NULL REFERENCES experiments,
    number bigint NOT NULL,
    definition_hash text NOT NULL,
    conditions_id bigint NOT NULL REFERENCES conditions,
    seed bigint NOT NULL,
    first_player_id bigint NOT NULL REFERENCES players (player_id),
    second_player_id bigint NOT NULL REFERENCES players (player_id),
    first_player_name text NOT NULL,
    second_player_name text NOT NULL,
    games_planned bigint NOT NULL,
    games_planned_first bigint CHECK (games_planned_first > 0),
    swap_sides smallint NOT NULL CHECK (swap_sides IN (0, 1)),
    timed smallint NOT NULL CHECK (timed IN (0, 1)),
    in_sweep smallint NOT NULL CHECK (in_sweep IN (0, 1)),
    superseded smallint NOT NULL DEFAULT 0 CHECK (superseded IN (0, 1)),
    repeats smallint NOT NULL DEFAULT 0 CHECK (repeats IN (0, 1)),
    next_number bigint NOT NULL DEFAULT 0,
    decided_number bigint NOT NULL DEFAULT 0,
    stop_number bigint CHECK (stop_number > 0),
    asked_after bigint,
    stop_rule_id bigint REFERENCES stop_rules,
    trains_network_id bigint REFERENCES networks,
    UNIQUE (definition_hash, experiment_id)
);
CREATE INDEX cells_experiment ON cells (experiment_id, number);

CREATE TABLE claims (
    claim_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    experiment_id bigint NOT NULL REFERENCES experiments,
    number bigint NOT NULL,
    text text NOT NULL,
    definition_json text NOT NULL,
    hash text NOT NULL,
    submitted_unix_us bigint NOT NULL,
    exploratory smallint NOT NULL CHECK (exploratory IN (0, 1)),
    in_sweep smallint NOT NULL CHECK (in_sweep IN (0, 1)),
    stop_rule text,
    UNIQUE (experiment_id, hash)
);

CREATE TABLE claim_cells (
    claim_id bigint NOT NULL REFERENCES claims ON DELETE CASCADE,
    number bigint NOT NULL,
    cell_id bigint NOT NULL REFERENCES cells ON DELETE CASCADE,
    player text NOT NULL CHECK (player IN ('player', 'opponent')),
    games bigint NOT NULL,
    PRIMARY KEY (claim_id, number)
);
CREATE INDEX claim_cells_cell ON claim_cells (cell_id);

CREATE TABLE cell_axes (
    cell_id bigint NOT NULL REFERENCES cells ON DELETE CASCADE,
    axis text NOT NULL,
    value_number double precision,
    value_text text NOT NULL,
    PRIMARY KEY (cell_id, axis)
);

CREATE TABLE told_cells (
    cell_id bigint PRIMARY KEY REFERENCES cells ON DELETE CASCADE,
    games bigint NOT NULL,
    games_failed bigint NOT NULL,
    wins bigint NOT NULL,
    draws bigint NOT NULL,
    losses bigint NOT NULL,
    pairs_0 bigint NOT NULL,
    pairs_half bigint NOT NULL,
    pairs_1 bigint NOT NULL,
    pairs_1_half bigint NOT NULL,
    pairs_2 bigint NOT NULL,
    margin_sum bigint NOT NULL
);

CREATE TABLE course_notes (
    experiment_id bigint NOT NULL REFERENCES experiments,
    run bigint NOT NULL,
    kind text NOT NULL,
    step bigint NOT NULL,
    trial bigint NOT NULL,
    note text NOT NULL,
    PRIMARY KEY (experiment_id, run, kind, step, trial)
);

CREATE TABLE openings (
    opening_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    game text NOT NULL,
    position text NOT NULL,
    UNIQUE (game, position)
);

CREATE TABLE workers (
    worker_id bigint PRIMARY KEY,
    uuid text NOT NULL UNIQUE,
    name text NOT NULL,
    host text NOT NULL,
    slots bigint NOT NULL,
    engine_revision bigint NOT NULL,
    version text NOT NULL,
    first_seen_unix_us bigint NOT NULL,
    last_hello_unix_us bigint NOT NULL,
    cpu_model text NOT NULL,
    logical_cores bigint CHECK (logical_cores > 0),
    operating_system text NOT NULL,
    build_commit text NOT NULL,
    build_profile text NOT NULL,
    cores text NOT NULL,
    quiet_slots bigint CHECK (quiet_slots >= 0),
    cpu_quota_us bigint CHECK (cpu_quota_us > 0),
    cpu_period_us bigint CHECK (cpu_period_us > 0),
    labels_json text NOT NULL,
    secret_sha256 bytea CHECK (length(secret_sha256) = 32),
    credential text
);
CREATE INDEX workers_name ON workers (name);

CREATE TABLE worker_speeds (
    worker_id bigint NOT NULL REFERENCES workers ON DELETE CASCADE,
    game text NOT NULL,
    measured_unix_us bigint NOT NULL,
    nodes_per_second bigint NOT NULL CHECK (nodes_per_second > 0),
    noise double precision NOT NULL,
    slots bigint NOT NULL,
    PRIMARY KEY (worker_id, game, measured_unix_us)
);

CREATE TABLE exclusions (
    exclusion_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    worker_id bigint NOT NULL REFERENCES workers ON DELETE CASCADE,
    experiment_id bigint REFERENCES experiments,
    since_unix_us bigint,
    requested_unix_us bigint NOT NULL,
    readmitted_unix_us bigint,
    games_done bigint NOT NULL DEFAULT 0,
    done_unix_us bigint,
    engine text,
    forfeits bigint,
    engine_games bigint,
    forfeits_of_others bigint,
    engine_games_of_others bigint
);
CREATE INDEX exclusions_worker ON exclusions (worker_id);

CREATE TABLE leases (
    lease_id bigint PRIMARY KEY,
    worker_id bigint NOT NULL REFERENCES workers,
    granted_unix_us bigint NOT NULL,
    ended_unix_us bigint,
    ended_by text CHECK (ended_by IN ('finished', 'expired', 'given_back', 'cancelled')),
    CHECK ((ended_unix_us IS NULL) = (ended_by IS NULL))
);
CREATE INDEX leases_live ON leases (worker_id) WHERE ended_by IS NULL;
CREATE INDEX leases_worker ON leases (worker_id);

CREATE TABLE lease_ranges (
    lease_id bigint NOT NULL REFERENCES leases ON DELETE CASCADE,
    cell_id bigint NOT NULL REFERENCES cells,
    first_number bigint NOT NULL,
    games bigint NOT NULL CHECK (games > 0),
    PRIMARY KEY (lease_id, cell_id, first_number)
);
CREATE INDEX lease_ranges_cell ON lease_ranges (cell_id);

CREATE TABLE returned_ranges (
    cell_id bigint NOT NULL REFERENCES cells ON DELETE CASCADE,
    first_number bigint NOT NULL,
    games bigint NOT NULL CHECK (games > 0),
    PRIMARY KEY (cell_id, first_number)
);

CREATE TABLE attempts (
    cell_id bigint NOT NULL REFERENCES cells ON DELETE CASCADE,
    number bigint NOT NULL,
    lost bigint NOT NULL DEFAULT 0,
    lost_alone bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    last_message text,
    PRIMARY KEY (cell_id, number)
);

CREATE TABLE games (
    game_id bigint PRIMARY KEY,
    cell_id bigint NOT NULL REFERENCES cells,
    number bigint NOT NULL,
    opening_id bigint REFERENCES openings,
    first_player_id bigint NOT NULL REFERENCES players (player_id),
    second_player_id bigint NOT NULL REFERENCES players (player_id),
    first_side text CHECK (first_side IN ('first', 'second')),
    outcome text CHECK (outcome IN ('win', 'draw', 'loss')),
    termination text,
    plies bigint,
    moves_hash bigint,
    worker_id bigint REFERENCES workers,
    engine_revision bigint,
    started_unix_us bigint,
    wall_us bigint,
    counted smallint NOT NULL CHECK (counted IN (0, 1)),
    not_counted_reason text,
    failure text,
    margin integer,
    robbed_share double precision,
    disturbed smallint CHECK (disturbed IN (0, 1)),
    time_factor double precision CHECK (time_factor > 0),
    speed bigint CHECK (speed > 0),
    UNIQUE (cell_id, number),
    CHECK ((counted = 0) = (not_counted_reason IS NOT NULL)),
    CHECK (counted = 0 OR outcome IS NOT NULL),
    CHECK ((failure IS NULL) = (outcome IS NOT NULL)),
    CHECK (failure IS NOT NULL OR (opening_id IS NOT NULL AND first_side IS NOT NULL AND termination IS NOT NULL
        AND plies IS NOT NULL AND moves_hash IS NOT NULL AND engine_revision IS NOT NULL))
);
CREATE INDEX games_worker ON games (worker_id);

CREATE TABLE moves (
    game_id bigint NOT NULL REFERENCES games ON DELETE CASCADE,
    ply bigint NOT NULL,
    side smallint NOT NULL CHECK (side IN (0, 1)),
    player_id bigint NOT NULL,
    move text NOT NULL,
    position_key bigint NOT NULL,
    legal_moves bigint NOT NULL,
    depth bigint NOT NULL,
    nodes bigint NOT NULL,
    evaluations bigint NOT NULL,
    full_tree_leaves bigint NOT NULL,
    score integer,
    wall_us bigint NOT NULL,
    cpu_us bigint NOT NULL,
    ended_by text NOT NULL,
    told_us bigint,
    involuntary_switches bigint,
    PRIMARY KEY (game_id, ply)
);

CREATE TABLE move_notes (
    game_id bigint NOT NULL REFERENCES games ON DELETE CASCADE,
    ply bigint NOT NULL,
    note text,
    distribution_json text,
    refused bigint NOT NULL,
    seldepth bigint,
    hashfull bigint,
    tbhits bigint,
    pv text,
    PRIMARY KEY (game_id, ply)
);

-- What its moves add up to stays when they are dropped.
CREATE TABLE game_sides (
    game_id bigint NOT NULL REFERENCES games ON DELETE CASCADE,
    side smallint NOT NULL CHECK (side IN (0, 1)),
    player_id bigint NOT NULL,
    moves bigint NOT NULL,
    searched_moves bigint NOT NULL,
    wall_us bigint NOT NULL,
    cpu_us bigint NOT NULL,
    nodes bigint NOT NULL,
    evaluations bigint NOT NULL,
    full_tree_leaves double precision NOT NULL,
    wall_us_squared double precision NOT NULL,
    PRIMARY KEY (game_id, side)
);

CREATE TABLE engines (
    engine_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    author text NOT NULL,
    sha256 text NOT NULL,
    UNIQUE (name, author, sha256)
);

CREATE TABLE game_engines (
    game_id bigint NOT NULL REFERENCES games ON DELETE CASCADE,
    side smallint NOT NULL CHECK (side IN (0, 1)),
    engine_id bigint NOT NULL REFERENCES engines,
    PRIMARY KEY (game_id, side)
);

CREATE TABLE forfeits (
    game_id bigint PRIMARY KEY REFERENCES games ON DELETE CASCADE,
    message text NOT NULL,
    output text NOT NULL
);

CREATE TABLE uncounted_games (
    uncounted_game_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cell_id bigint NOT NULL REFERENCES cells,
    number bigint NOT NULL,
    reason text NOT NULL,
    opening_id bigint NOT NULL REFERENCES openings,
    first_player_id bigint NOT NULL REFERENCES players (player_id),
    second_player_id bigint NOT NULL REFERENCES players (player_id),
    first_side text NOT NULL CHECK (first_side IN ('first', 'second')),
    outcome text NOT NULL CHECK (outcome IN ('win', 'draw', 'loss')),
    termination text NOT NULL,
    plies bigint NOT NULL,
    moves_hash bigint NOT NULL,
    worker_id bigint NOT NULL REFERENCES workers,
    engine_revision bigint NOT NULL,
    started_unix_us bigint NOT NULL,
    wall_us bigint NOT NULL,
    received_unix_us bigint NOT NULL,
    margin integer,
    lease_id bigint,
    time_factor double precision CHECK (time_factor > 0),
    speed bigint CHECK (speed > 0)
);
CREATE INDEX uncounted_games_game ON uncounted_games (cell_id, number);
CREATE INDEX uncounted_games_worker ON uncounted_games (worker_id);
CREATE UNIQUE INDEX uncounted_games_disturbed ON uncounted_games (cell_id, number, lease_id)
    WHERE reason = 'disturbed';

CREATE TABLE uncounted_moves (
    uncounted_game_id bigint NOT NULL REFERENCES uncounted_games ON DELETE CASCADE,
    ply bigint NOT NULL,
    side smallint NOT NULL CHECK (side IN (0, 1)),
    player_id bigint NOT NULL,
    move text NOT NULL,
    position_key bigint NOT NULL,
    legal_moves bigint NOT NULL,
    depth bigint NOT NULL,
    nodes bigint NOT NULL,
    evaluations bigint NOT NULL,
    full_tree_leaves bigint NOT NULL,
    score integer,
    wall_us bigint NOT NULL,
    cpu_us bigint NOT NULL,
    ended_by text NOT NULL,
    involuntary_switches bigint,
    PRIMARY KEY (uncounted_game_id, ply)
);

CREATE TABLE refused_results (
    refused_result_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    lease_id bigint NOT NULL,
    cell_id bigint NOT NULL REFERENCES cells ON DELETE CASCADE,
    number bigint NOT NULL,
    worker_id bigint NOT NULL REFERENCES workers,
    problem text NOT NULL,
    record bytea NOT NULL,
    received_unix_us bigint NOT NULL,
    UNIQUE (lease_id, cell_id, number)
);
CREATE INDEX refused_results_worker ON refused_results (worker_id);

CREATE TABLE verifications (
    cell_id bigint PRIMARY KEY REFERENCES cells ON DELETE CASCADE,
    verified_cell_id bigint NOT NULL REFERENCES cells ON DELETE CASCADE,
    number bigint NOT NULL,
    game_id bigint REFERENCES games ON DELETE SET NULL,
    ordered_before bigint NOT NULL,
    stops_json text NOT NULL,
    played_by_worker_id bigint REFERENCES workers,
    ordered_unix_us bigint NOT NULL,
    settled_unix_us bigint,
    verdict text CHECK (verdict IN ('same', 'different', 'not played')),
    failure text,
    verified_by_worker_id bigint REFERENCES workers,
    engine_revision bigint,
    ply bigint,
    difference_json text,
    CHECK ((settled_unix_us IS NULL) = (verdict IS NULL))
);
CREATE INDEX verifications_verified ON verifications (verified_cell_id, number);
CREATE INDEX verifications_game ON verifications (game_id);

CREATE TABLE removals (
    removal_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    experiment_id bigint NOT NULL UNIQUE REFERENCES experiments,
    experiment text NOT NULL,
    what text NOT NULL CHECK (what IN ('everything', 'moves')),
    requested_unix_us bigint NOT NULL,
    games bigint NOT NULL
);

CREATE VIEW cell_definitions AS
SELECT c.cell_id, c.definition_hash,
    CASE WHEN v.cell_id IS NULL THEN '' ELSE '{"format":1,"verification":[' END
        || k.definition_prefix || f.parameters_json || ',' || s.parameters_json || ']}'
        || CASE WHEN v.cell_id IS NULL THEN ''
            ELSE ',' || v.number || ',' || v.stops_json || ',' || v.ordered_before || ']}' END
        AS definition_json
FROM cells AS c
JOIN conditions AS k ON k.conditions_id = c.conditions_id
JOIN players AS f ON f.player_id = c.first_player_id
JOIN players AS s ON s.player_id = c.second_player_id
LEFT JOIN verifications AS v ON v.cell_id = c.cell_id;
