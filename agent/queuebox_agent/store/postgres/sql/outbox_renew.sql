UPDATE {outbox} o
SET {lease_expires_at} = clock_timestamp() + %(lease)s * interval '1 second'
WHERE o.{id} = ANY (%(ids)b::uuid[])
    AND o.{state} || '' = 'processing'
    AND o.{claim_token} = (%(tokens)b::uuid[])[width_bucket(o.{id}, %(ids)b::uuid[])]
    AND o.{lease_expires_at} > clock_timestamp()
RETURNING o.{id}
