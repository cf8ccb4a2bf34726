CREATE TABLE jobs (
    id {key} NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    org_id {key},
    payload {bytes} NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'failed')),
    unique_key {key},
    run_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    lease_owner TEXT,
    lease_until BIGINT,
    last_error TEXT,
    created_at BIGINT NOT NULL
);
CREATE INDEX jobs_due ON jobs (state, run_at);
CREATE UNIQUE INDEX jobs_unique_key ON jobs (unique_key);
-- Read by each claim, to share workers fairly among organizations.
CREATE INDEX jobs_turns ON jobs (kind, org_id, run_at, lease_until, id) WHERE state = 'waiting';

CREATE TABLE idempotency_keys (
    claim {key} NOT NULL PRIMARY KEY,
    fingerprint {bytes} NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'applied', 'answered')),
    answer {bytes},
    -- The holder of the claim. A request that has lost the claim must not settle it.
    holder TEXT,
    created_at BIGINT NOT NULL,
    locked_until BIGINT NOT NULL
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

CREATE TABLE instance (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);
