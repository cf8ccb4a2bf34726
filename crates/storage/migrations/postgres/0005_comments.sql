CREATE TABLE comments (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
    content TEXT NOT NULL,
    author_id TEXT COLLATE "C" NOT NULL REFERENCES members (id),
    entity_type TEXT NOT NULL CHECK (entity_type IN ('task', 'vendor', 'risk', 'policy')),
    entity_id TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE INDEX comments_entity ON comments (org_id, entity_id, id);
CREATE INDEX comments_author ON comments (author_id);
