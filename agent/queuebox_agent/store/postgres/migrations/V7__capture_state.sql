CREATE TABLE queuebox_capture_state (
    identity_name VARCHAR(63) PRIMARY KEY,
    state_id      UUID NOT NULL,
    fingerprint   VARCHAR(64) NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP
);
