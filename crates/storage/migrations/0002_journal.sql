-- Written with every change, so without foreign keys and checks: only `app::core::sealing` writes here, and the
-- chain proves more than a constraint would.
CREATE TABLE journal (
    org_id {key} NOT NULL,
    sequence BIGINT NOT NULL,
    id {key} NOT NULL,
    at BIGINT NOT NULL,
    actor_type TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    member_id {key},
    auth_type TEXT,
    action TEXT NOT NULL,
    entity_type TEXT NOT NULL,
    entity_id {key} NOT NULL,
    state TEXT,
    state_hash {bytes},
    request_id TEXT NOT NULL,
    ip TEXT,
    hash {bytes} NOT NULL,
    PRIMARY KEY (org_id, sequence)
);
CREATE INDEX journal_entity ON journal (org_id, entity_id, sequence);

CREATE TABLE journal_heads (
    org_id {key} NOT NULL PRIMARY KEY,
    sequence BIGINT NOT NULL,
    hash {bytes} NOT NULL,
    at BIGINT NOT NULL,
    signing_key TEXT NOT NULL,
    signature {bytes} NOT NULL,
    -- Set when an automation waits for an action: the head is read with each commit.
    listens BOOLEAN NOT NULL DEFAULT FALSE
);
