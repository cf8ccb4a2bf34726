CREATE TABLE attachments (
    id TEXT NOT NULL PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    entity_type TEXT NOT NULL CHECK (entity_type IN ('task', 'vendor', 'risk', 'policy', 'comment')),
    entity_id TEXT NOT NULL,
    name TEXT NOT NULL,
    media_type TEXT NOT NULL,
    size BIGINT NOT NULL,
    sha256 TEXT NOT NULL,
    description TEXT,
    uploaded_by TEXT REFERENCES members (id),
    created_at BIGINT NOT NULL
);
CREATE INDEX attachments_entity ON attachments (org_id, entity_id, id);
CREATE INDEX attachments_uploaded_by ON attachments (uploaded_by);
