-- What members are notified of, and the channels of a chat service that hear of it, too.
CREATE TABLE inbox_items (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    member_id {key} NOT NULL REFERENCES members (id),
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    entity_type TEXT,
    entity_id {key},
    actor_id {key} REFERENCES members (id),
    -- Identifies an item that must not be repeated, such as the due date that it is about.
    occasion {key},
    created_at BIGINT NOT NULL,
    read_at BIGINT
);
CREATE INDEX inbox_items_list ON inbox_items (org_id, member_id, id);
CREATE INDEX inbox_items_entity ON inbox_items (org_id, entity_id);
CREATE INDEX inbox_items_created ON inbox_items (created_at);
CREATE UNIQUE INDEX inbox_items_occasion ON inbox_items (member_id, entity_id, occasion);

CREATE TABLE chat_channels (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    -- The address, which is a secret.
    sealed {bytes} NOT NULL,
    url_hint TEXT NOT NULL,
    notices TEXT NOT NULL,
    is_active BOOLEAN NOT NULL,
    last_delivery TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE INDEX chat_channels_list ON chat_channels (org_id, id);

-- The names of the scales of risks, and the appetite for them.
CREATE TABLE risk_criteria (
    org_id {key} NOT NULL PRIMARY KEY REFERENCES organizations (id),
    content TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);

-- The acceptance of a risk by its owner; null while it is not accepted.
ALTER TABLE risks ADD COLUMN accepted_by_id {key};
ALTER TABLE risks ADD COLUMN accepted_at BIGINT;
ALTER TABLE risks ADD COLUMN accepted_until {key};
ALTER TABLE risks ADD COLUMN acceptance_reason TEXT;
CREATE INDEX risks_accepted ON risks (org_id, accepted_until);

-- The first completion of a task that recurs, and the first publication of a policy that was published again; null for
-- those before this schema.
ALTER TABLE tasks ADD COLUMN first_completed_at BIGINT;
ALTER TABLE policies ADD COLUMN first_published_at BIGINT;
