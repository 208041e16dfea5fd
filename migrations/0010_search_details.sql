-- Whether also what external engines tell of each move's search is kept, and the time left on clocks
-- (record = "full"); only where the moves are recorded.
ALTER TABLE experiments ADD COLUMN record_details INTEGER NOT NULL DEFAULT 0 CHECK (record_details IN (0, 1));

-- Plies of the longest line; NULL if the player did not report it, or nothing of its search is kept.
ALTER TABLE move_notes ADD COLUMN seldepth INTEGER;
-- How full its transposition table was, in thousandths.
ALTER TABLE move_notes ADD COLUMN hashfull INTEGER;
-- Positions found in endgame tables.
ALTER TABLE move_notes ADD COLUMN tbhits INTEGER;
-- The principal variation as the player writes it.
ALTER TABLE move_notes ADD COLUMN pv TEXT;
-- Time left on the player's clock after the move, in microseconds; NULL for a player without a clock.
ALTER TABLE move_notes ADD COLUMN clock_left_us INTEGER;
