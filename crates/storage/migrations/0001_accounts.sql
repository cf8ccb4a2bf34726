CREATE TABLE organizations (
    id {key} NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    website TEXT,
    time_zone TEXT NOT NULL,
    -- The last day on which the digests were sent.
    digest_on {key},
    is_self_approval_allowed BOOLEAN NOT NULL,
    framework_ids TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL,
    deleted_at BIGINT,
    -- A deleted organization can be brought back until it is removed.
    removed_at BIGINT
);

CREATE TABLE users (
    id {key} NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    name_key {key} NOT NULL,
    email TEXT NOT NULL,
    email_key {key} NOT NULL,
    email_verified BOOLEAN NOT NULL,
    image TEXT,
    password_hash TEXT,
    -- Set until an invitation is accepted: nobody can sign in yet.
    invited_to {key} REFERENCES organizations (id),
    -- Notifications by mail.
    notify_assigned BOOLEAN NOT NULL DEFAULT TRUE,
    notify_due_soon BOOLEAN NOT NULL DEFAULT TRUE,
    notify_overdue BOOLEAN NOT NULL DEFAULT TRUE,
    notify_automations BOOLEAN NOT NULL DEFAULT TRUE,
    notify_policies BOOLEAN NOT NULL DEFAULT TRUE,
    notify_portal BOOLEAN NOT NULL DEFAULT TRUE,
    notify_mentioned BOOLEAN NOT NULL DEFAULT TRUE,
    -- The account that an invited user stands for, where it was invited by its id.
    account_id {key},
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    last_login BIGINT,
    version BIGINT NOT NULL
);
CREATE UNIQUE INDEX users_email_key ON users (email_key);
CREATE INDEX users_invited ON users (invited_to);
CREATE UNIQUE INDEX users_account ON users (invited_to, account_id);

CREATE TABLE members (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    user_id {key} NOT NULL REFERENCES users (id),
    role TEXT NOT NULL,
    department TEXT NOT NULL CHECK (department IN ('none', 'admin', 'gov', 'hr', 'it', 'itsm', 'qms')),
    is_active BOOLEAN NOT NULL,
    device_label_id BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE UNIQUE INDEX members_org_user ON members (org_id, user_id);
CREATE INDEX members_org_active ON members (org_id, is_active, id);
CREATE INDEX members_user ON members (user_id);

CREATE TABLE api_keys (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    member_id {key} NOT NULL REFERENCES members (id),
    name TEXT NOT NULL,
    prefix {key} NOT NULL,
    secret_hash {bytes} NOT NULL,
    scopes TEXT NOT NULL,
    expires_at BIGINT,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    revoked_at BIGINT
);
CREATE UNIQUE INDEX api_keys_prefix ON api_keys (prefix);
CREATE INDEX api_keys_org ON api_keys (org_id, id);

CREATE TABLE sessions (
    id {key} NOT NULL PRIMARY KEY,
    user_id {key} NOT NULL REFERENCES users (id),
    token_hash {bytes} NOT NULL,
    created_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    -- The client that signed in, and when the password was last confirmed.
    ip TEXT,
    user_agent TEXT,
    confirmed_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX sessions_token ON sessions (token_hash);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_expiry ON sessions (expires_at);

CREATE TABLE invitations (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    member_id {key} NOT NULL REFERENCES members (id),
    user_id {key} NOT NULL REFERENCES users (id),
    email TEXT NOT NULL,
    token_hash {bytes} NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    accepted_at BIGINT,
    -- Only a link that was mailed proves that its user reads the address.
    by_mail BOOLEAN NOT NULL
);
CREATE UNIQUE INDEX invitations_token ON invitations (token_hash);
CREATE INDEX invitations_member ON invitations (org_id, member_id);

CREATE TABLE password_resets (
    token_hash {bytes} NOT NULL PRIMARY KEY,
    user_id {key} NOT NULL REFERENCES users (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    by_mail BOOLEAN NOT NULL
);
CREATE INDEX password_resets_user ON password_resets (user_id);

CREATE TABLE sign_in_failures (
    subject {bytes} NOT NULL PRIMARY KEY,
    failures BIGINT NOT NULL,
    since BIGINT NOT NULL
);
