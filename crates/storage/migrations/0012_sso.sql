-- Single sign-on: mail domains, connections to identity providers, and the identities of people there.

ALTER TABLE sign_in_policies ADD COLUMN sso TEXT NOT NULL DEFAULT 'optional';
ALTER TABLE sign_in_policies ADD COLUMN sso_mfa TEXT NOT NULL DEFAULT 'trusted';
ALTER TABLE sign_in_policies ADD COLUMN sso_max_hours BIGINT NOT NULL DEFAULT 12;
-- Such a member signs in with their own credentials where single sign-on is required.
ALTER TABLE members ADD COLUMN is_exempt BOOLEAN NOT NULL DEFAULT FALSE;

CREATE TABLE sso_connections (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    is_enabled BOOLEAN NOT NULL,
    issuer TEXT NOT NULL,
    client_id TEXT NOT NULL,
    -- Encrypted; null for a public client.
    client_secret {bytes},
    client_secret_expires_at BIGINT,
    scopes TEXT NOT NULL,
    email_claim TEXT NOT NULL,
    groups_claim TEXT NOT NULL,
    adds_members BOOLEAN NOT NULL,
    default_role TEXT NOT NULL,
    role_sync TEXT NOT NULL CHECK (role_sync IN ('off', 'first', 'always')),
    group_roles TEXT NOT NULL,
    requires_group BOOLEAN NOT NULL,
    signs_out_at_provider BOOLEAN NOT NULL,
    -- What the provider said of itself when it was last checked.
    provider TEXT,
    tested_at BIGINT,
    -- Changes with the issuer and the client; a sign-in that began before ends.
    config_version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE INDEX sso_connections_org ON sso_connections (org_id);

CREATE TABLE mail_domains (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'verified', 'failing', 'lapsed', 'lost')),
    connection_id {key} REFERENCES sso_connections (id) ON DELETE SET NULL,
    -- What was found at the last look-up instead of the record.
    reason TEXT,
    verified_at BIGINT,
    failing_since BIGINT,
    -- The operator answers for it, and no record is needed.
    is_by_operator BOOLEAN NOT NULL,
    checked_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE UNIQUE INDEX mail_domains_added ON mail_domains (org_id, name);
-- A domain is verified by one organization.
CREATE UNIQUE INDEX mail_domains_name ON mail_domains (name) WHERE state IN ('verified', 'failing');

CREATE TABLE sso_identities (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    connection_id {key} NOT NULL REFERENCES sso_connections (id) ON DELETE CASCADE,
    user_id {key} NOT NULL REFERENCES users (id),
    subject TEXT NOT NULL,
    email TEXT,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX sso_identities_subject ON sso_identities (connection_id, subject);
CREATE UNIQUE INDEX sso_identities_user ON sso_identities (connection_id, user_id);
CREATE INDEX sso_identities_account ON sso_identities (user_id);

-- The organizations in which an identity provider authenticated the user of a session.
CREATE TABLE session_grants (
    session_id {key} NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    org_id {key} NOT NULL REFERENCES organizations (id),
    identity_id {key} NOT NULL REFERENCES sso_identities (id) ON DELETE CASCADE,
    granted_at BIGINT NOT NULL,
    has_mfa BOOLEAN NOT NULL,
    -- When the provider last authenticated the user again.
    confirmed_at BIGINT,
    -- The session at the provider, and the encrypted ID token, with which it is ended there.
    sid TEXT,
    id_token {bytes},
    PRIMARY KEY (session_id, org_id)
);
CREATE INDEX session_grants_identity ON session_grants (identity_id);

-- The last attempts to sign in with a connection, for the owner who sets it up.
CREATE TABLE sso_sign_ins (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    connection_id {key} NOT NULL REFERENCES sso_connections (id) ON DELETE CASCADE,
    at BIGINT NOT NULL,
    is_test BOOLEAN NOT NULL,
    result TEXT NOT NULL,
    reason TEXT,
    request_id TEXT NOT NULL,
    subject TEXT,
    email TEXT,
    -- The names of the claims that came; in a test, the claims.
    claims TEXT,
    group_count BIGINT,
    role TEXT
);
CREATE INDEX sso_sign_ins_connection ON sso_sign_ins (connection_id, id);
