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
-- Who may read each document of a portal.
ALTER TABLE portals ADD COLUMN documents TEXT NOT NULL DEFAULT '{}';
ALTER TABLE access_requests ADD COLUMN documents TEXT NOT NULL DEFAULT '[]';
-- A portal that is published goes on with the documents it had, behind the agreement.
UPDATE portals SET documents = (
    SELECT COALESCE(json_group_object(document, 'nda'), '{}')
    FROM (
        SELECT c.framework AS document FROM certificates c WHERE c.org_id = portals.org_id
        UNION ALL
        SELECT p.id AS document FROM policies p WHERE p.org_id = portals.org_id AND p.archived = FALSE AND p.is_published = TRUE
    ) AS listed
) WHERE status = 'published';
-- Some organizations let nobody approve what they submitted themselves.
ALTER TABLE organizations ADD COLUMN is_self_approval_allowed BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE users ADD COLUMN notify_mentioned BOOLEAN NOT NULL DEFAULT TRUE;
-- The frameworks an organization has chosen to work on.
ALTER TABLE organizations ADD COLUMN framework_ids TEXT NOT NULL DEFAULT '[]';
-- Who asked for the approval of a statement.
ALTER TABLE soa_documents ADD COLUMN submitted_by TEXT;
