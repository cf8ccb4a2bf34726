-- Written with every change, so without foreign keys and checks: only `app::journal` writes here, and the
-- chain proves more than a constraint would.
CREATE TABLE journal (
    org_id TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    actor_type TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    member_id TEXT COLLATE "C",
    auth_type TEXT,
    action TEXT NOT NULL,
    entity_type TEXT NOT NULL,
    entity_id TEXT COLLATE "C" NOT NULL,
    state TEXT,
    state_hash BYTEA,
    request_id TEXT NOT NULL,
    ip TEXT,
    hash BYTEA NOT NULL,
    PRIMARY KEY (org_id, sequence)
);
CREATE INDEX journal_entity ON journal (org_id, entity_id, sequence);

CREATE TABLE journal_heads (
    org_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    sequence BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    at BIGINT NOT NULL,
    signing_key TEXT NOT NULL,
    signature BYTEA NOT NULL
);
