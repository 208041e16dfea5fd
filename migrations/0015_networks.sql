-- Networks that trainings made, by what they are made from: a network is the same in every experiment that
-- names its recipe, and is trained once. What it is made from is a player's parameter `network`; the training is
-- the one task of a cell of the experiment that needed it first, which no report shows (in_sweep = 0).

CREATE TABLE networks (
    network_id INTEGER PRIMARY KEY,
    -- SHA-256 of the training's definition, in hexadecimal: names the network in every database.
    definition_hash TEXT NOT NULL UNIQUE,
    -- What it learns from, such as KBNK.
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
    -- Who trained it, when and for how long, by its clock.
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
    -- Of who always says the mean.
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

-- The network that a player evaluates positions by; NULL: by none, or its cells are older than this table.
ALTER TABLE players ADD COLUMN network_id INTEGER REFERENCES networks;

-- The network that this cell's one task, numbered 0, trains; NULL: its tasks are games.
ALTER TABLE cells ADD COLUMN trains_network_id INTEGER REFERENCES networks;
