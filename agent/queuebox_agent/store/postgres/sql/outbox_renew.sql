UPDATE {outbox} o
SET {lease_expires_at} = clock_timestamp() + %(lease)s * interval '1 second'
WHERE o.{id} = ANY (%(ids)s::uuid[])
    AND o.{state} || '' = 'processing'
    AND o.{claim_token} = (%(tokens)s::uuid[])[width_bucket(o.{id}, %(ids)s::uuid[])]
    AND o.{lease_expires_at} > clock_timestamp()
RETURNING o.{id}
