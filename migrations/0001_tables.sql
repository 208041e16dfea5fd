-- The results database.
--
-- People open this file with sqlite3, pandas or DuckDB: the schema is a user interface, and its
-- reference is docs/sql.md. Tables are plural, keys are <singular>_id, units are in the names
-- (wall_us: microseconds by the wall clock), ids and seeds stay below 2^53 so that JavaScript and
-- DuckDB's doubles read them exactly, and no column needs parsing to be of use.
--
-- Ids that people cite, or that must only grow, are AUTOINCREMENT: SQLite never gives one again,
-- though what had it was deleted.
--
-- Whatever a stock SQLite of 2021 (3.37, the first with STRICT tables) cannot read must not be
-- here: no newer syntax, and no functions from SQLite's mathematics, which it may lack.

------------------------------------------------------------------------------------------------
-- Who writes
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
-- What is asked: experiments, cells, players, openings
------------------------------------------------------------------------------------------------

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
    -- Whether what came of its cells decides which cells it gets next: 'open' while more may come, so that
    -- it is not finished when its games are; then 'ended'. NULL: its sweep names all its cells.
    course TEXT CHECK (course IN ('open', 'ended')),
    -- When somebody last dropped its moves: games that were stored before have none, whatever `record`
    -- says. NULL: never.
    pruned_unix_us INTEGER
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
    -- Cells that were never there; that the one before did not name, but an earlier one; and that
    -- this one does not name any more.
    cells_added INTEGER NOT NULL,
    cells_returned INTEGER NOT NULL,
    cells_dropped INTEGER NOT NULL,
    -- Games of its cells that were settled when it came, and those that were not.
    games_kept INTEGER NOT NULL,
    games_to_play INTEGER NOT NULL,
    UNIQUE (experiment_id, version)
) STRICT;

-- A player is identified by the hash of its parameters: one player in many cells is one row.
CREATE TABLE players (
    player_id INTEGER PRIMARY KEY,
    -- SHA-256 of parameters_json, in hexadecimal.
    hash TEXT NOT NULL UNIQUE,
    algorithm TEXT NOT NULL,
    -- Canonical JSON of all its parameters, limits included.
    parameters_json TEXT NOT NULL
) STRICT;

-- What of a cell's definition is not a player: the sweep's seed, game, rules, openings, plies_max. As
-- workers get it: the beginning of the definition's canonical JSON, up to the first player.
CREATE TABLE conditions (
    conditions_id INTEGER PRIMARY KEY,
    definition_prefix TEXT NOT NULL UNIQUE
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

CREATE TABLE cells (
    cell_id INTEGER PRIMARY KEY AUTOINCREMENT,
    experiment_id INTEGER NOT NULL REFERENCES experiments,
    -- Its place in the grid's order, from 0. Nothing random depends on it (invariant 1).
    number INTEGER NOT NULL,
    -- SHA-256 of the definition, in hexadecimal: names the cell in leases and between databases.
    definition_hash TEXT NOT NULL,
    -- What it has in common with other cells. With its players that is its definition: see the view
    -- cell_definitions.
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
    -- Its stop rule: it ends once half the width of its score's interval is no more than this; NULL: it
    -- gets all its games. No part of its definition.
    stop_precision REAL CHECK (stop_precision > 0 AND stop_precision < 0.5),
    -- Up to this number its games are settled, in whole pairs, and the rule has read them; 0 without one.
    decided_number INTEGER NOT NULL DEFAULT 0,
    -- Where the rule ends it: games from this number on are not counted. NULL: not yet, or no rule.
    stop_number INTEGER CHECK (stop_number > 0),
    -- After how many cells that it had been told of its experiment's course asked for it. NULL: the sweep
    -- names it.
    asked_after INTEGER,
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

-- What the course of an experiment was told of its settled cells, in the order of their numbers. It stays
-- as it was told when games are played again.
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
    pairs_2 INTEGER NOT NULL
) STRICT;

CREATE TABLE openings (
    opening_id INTEGER PRIMARY KEY,
    game TEXT NOT NULL,
    -- In the game's notation.
    position TEXT NOT NULL,
    UNIQUE (game, position)
) STRICT;

------------------------------------------------------------------------------------------------
-- Who plays: workers, leases and what the scheduler finds again after a restart
------------------------------------------------------------------------------------------------

-- A start of a worker that came to nothing goes in time: a row that no lease and no result refers to, and
-- whose worker said Hello last more than a day ago and does not call any more.
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
    last_hello_unix_us INTEGER NOT NULL
) STRICT;

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

-- Games that were lost or failed at least once, settled since or not. Each stays as long as its game: the
-- view failures tells of it, and there is at most one row for each game.
CREATE TABLE attempts (
    cell_id INTEGER NOT NULL REFERENCES cells,
    number INTEGER NOT NULL,
    -- Leases lost while the game was reported as started; of these, leases of this game alone.
    lost INTEGER NOT NULL DEFAULT 0,
    lost_alone INTEGER NOT NULL DEFAULT 0,
    -- Failures that workers reported, and what the last of them said.
    failed INTEGER NOT NULL DEFAULT 0,
    last_message TEXT,
    PRIMARY KEY (cell_id, number)
) STRICT, WITHOUT ROWID;

------------------------------------------------------------------------------------------------
-- What came of it: games and moves
------------------------------------------------------------------------------------------------

-- Exactly the settled result of each game (invariant 4). A key that grows keeps inserts fast.
CREATE TABLE games (
    game_id INTEGER PRIMARY KEY AUTOINCREMENT,
    cell_id INTEGER NOT NULL REFERENCES cells,
    number INTEGER NOT NULL,
    opening_id INTEGER REFERENCES openings,
    -- Who moved first in this game, and who second: in odd numbers the cell's players are swapped.
    first_player_id INTEGER NOT NULL REFERENCES players (player_id),
    second_player_id INTEGER NOT NULL REFERENCES players (player_id),
    -- Which side of the game (white or black, x or o) moved first from the opening: `first` is the side
    -- that moves first from the start of the game. As `outcome`, NULL only for a game that finally failed.
    first_side TEXT CHECK (first_side IN ('first', 'second')),
    -- For who moved first. A game that finally failed has none, and says why in `failure`.
    outcome TEXT CHECK (outcome IN ('win', 'draw', 'loss')),
    termination TEXT,
    plies INTEGER,
    -- Equal games have equal hashes; below 2^53.
    moves_hash INTEGER,
    -- Not checked here: SQLite would look through all games before it deletes a worker. Whoever has a game
    -- has a row of worker_results, which refers to the worker.
    worker_id INTEGER,
    engine_revision INTEGER,
    -- By the worker's clock, for people only.
    started_unix_us INTEGER,
    wall_us INTEGER,
    -- Every statistic reads counted = 1.
    counted INTEGER NOT NULL CHECK (counted IN (0, 1)),
    not_counted_reason TEXT,
    failure TEXT,
    UNIQUE (cell_id, number),
    CHECK ((counted = 0) = (not_counted_reason IS NOT NULL)),
    CHECK (counted = 0 OR outcome IS NOT NULL),
    CHECK ((failure IS NULL) = (outcome IS NOT NULL)),
    CHECK (failure IS NOT NULL OR (opening_id IS NOT NULL AND first_side IS NOT NULL
        AND termination IS NOT NULL AND plies IS NOT NULL AND moves_hash IS NOT NULL AND engine_revision IS NOT NULL))
) STRICT;
-- There is none by worker, which would cost every game: who looks for one worker's games finds their
-- experiments in worker_results, and reads all games of those.
-- Finds repeated games, for the count of distinct ones.
CREATE INDEX games_distinct ON games (cell_id, moves_hash, opening_id, first_player_id)
    WHERE counted = 1;

-- One row for each ply, unless the sweep says record = "games". Clustered by game: the moves of a
-- game are one read, and no second index costs space.
CREATE TABLE moves (
    game_id INTEGER NOT NULL REFERENCES games,
    -- From 0, counted from the opening.
    ply INTEGER NOT NULL,
    -- 0: who moved first from the opening; 1: the other. Tells players apart in self-play.
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
    PRIMARY KEY (game_id, ply)
) STRICT, WITHOUT ROWID;

-- Every other result that arrived, kept whole: reason is repeat, conflict, excluded, verification
-- or after_cancel (invariant 4). Columns as in games.
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
    received_unix_us INTEGER NOT NULL
) STRICT;
CREATE INDEX uncounted_games_game ON uncounted_games (cell_id, number);
CREATE INDEX uncounted_games_worker ON uncounted_games (worker_id);
-- Two results of one deterministic game that differ: what nobody must overlook is found at once.
CREATE INDEX uncounted_games_conflicts ON uncounted_games (cell_id) WHERE reason = 'conflict';

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
    PRIMARY KEY (uncounted_game_id, ply)
) STRICT, WITHOUT ROWID;

-- What was reported of a game and is not a record of it: a wrong opening, a move that is not legal,
-- another result than follows from the moves. Kept as it came, for whoever looks into its worker. The
-- game is played again.
CREATE TABLE refused_results (
    refused_result_id INTEGER PRIMARY KEY,
    lease_id INTEGER NOT NULL,
    cell_id INTEGER NOT NULL REFERENCES cells,
    number INTEGER NOT NULL,
    worker_id INTEGER NOT NULL REFERENCES workers,
    -- What is wrong, in words.
    problem TEXT NOT NULL,
    -- The beginning of the record, as in the protocol: spelrum.v1.Game.
    record BLOB NOT NULL,
    received_unix_us INTEGER NOT NULL,
    UNIQUE (lease_id, cell_id, number)
) STRICT;
CREATE INDEX refused_results_cell ON refused_results (cell_id);
CREATE INDEX refused_results_worker ON refused_results (worker_id);

------------------------------------------------------------------------------------------------
-- Rollups: what the views read, so that a million games answer at once. Written in the same
-- transaction as the games; a recount from the rows gives the same (invariant 8).
--
-- A searched move is one not ended by only_move. Sums are over searched moves. Sums over more than
-- one game are REAL: exact up to 2^53, and never an overflow beyond.
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

-- What one side's searches of one completed depth cost in a settled game without moves (record =
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
    -- Games that differ in opening, moves or who moved first.
    distinct_games INTEGER NOT NULL,
    plies INTEGER NOT NULL,
    wall_us REAL NOT NULL,
    -- Mean score of the first player over the pairs, with its 95% confidence interval.
    score REAL NOT NULL,
    score_low REAL NOT NULL,
    score_high REAL NOT NULL
) STRICT;

-- What one player's searches of one completed depth cost in a cell.
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

-- What a worker has played of an experiment: it has a row if it played any settled game of it.
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
-- What goes: experiments that are being removed, or only their moves
------------------------------------------------------------------------------------------------

-- What is being removed, from the moment at which somebody decided it until the file has shrunk. It
-- goes in small pieces between the coordinator's other work; a coordinator that was killed goes on
-- with it at its next start.
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
    -- Where it is: done are cells with smaller ids, and of this cell games with smaller numbers.
    cell_id INTEGER NOT NULL DEFAULT 0,
    number INTEGER NOT NULL DEFAULT 0
) STRICT;
