-- Policies: the working text, the published versions, and the signatures.
CREATE TABLE policies (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    number BIGINT NOT NULL,
    name TEXT NOT NULL,
    name_key {key} NOT NULL,
    description TEXT NOT NULL,
    search_text TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('draft', 'needs_review', 'published')),
    content TEXT NOT NULL,
    file_id {key},
    frequency TEXT CHECK (frequency IN ('monthly', 'quarterly', 'yearly')),
    department TEXT CHECK (department IN ('none', 'admin', 'gov', 'hr', 'it', 'itsm', 'qms')),
    is_required_to_sign BOOLEAN NOT NULL,
    review_date {key},
    is_archived BOOLEAN NOT NULL,
    archived BOOLEAN NOT NULL,
    assignee_id {key} REFERENCES members (id),
    approver_id {key} REFERENCES members (id),
    submitted_by_id {key} REFERENCES members (id),
    policy_template_id {key},
    is_published BOOLEAN NOT NULL,
    current_version BIGINT,
    current_version_id {key},
    last_published_at BIGINT,
    last_archived_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE UNIQUE INDEX policies_number ON policies (org_id, number);
CREATE INDEX policies_list ON policies (org_id, archived, id);
CREATE INDEX policies_updated ON policies (org_id, archived, updated_at, id);
CREATE INDEX policies_assignee ON policies (assignee_id);
CREATE INDEX policies_approver ON policies (approver_id);
CREATE INDEX policies_review ON policies (review_date) WHERE status = 'published';

CREATE TABLE policy_versions (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    policy_id {key} NOT NULL REFERENCES policies (id),
    number BIGINT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    content TEXT NOT NULL,
    file_id {key},
    file_name TEXT,
    file_sha256 TEXT,
    is_changed BOOLEAN NOT NULL,
    approver_id {key} REFERENCES members (id),
    submitted_by_id {key} REFERENCES members (id),
    published_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX policy_versions_number ON policy_versions (policy_id, number);
CREATE INDEX policy_versions_list ON policy_versions (org_id, policy_id, id);

CREATE TABLE policy_signatures (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    policy_id {key} NOT NULL REFERENCES policies (id),
    version_id {key} NOT NULL REFERENCES policy_versions (id),
    number BIGINT NOT NULL,
    member_id {key} NOT NULL REFERENCES members (id),
    signed_at BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE INDEX policy_signatures_list ON policy_signatures (org_id, policy_id, id);
CREATE UNIQUE INDEX policy_signatures_own ON policy_signatures (policy_id, member_id) WHERE ended_at IS NULL;

-- The last reminder of each member to sign a version of a policy.
CREATE TABLE policy_reminders (
    org_id {key} NOT NULL REFERENCES organizations (id),
    policy_id {key} NOT NULL REFERENCES policies (id),
    version_id {key} NOT NULL REFERENCES policy_versions (id),
    member_id {key} NOT NULL REFERENCES members (id),
    reminded_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, version_id, member_id)
);
CREATE INDEX policy_reminders_policy ON policy_reminders (policy_id);
