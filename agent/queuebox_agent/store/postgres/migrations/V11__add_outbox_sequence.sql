-- Changes the order of claims: stop every worker of an older version before you apply it. May be applied again after a failure.
ALTER TABLE outbox ADD COLUMN IF NOT EXISTS sequence BIGINT;
CREATE SEQUENCE IF NOT EXISTS outbox_sequence_seq AS BIGINT OWNED BY outbox.sequence;

UPDATE outbox
SET sequence = numbered.sequence
FROM (
    SELECT id, (SELECT coalesce(max(sequence), 0) FROM outbox) + row_number() OVER (ORDER BY created_at, id) AS sequence
    FROM outbox
    WHERE sequence IS NULL
) AS numbered
WHERE outbox.id = numbered.id;

-- The next number follows the highest that a row has; a sequence that is already further on stays where it is.
SELECT setval('outbox_sequence_seq', highest + 1, false)
FROM (SELECT max(sequence) AS highest FROM outbox) AS numbered
WHERE highest >= (SELECT last_value FROM outbox_sequence_seq);

ALTER TABLE outbox
    ALTER COLUMN sequence SET DEFAULT nextval('outbox_sequence_seq'),
    ALTER COLUMN sequence SET NOT NULL;
CREATE INDEX IF NOT EXISTS idx_outbox_key_sequence ON outbox (key, sequence) WHERE state IN ('pending', 'processing');
