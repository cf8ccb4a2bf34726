-- Credentials: service accounts, limits of API keys, the last proof by credentials of a user's own, and the requests of
-- directories.

-- The last time at which the user proved their identity by credentials of their own and a second factor.
ALTER TABLE users ADD COLUMN own_factors_at BIGINT;

-- A service account: a member without a person.
ALTER TABLE members ADD COLUMN is_service BOOLEAN NOT NULL DEFAULT FALSE;

CREATE TABLE service_accounts (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    member_id {key} NOT NULL REFERENCES members (id),
    description TEXT,
    owner_id {key} NOT NULL REFERENCES members (id),
    orphaned_since BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE INDEX service_accounts_org ON service_accounts (org_id, id);
CREATE UNIQUE INDEX service_accounts_member ON service_accounts (member_id);

ALTER TABLE api_keys ADD COLUMN last_used_ip TEXT;
ALTER TABLE sign_in_policies ADD COLUMN api_key_max_days BIGINT;
ALTER TABLE sign_in_policies ADD COLUMN api_key_scopes_required BOOLEAN NOT NULL DEFAULT FALSE;

-- The last requests of identity providers, so that people see what went wrong.
CREATE TABLE directory_requests (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    -- The token may be revoked since.
    token_id {key} NOT NULL,
    at BIGINT NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    status BIGINT NOT NULL,
    detail TEXT,
    body TEXT
);
CREATE INDEX directory_requests_org ON directory_requests (org_id, id);
