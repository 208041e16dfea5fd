-- The files that an experiment's sweep names, as they were submitted with it: with them and
-- sweep_toml everything can be redone.
CREATE TABLE experiment_files (
    experiment_id INTEGER NOT NULL REFERENCES experiments,
    -- As the sweep spells it.
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (experiment_id, name)
) STRICT, WITHOUT ROWID;
