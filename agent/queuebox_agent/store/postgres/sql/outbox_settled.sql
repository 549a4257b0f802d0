-- Rows that already show a final outcome under the token of the claim that wrote it.
SELECT o.{id}
FROM {outbox} o
WHERE o.{id} = ANY (%(ids)b::uuid[])
    AND o.{claim_token} = (%(tokens)b::uuid[])[width_bucket(o.{id}, %(ids)b::uuid[])]
    AND o.{state} || '' IN ('sent', 'dead')
