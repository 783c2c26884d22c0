-- Units that the model did not answer are asked about again in a further part of the run.

-- 1: to be asked about again. 2: a later part has the unit again.
ALTER TABLE units ADD COLUMN unanswered INTEGER NOT NULL DEFAULT 0;

ALTER TABLE documents ADD COLUMN again INTEGER NOT NULL DEFAULT 0;

CREATE INDEX unanswered_units ON units (run, number) WHERE unanswered = 1;

-- Earlier builds stored units as finished whose responses were cut off to the end.
UPDATE units SET unanswered = 1
    WHERE json_extract(CAST(result AS TEXT), '$.usage.truncated')
    AND json_extract(unit, '$[0]') IN ('proofread', 'detect', 'draft');
