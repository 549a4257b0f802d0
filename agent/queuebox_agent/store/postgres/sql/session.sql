-- An outbox swings between empty and millions of rows faster than ANALYZE runs, and a prepared plan outlives both: a plan made for an
-- empty table must still walk the indexes.
SELECT set_config(name, setting, false)
FROM (VALUES
    ('statement_timeout', %(statement_timeout)s::text),
    -- No statement waits long for a row that somebody else has locked: the rows beside it have to be written.
    ('lock_timeout', '2s'),
    -- A claim holds the locks of keys between two statements: a process that freezes there must not hold them for long.
    ('idle_in_transaction_session_timeout', '5s'),
    ('plan_cache_mode', 'force_generic_plan'),
    ('jit', 'off'),
    ('max_parallel_workers_per_gather', '0'),
    ('enable_seqscan', 'off'),
    ('enable_bitmapscan', 'off'),
    ('enable_hashjoin', 'off'),
    ('enable_mergejoin', 'off'),
    ('enable_sort', 'off'),
    ('enable_incremental_sort', 'off')
) AS wanted (name, setting)
