-- The games that were planned when a cell was given another end (more or fewer games, another stop rule) after games of
-- it had been settled. NULL: it has the end that it had before the first of its games. The interval of such a cell's
-- score is a confidence sequence, which holds at every look.
ALTER TABLE cells ADD COLUMN games_planned_first INTEGER CHECK (games_planned_first > 0);
-- Which cells were grown is not known of earlier changes, and neither is their first number.
UPDATE cells SET games_planned_first = games_planned
WHERE games_planned > 0
    AND cell_id IN (SELECT cell_id FROM cell_results WHERE games > 0)
    AND experiment_id IN (
        SELECT experiment_id FROM sweep_versions WHERE cells_continued > 0 AND games_kept > 0);
