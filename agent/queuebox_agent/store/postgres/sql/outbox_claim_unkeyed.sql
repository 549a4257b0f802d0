-- Rows without a key: the oldest due ones behind a place, and not behind `end`, which bounds the stretch when topics are skipped.
WITH due AS MATERIALIZED (
    SELECT o.{id} AS id
    FROM {outbox} o
    WHERE o.{state} = 'pending' AND (o.{key} IS NULL OR o.{key} = '')
        AND o.{scheduled_at} <= now()
        AND (o.{scheduled_at}, o.{sequence}) > (to_timestamp(%(at)s), %(sequence)s)
        AND (o.{scheduled_at}, o.{sequence}) <= (to_timestamp(%(end_at)s), %(end_sequence)s)
        AND o.{topic} <> ALL (%(skip)b::text[])
    ORDER BY o.{scheduled_at}, o.{sequence}
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
UPDATE {outbox} o
SET {state} = 'processing',
    -- The number of this transaction begins the token.
    {claim_token} = (SELECT (lpad(to_hex(pg_current_xact_id()::text::bigint), 12, '0') || %(suffix)s)::uuid),
    {claimed_at} = now(),
    {updated_at} = now(),
    {lease_expires_at} = clock_timestamp() + %(lease)s * interval '1 second'
WHERE o.{id} = ANY (ARRAY(SELECT id FROM due))
RETURNING date_part('epoch', o.{scheduled_at}), o.{id}, o.{claim_token}, o.{topic}, nullif(o.{key}, ''),
    o.{aggregate_type}, o.{payload}::text, o.{headers}::text, o.{attempt}, o.{max_attempts}, o.{sequence}
