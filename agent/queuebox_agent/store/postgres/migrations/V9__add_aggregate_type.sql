ALTER TABLE outbox ADD COLUMN aggregate_type VARCHAR(255);
