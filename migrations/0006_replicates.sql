-- The axis whose values are replicates: reports show the mean over them, with an interval by how much they differ.
-- NULL: cells are shown one by one.
ALTER TABLE experiments ADD COLUMN replicates TEXT;
