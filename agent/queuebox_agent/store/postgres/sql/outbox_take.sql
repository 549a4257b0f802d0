-- The runs of keys that this transaction has locked. Its snapshot is newer than the locks, and only the holder of a key's lock makes a
-- row of the key 'processing', so what is seen here stays true.
WITH head AS MATERIALIZED (
    -- A key is free if its first pending row is due and no row of it is in flight.
    SELECT k.key, k.length, k.place, first.id, first.sequence
    FROM unnest(%(keys)b::text[], %(lengths)b::int[], %(floors)b::bigint[], %(since)b::uuid[])
        WITH ORDINALITY AS k (key, length, floor, since, place)
    CROSS JOIN LATERAL (
        SELECT o.{id} AS id, o.{sequence} AS sequence, o.{scheduled_at} AS at, o.{topic} AS topic
        FROM {outbox} o
        WHERE o.{state} = 'pending' AND o.{key} <> '' AND o.{key} = k.key AND o.{sequence} >= k.floor
        ORDER BY o.{sequence}
        LIMIT 1
    ) first
    WHERE first.at <= now() AND first.topic <> ALL (%(skip)b::text[])
        AND (
            SELECT b.{id} FROM {outbox} b
            WHERE b.{state} = 'processing' AND b.{key} = k.key AND b.{claim_token} >= k.since LIMIT 1
        ) IS NULL
        AND (
            SELECT b.{id} FROM {outbox} b
            WHERE b.{state} = 'processing' AND b.{key} = k.key AND b.{claim_token} IS NULL LIMIT 1
        ) IS NULL
    LIMIT %(limit)s
),
share AS MATERIALIZED (
    SELECT key, id, sequence, least(length, %(limit)s + length - sum(length) OVER (ORDER BY place)) AS length FROM head
),
run AS MATERIALIZED (
    SELECT key, id, sequence, true AS open FROM share WHERE length > 0
    UNION ALL
    SELECT share.key, next.id, next.sequence, next.at <= now() AND next.topic <> ALL (%(skip)b::text[])
    FROM share
    CROSS JOIN LATERAL (
        SELECT o.{id} AS id, o.{sequence} AS sequence, o.{scheduled_at} AS at, o.{topic} AS topic
        FROM {outbox} o
        WHERE o.{state} = 'pending' AND o.{key} <> '' AND o.{key} = share.key AND o.{sequence} > share.sequence
        ORDER BY o.{sequence}
        LIMIT share.length - 1
    ) next
    WHERE share.length > 1
),
locked AS MATERIALIZED (
    -- state || '' hides the test from the planner, which would like a partial index better than the primary key.
    SELECT run.key, run.id, run.sequence, run.open AND mine.id IS NOT NULL AS got
    FROM run
    LEFT JOIN LATERAL (
        SELECT o.{id} AS id FROM {outbox} o
        WHERE o.{id} = run.id AND o.{state} || '' = 'pending' AND o.{scheduled_at} <= now()
        FOR UPDATE SKIP LOCKED
    ) mine ON true
),
unbroken AS (
    -- A run ends before the first row that is not due, not wanted, or locked by somebody else.
    SELECT id, bool_and(got) OVER (PARTITION BY key ORDER BY sequence) AS mine FROM locked
)
UPDATE {outbox} o
SET {state} = 'processing',
    -- The number of this transaction begins the token: claims of one key follow one another, so its tokens only grow.
    {claim_token} = (SELECT (lpad(to_hex(pg_current_xact_id()::text::bigint), 12, '0') || %(suffix)s)::uuid),
    {claimed_at} = now(),
    {updated_at} = now(),
    {lease_expires_at} = clock_timestamp() + %(lease)s * interval '1 second'
WHERE o.{id} = ANY (ARRAY(SELECT id FROM unbroken WHERE mine))
RETURNING date_part('epoch', o.{scheduled_at}), o.{id}, o.{claim_token}, o.{topic}, nullif(o.{key}, ''),
    o.{aggregate_type}, o.{payload}::text, o.{headers}::text, o.{attempt}, o.{max_attempts}, o.{sequence}
