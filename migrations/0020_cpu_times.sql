-- What moves cost in processor time, game by game, beside their time by the clock on the wall: by it players are
-- compared whose moves no time limit ends. It follows from games and game_sides; the program that applies this fills
-- it in, in the same transaction.

-- As the columns of wall_us: the mean processor time of a player's searched moves in each game, and the natural
-- logarithm of that mean, of which one below half a microsecond counts as that, summed up over the games.
ALTER TABLE cell_openings ADD COLUMN first_player_cpu_us_mean_sum REAL NOT NULL DEFAULT 0;
ALTER TABLE cell_openings ADD COLUMN first_player_cpu_us_mean_log_sum REAL NOT NULL DEFAULT 0;
ALTER TABLE cell_openings ADD COLUMN second_player_cpu_us_mean_sum REAL NOT NULL DEFAULT 0;
ALTER TABLE cell_openings ADD COLUMN second_player_cpu_us_mean_log_sum REAL NOT NULL DEFAULT 0;
