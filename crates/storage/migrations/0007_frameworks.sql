-- Controls, context entries, and the organization's own frameworks.
CREATE TABLE frameworks (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    alias {key} NOT NULL,
    content TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX frameworks_alias ON frameworks (org_id, alias);

CREATE TABLE controls (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    number BIGINT NOT NULL,
    name TEXT NOT NULL,
    name_key {key} NOT NULL,
    description TEXT NOT NULL,
    search_text TEXT NOT NULL,
    department TEXT CHECK (department IN ('none', 'admin', 'gov', 'hr', 'it', 'itsm', 'qms')),
    assignee_id {key} REFERENCES members (id),
    review_date {key},
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
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    number BIGINT NOT NULL,
    question TEXT NOT NULL,
    question_key {key} NOT NULL,
    answer TEXT NOT NULL,
    search_text TEXT NOT NULL,
    tags TEXT NOT NULL,
    assignee_id {key} REFERENCES members (id),
    review_date {key},
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE UNIQUE INDEX context_entries_number ON context_entries (org_id, number);
CREATE INDEX context_entries_list ON context_entries (org_id, id);
CREATE INDEX context_entries_updated ON context_entries (org_id, updated_at, id);
CREATE INDEX context_entries_assignee ON context_entries (assignee_id);

-- Statements of applicability: the documents, their answers, and what was approved.
CREATE TABLE soa_documents (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    framework_id {key} NOT NULL,
    number BIGINT NOT NULL,
    is_latest BOOLEAN NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('draft', 'in_progress', 'completed', 'needs_review', 'approved', 'declined')),
    total_questions BIGINT NOT NULL,
    answered_questions BIGINT NOT NULL,
    prepared_by {key} REFERENCES members (id),
    approver_id {key} REFERENCES members (id),
    submitted_at BIGINT,
    approved_at BIGINT,
    declined_at BIGINT,
    decline_reason TEXT,
    completed_at BIGINT,
    content_hash {key},
    -- The member who submitted the statement.
    submitted_by {key},
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    revision BIGINT NOT NULL
);
CREATE UNIQUE INDEX soa_documents_number ON soa_documents (org_id, framework_id, number);
CREATE UNIQUE INDEX soa_documents_latest ON soa_documents (org_id, framework_id) WHERE is_latest = TRUE;
CREATE INDEX soa_documents_list ON soa_documents (org_id, id);
CREATE INDEX soa_documents_approver ON soa_documents (approver_id);

CREATE TABLE soa_answers (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    document_id {key} NOT NULL REFERENCES soa_documents (id),
    question_id {key} NOT NULL,
    is_applicable BOOLEAN NOT NULL,
    justification TEXT,
    implementation_status TEXT CHECK (implementation_status IN ('not_started', 'in_progress', 'implemented')),
    owner_id {key} REFERENCES members (id),
    obligation TEXT,
    source TEXT NOT NULL CHECK (source IN ('person', 'rule', 'ai', 'previous')),
    state TEXT NOT NULL CHECK (state IN ('proposed', 'confirmed')),
    updated_at BIGINT NOT NULL,
    updated_by {key} REFERENCES members (id)
);
CREATE UNIQUE INDEX soa_answers_question ON soa_answers (document_id, question_id);
CREATE INDEX soa_answers_list ON soa_answers (org_id, document_id, question_id);
CREATE INDEX soa_answers_owner ON soa_answers (owner_id);

CREATE TABLE soa_approvals (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    document_id {key} NOT NULL REFERENCES soa_documents (id),
    framework_id {key} NOT NULL,
    approver_id {key} NOT NULL REFERENCES members (id),
    approved_at BIGINT NOT NULL,
    content_hash {key} NOT NULL,
    content TEXT NOT NULL
);
CREATE INDEX soa_approvals_list ON soa_approvals (org_id, document_id, id);
CREATE INDEX soa_approvals_framework ON soa_approvals (org_id, framework_id, approved_at);

CREATE TABLE soa_files (
    approval_id {key} NOT NULL REFERENCES soa_approvals (id),
    org_id {key} NOT NULL REFERENCES organizations (id),
    format {key} NOT NULL CHECK (format IN ('pdf', 'xlsx', 'csv')),
    sha256 {key} NOT NULL,
    content {bytes} NOT NULL,
    PRIMARY KEY (approval_id, format)
);
