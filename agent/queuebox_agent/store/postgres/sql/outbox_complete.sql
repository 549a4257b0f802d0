-- What `outbox_settle` does when every row was delivered, which is nearly always so.
UPDATE {outbox} o
SET {state} = 'sent', {updated_at} = now()
WHERE o.{id} = ANY (%(ids)b::uuid[])
    AND o.{state} || '' = 'processing'
    AND o.{claim_token} = (%(tokens)b::uuid[])[width_bucket(o.{id}, %(ids)b::uuid[])]
    AND o.{lease_expires_at} > clock_timestamp()
RETURNING o.{id}, o.{key}
