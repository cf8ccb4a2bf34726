-- What the organization does to meet requirements, what is known of it, and the frameworks it added.
CREATE TABLE frameworks (
    id TEXT NOT NULL PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    alias TEXT NOT NULL,
    content TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX frameworks_alias ON frameworks (org_id, alias);

CREATE TABLE controls (
    id TEXT NOT NULL PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    number BIGINT NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    description TEXT NOT NULL,
    search_text TEXT NOT NULL,
    department TEXT CHECK (department IN ('none', 'admin', 'gov', 'hr', 'it', 'itsm', 'qms')),
    assignee_id TEXT REFERENCES members (id),
    review_date TEXT,
    requirement_ids TEXT NOT NULL,
    policy_ids TEXT NOT NULL,
    task_ids TEXT NOT NULL,
    risk_ids TEXT NOT NULL,
    vendor_ids TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE UNIQUE INDEX controls_number ON controls (org_id, number);
CREATE INDEX controls_list ON controls (org_id, id);
CREATE INDEX controls_updated ON controls (org_id, updated_at, id);
CREATE INDEX controls_assignee ON controls (assignee_id);

CREATE TABLE context_entries (
    id TEXT NOT NULL PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    number BIGINT NOT NULL,
    question TEXT NOT NULL,
    question_key TEXT NOT NULL,
    answer TEXT NOT NULL,
    search_text TEXT NOT NULL,
    tags TEXT NOT NULL,
    assignee_id TEXT REFERENCES members (id),
    review_date TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE UNIQUE INDEX context_entries_number ON context_entries (org_id, number);
CREATE INDEX context_entries_list ON context_entries (org_id, id);
CREATE INDEX context_entries_updated ON context_entries (org_id, updated_at, id);
CREATE INDEX context_entries_assignee ON context_entries (assignee_id);
