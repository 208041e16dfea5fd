-- Claims: what a sweep states of its results. What was stated before the first game was settled is judged at one
-- family-wise error rate; what came later is exploratory. No claim is part of a cell.

CREATE TABLE claims (
    claim_id INTEGER PRIMARY KEY,
    experiment_id INTEGER NOT NULL REFERENCES experiments,
    -- In the order in which they were stated, from 0.
    number INTEGER NOT NULL,
    -- What is claimed, in the author's words.
    text TEXT NOT NULL,
    -- What is compared, and in which cells, by the hashes of their definitions: canonical JSON.
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
