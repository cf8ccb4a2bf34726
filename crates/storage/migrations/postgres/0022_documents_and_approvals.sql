-- Who may read each document of a portal.
ALTER TABLE portals ADD COLUMN documents TEXT NOT NULL DEFAULT '{}';
ALTER TABLE access_requests ADD COLUMN documents TEXT NOT NULL DEFAULT '[]';
-- A portal that is published goes on with the documents it had, behind the agreement.
UPDATE portals SET documents = (
    SELECT COALESCE(CAST(json_object_agg(document, 'nda') AS TEXT), '{}')
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
