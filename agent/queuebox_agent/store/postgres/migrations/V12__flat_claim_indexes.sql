-- What the claim needs so that its cost does not grow with the backlog. Each index costs every write, so those that only
-- older versions used go; such a version runs on without them, only slower.
-- IF NOT EXISTS: a busy outbox may have had them built before, with CREATE INDEX CONCURRENTLY.
CREATE INDEX IF NOT EXISTS idx_outbox_unkeyed_due ON outbox (scheduled_at, sequence)
    WHERE state = 'pending' AND (key IS NULL OR key = '');
CREATE INDEX IF NOT EXISTS idx_outbox_keyed_due ON outbox (scheduled_at, sequence) WHERE state = 'pending' AND key <> '';
CREATE INDEX IF NOT EXISTS idx_outbox_key_head ON outbox (key, sequence) WHERE state = 'pending' AND key <> '';
CREATE INDEX IF NOT EXISTS idx_outbox_in_flight ON outbox (key, claim_token) WHERE state = 'processing';
DROP INDEX IF EXISTS idx_outbox_pending_scheduled;
DROP INDEX IF EXISTS idx_outbox_key_sequence;
DROP INDEX IF EXISTS idx_outbox_processing_claimed;
