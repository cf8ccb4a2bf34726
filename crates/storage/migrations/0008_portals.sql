-- The trust portal: its contents, access requests, agreements, grants, and visits.
CREATE TABLE portals (
    org_id {key} NOT NULL PRIMARY KEY REFERENCES organizations (id),
    friendly_url {key},
    status TEXT NOT NULL CHECK (status IN ('draft', 'published')),
    domain {key},
    domain_verified_at BIGINT,
    domain_broken_at BIGINT,
    contact_email TEXT,
    overview TEXT,
    frameworks TEXT NOT NULL,
    nda_text TEXT,
    duration_days BIGINT NOT NULL,
    -- The readers of each document.
    documents TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE UNIQUE INDEX portals_friendly_url ON portals (friendly_url);
-- A domain belongs to the first organization that proves it.
CREATE UNIQUE INDEX portals_domain ON portals (domain) WHERE domain_verified_at IS NOT NULL;

CREATE TABLE certificates (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    framework TEXT NOT NULL CHECK (framework IN ('iso_27001', 'iso_42001', 'gdpr', 'hipaa', 'soc2_type1', 'soc2_type2', 'pci_dss', 'nen_7510', 'iso_9001')),
    file_name TEXT NOT NULL,
    file_size BIGINT NOT NULL,
    sha256 {key} NOT NULL,
    pages BIGINT NOT NULL,
    uploaded_by {key} REFERENCES members (id),
    updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX certificates_framework ON certificates (org_id, framework);

CREATE TABLE access_requests (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    company TEXT,
    job_title TEXT,
    purpose TEXT,
    requested_days BIGINT,
    status TEXT NOT NULL CHECK (status IN ('under_review', 'approved', 'denied')),
    reviewed_by {key} REFERENCES members (id),
    reviewed_at BIGINT,
    denial_reason TEXT,
    grant_id {key},
    documents TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE INDEX access_requests_list ON access_requests (org_id, id);
CREATE INDEX access_requests_status ON access_requests (org_id, status, id);

CREATE TABLE ndas (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    request_id {key} NOT NULL REFERENCES access_requests (id),
    token_hash {bytes} NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'signed', 'void')),
    text TEXT NOT NULL,
    text_sha256 {key} NOT NULL,
    duration_days BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    signer_name TEXT,
    signer_email TEXT,
    signed_at BIGINT,
    signer_ip TEXT,
    code {key},
    file_id {key},
    file_sha256 {key},
    grant_id {key}
);
CREATE UNIQUE INDEX ndas_token ON ndas (token_hash);
CREATE UNIQUE INDEX ndas_code ON ndas (code);
CREATE INDEX ndas_file ON ndas (file_sha256);
CREATE INDEX ndas_request ON ndas (org_id, request_id, id);
-- One agreement at a time waits for a signature.
CREATE UNIQUE INDEX ndas_open ON ndas (request_id) WHERE status = 'pending';

CREATE TABLE access_grants (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    request_id {key} NOT NULL REFERENCES access_requests (id),
    nda_id {key} NOT NULL REFERENCES ndas (id),
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    email_key {key} NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    revoked_by {key} REFERENCES members (id),
    revocation_reason TEXT
);
CREATE INDEX access_grants_list ON access_grants (org_id, id);
CREATE INDEX access_grants_email ON access_grants (org_id, email_key);

CREATE TABLE access_tokens (
    token_hash {bytes} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    grant_id {key} NOT NULL REFERENCES access_grants (id),
    -- True for a token issued with a signature or already used: it lasts as long as the grant.
    is_kept BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX access_tokens_grant ON access_tokens (grant_id, created_at);

CREATE TABLE visits (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    grant_id {key} NOT NULL REFERENCES access_grants (id),
    action TEXT NOT NULL,
    document {key},
    title TEXT,
    ip TEXT,
    at BIGINT NOT NULL
);
CREATE INDEX visits_list ON visits (org_id, id);
CREATE INDEX visits_grant ON visits (grant_id, id);

CREATE TABLE portal_posts (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    kind TEXT NOT NULL CHECK (kind IN ('update', 'question')),
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    is_published BOOLEAN NOT NULL,
    published_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE INDEX portal_posts_list ON portal_posts (org_id, id);

CREATE TABLE subscribers (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    email TEXT NOT NULL,
    email_key {key} NOT NULL,
    created_at BIGINT NOT NULL,
    confirmed_at BIGINT
);
CREATE UNIQUE INDEX subscribers_email ON subscribers (org_id, email_key);
