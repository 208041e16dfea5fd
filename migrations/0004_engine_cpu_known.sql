-- Whether `cpu_us` of external engines' moves is the processor time of their own processes. 0: it was submitted to an
-- older release, whose workers recorded what it took to talk to them.
ALTER TABLE experiments ADD COLUMN engine_cpu_known INTEGER NOT NULL DEFAULT 0 CHECK (engine_cpu_known IN (0, 1));
