-- The most games of the experiment that workers hold at once, in play or next in line. NULL: any number.
ALTER TABLE experiments ADD COLUMN games_at_once INTEGER CHECK (games_at_once >= 2);
