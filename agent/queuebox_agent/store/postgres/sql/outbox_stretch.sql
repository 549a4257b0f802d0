-- Where the next %(steps)s due rows without a key end; no row when fewer are due.
SELECT date_part('epoch', o.{scheduled_at}), o.{sequence}
FROM {outbox} o
WHERE o.{state} = 'pending' AND (o.{key} IS NULL OR o.{key} = '')
    AND o.{scheduled_at} <= now()
    AND (o.{scheduled_at}, o.{sequence}) > (to_timestamp(%(at)s), %(sequence)s)
ORDER BY o.{scheduled_at}, o.{sequence}
OFFSET %(steps)s - 1 LIMIT 1
