-- Statements of applicability: the documents, their answers, and what was approved.
CREATE TABLE soa_documents (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
    framework_id TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    is_latest BOOLEAN NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('draft', 'in_progress', 'completed', 'needs_review', 'approved', 'declined')),
    total_questions BIGINT NOT NULL,
    answered_questions BIGINT NOT NULL,
    prepared_by TEXT COLLATE "C" REFERENCES members (id),
    approver_id TEXT COLLATE "C" REFERENCES members (id),
    submitted_at BIGINT,
    approved_at BIGINT,
    declined_at BIGINT,
    decline_reason TEXT,
    completed_at BIGINT,
    content_hash TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    revision BIGINT NOT NULL
);
CREATE UNIQUE INDEX soa_documents_number ON soa_documents (org_id, framework_id, number);
CREATE UNIQUE INDEX soa_documents_latest ON soa_documents (org_id, framework_id) WHERE is_latest = TRUE;
CREATE INDEX soa_documents_list ON soa_documents (org_id, id);
CREATE INDEX soa_documents_approver ON soa_documents (approver_id);

CREATE TABLE soa_answers (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
    document_id TEXT COLLATE "C" NOT NULL REFERENCES soa_documents (id),
    question_id TEXT COLLATE "C" NOT NULL,
    is_applicable BOOLEAN NOT NULL,
    justification TEXT,
    implementation_status TEXT CHECK (implementation_status IN ('not_started', 'in_progress', 'implemented')),
    owner_id TEXT COLLATE "C" REFERENCES members (id),
    obligation TEXT,
    source TEXT NOT NULL CHECK (source IN ('person', 'rule', 'ai', 'previous')),
    state TEXT NOT NULL CHECK (state IN ('proposed', 'confirmed')),
    updated_at BIGINT NOT NULL,
    updated_by TEXT COLLATE "C" REFERENCES members (id)
);
CREATE UNIQUE INDEX soa_answers_question ON soa_answers (document_id, question_id);
CREATE INDEX soa_answers_list ON soa_answers (org_id, document_id, question_id);
CREATE INDEX soa_answers_owner ON soa_answers (owner_id);

CREATE TABLE soa_approvals (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
    document_id TEXT COLLATE "C" NOT NULL REFERENCES soa_documents (id),
    framework_id TEXT COLLATE "C" NOT NULL,
    approver_id TEXT COLLATE "C" NOT NULL REFERENCES members (id),
    approved_at BIGINT NOT NULL,
    content_hash TEXT COLLATE "C" NOT NULL,
    content TEXT NOT NULL
);
CREATE INDEX soa_approvals_list ON soa_approvals (org_id, document_id, id);
CREATE INDEX soa_approvals_framework ON soa_approvals (org_id, framework_id, approved_at);

CREATE TABLE soa_files (
    approval_id TEXT COLLATE "C" NOT NULL REFERENCES soa_approvals (id),
    org_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
    format TEXT COLLATE "C" NOT NULL CHECK (format IN ('pdf', 'xlsx', 'csv')),
    sha256 TEXT COLLATE "C" NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (approval_id, format)
);
