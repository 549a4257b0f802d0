ALTER TABLE inbox ADD COLUMN correlation_id VARCHAR(128);
