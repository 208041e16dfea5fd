-- Digests, by which `spelrum check` finds what a disk has changed. They are of the values as they are stored; how they
-- are made is in docs/reliability.md ("Rot"). Each is below 2^53.

-- The digest of a game's whole record: its rows of games, moves, game_sides, game_depths, game_engines and forfeits,
-- but for games.counted and games.not_counted_reason, which follow from the other columns and its cell's stop_number.
-- Written with the game.
CREATE TABLE game_digests (
    game_id INTEGER PRIMARY KEY REFERENCES games ON DELETE CASCADE,
    digest INTEGER NOT NULL
) STRICT;

-- The digest of each other table, written when a coordinator or a run closes the file, and in backups and exports.
-- Empty while the file is open, and after a process that was killed. 'sqlite_schema' is the schema itself.
CREATE TABLE table_digests (
    table_name TEXT PRIMARY KEY,
    row_count INTEGER NOT NULL,
    digest INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
