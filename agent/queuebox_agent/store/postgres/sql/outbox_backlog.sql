-- In two parts, so that each reads its own partial index and no row that waits no more.
SELECT coalesce(sum(pending), 0)::bigint, coalesce(date_part('epoch', clock_timestamp()) - min(oldest), 0)
FROM (
    SELECT count(*) AS pending, date_part('epoch', min(o.{created_at})) AS oldest
    FROM {outbox} o WHERE o.{state} = 'pending' AND (o.{key} IS NULL OR o.{key} = '')
    UNION ALL
    SELECT count(*), date_part('epoch', min(o.{created_at}))
    FROM {outbox} o WHERE o.{state} = 'pending' AND o.{key} <> ''
) part
