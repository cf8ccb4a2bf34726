-- Lists as members have arranged them.
CREATE TABLE views (
    id TEXT NOT NULL PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    member_id TEXT NOT NULL REFERENCES members (id),
    list TEXT NOT NULL,
    name TEXT NOT NULL,
    parameters TEXT NOT NULL,
    is_shared BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE INDEX views_list ON views (org_id, member_id, id);
-- Changes of many rows at once that can be undone: each row with the version it has got.
CREATE TABLE bulk_changes (
    id TEXT NOT NULL PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    register TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    made_at BIGINT NOT NULL,
    changed TEXT NOT NULL
);
CREATE INDEX bulk_changes_made ON bulk_changes (org_id, made_at);
