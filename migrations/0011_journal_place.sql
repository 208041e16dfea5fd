-- How far the journal of a shared database is in this copy of it (docs/operating.md): the number of its last change, and
-- the term of the coordinator that appended it; 0 in a database that is only this file.
ALTER TABLE databases ADD COLUMN journal_number INTEGER NOT NULL DEFAULT 0;
ALTER TABLE databases ADD COLUMN journal_term INTEGER NOT NULL DEFAULT 0;
