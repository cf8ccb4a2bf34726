-- The directory: people and groups that an identity provider keeps in step by SCIM, and the work that leavers had.

CREATE TABLE directories (
    org_id {key} NOT NULL PRIMARY KEY REFERENCES organizations (id),
    default_role TEXT NOT NULL,
    last_request_at BIGINT,
    updated_at BIGINT,
    version BIGINT NOT NULL
);

CREATE TABLE directory_tokens (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    secret_hash {bytes} NOT NULL,
    expires_at BIGINT,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT
);
CREATE UNIQUE INDEX directory_tokens_prefix ON directory_tokens (prefix);
CREATE INDEX directory_tokens_org ON directory_tokens (org_id);

CREATE TABLE directory_users (
    -- The id of the member.
    id {key} NOT NULL PRIMARY KEY REFERENCES members (id),
    org_id {key} NOT NULL REFERENCES organizations (id),
    user_name TEXT NOT NULL,
    -- In lower case.
    user_name_key TEXT NOT NULL,
    external_id TEXT,
    resource TEXT NOT NULL,
    is_active BOOLEAN NOT NULL,
    is_suspended BOOLEAN NOT NULL,
    deleted_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE UNIQUE INDEX directory_users_name ON directory_users (org_id, user_name_key) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX directory_users_external ON directory_users (org_id, external_id) WHERE deleted_at IS NULL;

CREATE TABLE directory_groups (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    display_name TEXT NOT NULL,
    -- In lower case.
    name_key TEXT NOT NULL,
    external_id TEXT,
    role TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE UNIQUE INDEX directory_groups_name ON directory_groups (org_id, name_key);

CREATE TABLE directory_memberships (
    group_id {key} NOT NULL REFERENCES directory_groups (id) ON DELETE CASCADE,
    member_id {key} NOT NULL REFERENCES members (id),
    org_id {key} NOT NULL REFERENCES organizations (id),
    PRIMARY KEY (group_id, member_id)
);
CREATE INDEX directory_memberships_member ON directory_memberships (member_id);

-- What was taken from somebody who left.
CREATE TABLE releases (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    member_id {key} NOT NULL REFERENCES members (id),
    entity_type TEXT NOT NULL,
    entity_id {key} NOT NULL,
    -- The member who has it now, if anybody.
    handed_to {key},
    released_at BIGINT NOT NULL
);
CREATE INDEX releases_member ON releases (org_id, member_id, id);
CREATE UNIQUE INDEX releases_entity ON releases (member_id, entity_id);
