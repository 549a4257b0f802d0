-- The keys of the next due rows in order of age, then those of rows that were just finished. Every row also says how many due rows
-- were looked at and where they end; without keys there is one such row.
WITH walked AS MATERIALIZED (
    SELECT o.{key} AS key, o.{topic} AS topic, o.{scheduled_at} AS at, o.{sequence} AS sequence
    FROM {outbox} o
    WHERE o.{state} = 'pending' AND o.{key} <> ''
        AND o.{scheduled_at} <= now()
        AND (o.{scheduled_at}, o.{sequence}) > (to_timestamp(%(at)s), %(sequence)s)
    ORDER BY o.{scheduled_at}, o.{sequence}
    LIMIT %(steps)s
),
stop AS MATERIALIZED (
    SELECT (SELECT count(*) FROM walked) AS walked, date_part('epoch', last.at) AS at, last.sequence
    FROM (VALUES (1)) one
    LEFT JOIN (SELECT at, sequence FROM walked ORDER BY at DESC, sequence DESC LIMIT 1) last ON true
),
keys AS MATERIALIZED (
    SELECT key, count(at) AS due, min(at) AS at, min(sequence) AS sequence
    FROM (
        SELECT key, at, sequence FROM walked WHERE topic <> ALL (%(skip)s::text[])
        UNION ALL
        SELECT key, NULL, NULL FROM unnest(%(again)s::text[]) again (key)
    ) wanted
    GROUP BY key
    ORDER BY min(at), min(sequence)
    LIMIT %(keys)s
)
SELECT stop.walked, stop.at, stop.sequence, key, due, date_part('epoch', keys.at), keys.sequence
FROM stop
LEFT JOIN keys ON true
ORDER BY keys.at, keys.sequence
