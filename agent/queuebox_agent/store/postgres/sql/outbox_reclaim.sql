-- Rows that somebody holds locked now are being finished or reclaimed: the next round finds them if not.
WITH stale AS MATERIALIZED (
    SELECT o.{id} AS id
    FROM {outbox} o
    WHERE o.{state} = 'processing' AND (o.{lease_expires_at} <= clock_timestamp() OR o.{lease_expires_at} IS NULL)
    LIMIT %(batch)s
    FOR UPDATE SKIP LOCKED
),
returned AS (
    UPDATE {outbox} o
    SET {state} = 'pending', {updated_at} = now(), {claimed_at} = NULL
    WHERE o.{id} = ANY (ARRAY(SELECT id FROM stale))
    RETURNING 1
)
SELECT count(*) FROM returned
