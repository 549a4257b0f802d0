-- Locks keys until the end of the transaction: those that nobody else has locked, and of which no row is in flight as far as can be seen
-- before the lock is held. At most 1 024 locks a table.
SELECT k.key
FROM unnest(%(keys)b::text[], %(since)b::uuid[]) AS k (key, since)
WHERE CASE
    WHEN EXISTS (
        SELECT FROM {outbox} b WHERE b.{state} = 'processing' AND b.{key} = k.key AND b.{claim_token} >= k.since
    ) THEN false
    ELSE pg_try_advisory_xact_lock((SELECT %(table)s::regclass::oid::int), hashtext(k.key) & 1023)
END
