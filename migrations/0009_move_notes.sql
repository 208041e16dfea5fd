-- What external engines tell of their moves in words and probabilities, and answers in place of which another was
-- asked for, while the moves are recorded. Deleted with them.
CREATE TABLE move_notes (
    game_id INTEGER NOT NULL REFERENCES games,
    -- As in moves.
    ply INTEGER NOT NULL,
    -- In several lines; NULL if there is none.
    note TEXT,
    -- {"move":millionths,...}: what the player gave as the probability of each move, the greatest 64 of them.
    -- NULL if it gave none.
    distribution_json TEXT CHECK (json_valid(distribution_json)),
    -- Answers before the move that were refused, and the player asked again.
    refused INTEGER NOT NULL,
    PRIMARY KEY (game_id, ply)
) STRICT, WITHOUT ROWID;
