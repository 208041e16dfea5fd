-- Whether its players are taken to repeat a game whose opening comes again: neither draws random numbers, and no clock
-- decides. Then the cell ends with one round of its openings, unless games of the next are seen to differ. 0 of cells
-- of earlier releases, which end as they did.
ALTER TABLE cells ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0 CHECK (repeats IN (0, 1));

-- Sequential tests are read over openings from here on. Cells whose openings came again before keep the reading that
-- they had, over pairs: another one would end them elsewhere, also where all is played. As for a precision, whoever
-- submits the sweep again gets the other.
INSERT INTO stop_rules (rule, kind, elo0, elo1, alpha, beta, model, over_pairs)
SELECT s.rule || ' over pairs', s.kind, s.elo0, s.elo1, s.alpha, s.beta, s.model, 1 FROM stop_rules AS s
WHERE s.kind = 'sprt' AND s.over_pairs = 0 AND EXISTS (
    SELECT 1 FROM cells AS c JOIN conditions AS k ON k.conditions_id = c.conditions_id
    WHERE c.stop_rule_id = s.stop_rule_id AND k.openings_count > 1
        AND k.openings_count * (1 + c.swap_sides) < c.decided_number);

UPDATE cells SET stop_rule_id = n.stop_rule_id
FROM stop_rules AS s JOIN stop_rules AS n ON n.rule = s.rule || ' over pairs', conditions AS k
WHERE s.stop_rule_id = cells.stop_rule_id AND s.kind = 'sprt' AND s.over_pairs = 0
    AND k.conditions_id = cells.conditions_id AND k.openings_count > 1
    AND k.openings_count * (1 + cells.swap_sides) < cells.decided_number;
