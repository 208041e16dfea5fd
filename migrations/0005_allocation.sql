-- Which of an experiment's cells are served first: 'grid', each to its end before the next, in the grid's order;
-- 'informative', the one whose score is known least.
ALTER TABLE experiments ADD COLUMN allocation TEXT NOT NULL DEFAULT 'grid'
    CHECK (allocation IN ('grid', 'informative'));
