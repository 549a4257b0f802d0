ALTER TABLE outbox ADD COLUMN last_error TEXT;
