-- How long a game may take by its worker's clock before it fails; NULL: as long as it takes. It
-- decides no move: a game has the result that it would have had, or none.
ALTER TABLE experiments ADD COLUMN game_timeout_us INTEGER CHECK (game_timeout_us > 0);
