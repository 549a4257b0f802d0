-- The keys of the next due rows in order of age. Every row also says how many rows were looked at and where they end; without a key
-- there is one such row.
WITH walked AS MATERIALIZED (
    SELECT o.{key} AS key, o.{topic} AS topic, o.{scheduled_at} AS at, o.{sequence} AS sequence
    FROM {outbox} o
    WHERE o.{state} = 'pending' AND o.{key} <> ''
        AND o.{scheduled_at} <= now()
        AND (o.{scheduled_at}, o.{sequence}) > (to_timestamp(%(at)s), %(sequence)s)
    ORDER BY o.{scheduled_at}, o.{sequence}
    LIMIT %(steps)s
),
keys AS MATERIALIZED (
    SELECT key, count(*) AS due, min(at) AS at, min(sequence) AS sequence
    FROM walked
    WHERE topic <> ALL (%(skip)b::text[])
    GROUP BY key
    ORDER BY min(at), min(sequence)
    LIMIT %(most)s
)
SELECT keys.key, keys.due, date_part('epoch', keys.at), keys.sequence,
    seen.walked, date_part('epoch', last.at), last.sequence
FROM (SELECT count(*) AS walked FROM walked) seen
LEFT JOIN (SELECT at, sequence FROM walked ORDER BY at DESC, sequence DESC LIMIT 1) last ON true
LEFT JOIN keys ON true
ORDER BY keys.at, keys.sequence
