-- The next keys in alphabetical order whose first pending row is due: one index probe a key, whatever stands behind its first row.
-- The last row says where the walk stopped, after how many keys, how many of them were found, and when that was.
WITH RECURSIVE step AS (
    (
        SELECT o.{key} AS key, free.found, 1 AS n, free.found::int AS total
        FROM {outbox} o
        CROSS JOIN LATERAL (SELECT o.{scheduled_at} <= now() AND o.{topic} <> ALL (%(skip)b::text[]) AS found) free
        WHERE o.{state} = 'pending' AND o.{key} <> '' AND o.{key} > %(after)s
        ORDER BY o.{key}, o.{sequence}
        LIMIT 1
    )
    UNION ALL
    SELECT head.key, head.found, step.n + 1, step.total + head.found::int
    FROM step
    CROSS JOIN LATERAL (
        SELECT o.{key} AS key, o.{scheduled_at} <= now() AND o.{topic} <> ALL (%(skip)b::text[]) AS found
        FROM {outbox} o
        WHERE o.{state} = 'pending' AND o.{key} <> '' AND o.{key} > step.key
        ORDER BY o.{key}, o.{sequence}
        LIMIT 1
    ) head
    WHERE step.n < %(steps)s AND step.total < %(limit)s
),
keys AS MATERIALIZED (
    SELECT key, found, n, total FROM step WHERE found OR n = (SELECT max(n) FROM step)
)
SELECT key, found, n, total, date_part('epoch', now())
FROM keys
ORDER BY n
