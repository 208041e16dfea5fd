-- The axes along which curves of scores only rise or only fall, as a JSON list of their names. NULL: none.
ALTER TABLE experiments ADD COLUMN monotone_json TEXT CHECK (monotone_json IS NULL OR json_valid(monotone_json));
