CREATE TABLE jobs (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    org_id TEXT,
    payload BLOB NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'failed')),
    unique_key TEXT,
    run_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    lease_owner TEXT,
    lease_until BIGINT,
    last_error TEXT,
    created_at BIGINT NOT NULL
);
CREATE INDEX jobs_due ON jobs (state, run_at);
CREATE UNIQUE INDEX jobs_unique_key ON jobs (unique_key);

CREATE TABLE idempotency_keys (
    claim TEXT NOT NULL PRIMARY KEY,
    fingerprint BLOB NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'applied', 'answered')),
    answer BLOB,
    created_at BIGINT NOT NULL,
    locked_until BIGINT NOT NULL
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

CREATE TABLE instance (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);
