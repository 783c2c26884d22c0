-- How the answer of a turn ended, and the folder in which it was asked.

ALTER TABLE turns ADD COLUMN stop_reason TEXT NOT NULL DEFAULT 'completed';
ALTER TABLE turns ADD COLUMN cancel_observed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turns ADD COLUMN folder TEXT;

-- Only an interruption leaves a turn with an answer that broke off.
UPDATE turns SET stop_reason = 'cancelled', cancel_observed = 1
WHERE refusal = 'llm_stream_aborted';
