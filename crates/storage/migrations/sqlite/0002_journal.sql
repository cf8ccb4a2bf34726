-- Written with every change, so without foreign keys and checks: only `app::journal` writes here, and the
-- chain proves more than a constraint would.
CREATE TABLE journal (
    org_id TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    id TEXT NOT NULL,
    at BIGINT NOT NULL,
    actor_type TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    member_id TEXT,
    auth_type TEXT,
    action TEXT NOT NULL,
    entity_type TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    state TEXT,
    state_hash BLOB,
    request_id TEXT NOT NULL,
    ip TEXT,
    hash BLOB NOT NULL,
    PRIMARY KEY (org_id, sequence)
);
CREATE INDEX journal_entity ON journal (org_id, entity_id, sequence);

CREATE TABLE journal_heads (
    org_id TEXT NOT NULL PRIMARY KEY,
    sequence BIGINT NOT NULL,
    hash BLOB NOT NULL,
    at BIGINT NOT NULL,
    signing_key TEXT NOT NULL,
    signature BLOB NOT NULL
);
