-- SQLite before 3.45 takes json_valid(NULL) for 0, and not for NULL: its integrity check called every database
-- broken, and a dump could not be restored. The column moves to the end of the table, which has a row for each
-- experiment.
ALTER TABLE experiments ADD COLUMN checked_placement_json TEXT
    CHECK (checked_placement_json IS NULL OR json_valid(checked_placement_json));
UPDATE experiments SET checked_placement_json = placement_json WHERE placement_json IS NOT NULL;
ALTER TABLE experiments DROP COLUMN placement_json;
ALTER TABLE experiments RENAME COLUMN checked_placement_json TO placement_json;
