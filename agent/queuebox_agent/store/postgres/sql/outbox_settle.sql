-- One outcome for each id, each behind its own fence. The ids are sorted: width_bucket finds an id's place among them in a few steps,
-- and no two statements lock rows in opposite order. No join: a plan made for an empty table would read all of it.
UPDATE {outbox} o
SET {state} = (%(states)b::text[])[width_bucket(o.{id}, %(ids)b::uuid[])],
    {updated_at} = now(),
    {claimed_at} = CASE WHEN (%(states)b::text[])[width_bucket(o.{id}, %(ids)b::uuid[])] = 'sent' THEN o.{claimed_at} END,
    {attempt} = o.{attempt} + ((%(delays)b::float8[])[width_bucket(o.{id}, %(ids)b::uuid[])] IS NOT NULL)::int,
    {scheduled_at} = coalesce(
        clock_timestamp() + (%(delays)b::float8[])[width_bucket(o.{id}, %(ids)b::uuid[])] * interval '1 second',
        o.{scheduled_at}
    ),
    {last_error} = coalesce((%(reasons)b::text[])[width_bucket(o.{id}, %(ids)b::uuid[])], o.{last_error})
WHERE o.{id} = ANY (%(ids)b::uuid[])
    AND o.{state} || '' = 'processing'
    AND o.{claim_token} = (%(tokens)b::uuid[])[width_bucket(o.{id}, %(ids)b::uuid[])]
    AND o.{lease_expires_at} > clock_timestamp()
RETURNING o.{id}, o.{key}
