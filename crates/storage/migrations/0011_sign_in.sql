-- Second factors and passkeys of accounts, and the sign-in policies of organizations.

-- When the account got its second factor: an authenticator app or a passkey.
ALTER TABLE users ADD COLUMN second_factor_since BIGINT;
ALTER TABLE sessions ADD COLUMN method TEXT NOT NULL DEFAULT 'password';
ALTER TABLE sessions ADD COLUMN second_factor TEXT;
-- The longest time between two uses since the session was confirmed, in milliseconds.
ALTER TABLE sessions ADD COLUMN longest_gap BIGINT NOT NULL DEFAULT 0;
-- Sessions that began before this time no longer count in the organization.
ALTER TABLE members ADD COLUMN signed_out_at BIGINT;

CREATE TABLE sign_in_policies (
    org_id {key} NOT NULL PRIMARY KEY REFERENCES organizations (id),
    mfa TEXT NOT NULL CHECK (mfa IN ('optional', 'required')),
    grace_days BIGINT NOT NULL,
    mfa_from BIGINT,
    idle_minutes BIGINT,
    max_hours BIGINT,
    updated_at BIGINT,
    version BIGINT NOT NULL
);

CREATE TABLE totp_secrets (
    user_id {key} NOT NULL PRIMARY KEY REFERENCES users (id),
    sealed {bytes} NOT NULL,
    created_at BIGINT NOT NULL,
    -- Null until a first code proves that the app has the secret.
    activated_at BIGINT,
    -- The time step of the last accepted code; none before it is accepted again.
    last_step BIGINT NOT NULL
);

CREATE TABLE recovery_codes (
    user_id {key} NOT NULL REFERENCES users (id),
    mac {bytes} NOT NULL,
    created_at BIGINT NOT NULL,
    used_at BIGINT,
    PRIMARY KEY (user_id, mac)
);

CREATE TABLE passkeys (
    id {key} NOT NULL PRIMARY KEY,
    user_id {key} NOT NULL REFERENCES users (id),
    -- The authenticator's id of the key, and the random id under which it knows the account.
    credential_id {bytes} NOT NULL,
    user_handle {bytes} NOT NULL,
    credential TEXT NOT NULL,
    name TEXT NOT NULL,
    is_synced BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT
);
CREATE UNIQUE INDEX passkeys_credential ON passkeys (credential_id);
CREATE INDEX passkeys_user ON passkeys (user_id);

-- Tickets that work once, until they would have expired.
CREATE TABLE used_tickets (
    hash {bytes} NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL
);
