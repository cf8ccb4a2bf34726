-- Each row of a register has a number, and so a short reference.
CREATE TABLE register_numbers (
    org_id {key} NOT NULL REFERENCES organizations (id),
    register TEXT NOT NULL,
    last BIGINT NOT NULL,
    PRIMARY KEY (org_id, register)
);

CREATE TABLE risks (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    number BIGINT NOT NULL,
    title TEXT NOT NULL,
    title_key {key} NOT NULL,
    description TEXT NOT NULL,
    search_text TEXT NOT NULL,
    category TEXT NOT NULL CHECK (category IN ('customer', 'fraud', 'governance', 'operations', 'other', 'people', 'regulatory', 'reporting', 'resilience', 'technology', 'vendor_management')),
    department TEXT CHECK (department IN ('none', 'admin', 'gov', 'hr', 'it', 'itsm', 'qms')),
    status TEXT NOT NULL CHECK (status IN ('open', 'pending', 'closed', 'archived')),
    archived BOOLEAN NOT NULL,
    likelihood TEXT NOT NULL,
    impact TEXT NOT NULL,
    inherent_score BIGINT NOT NULL CHECK (inherent_score BETWEEN 1 AND 25),
    residual_likelihood TEXT NOT NULL,
    residual_impact TEXT NOT NULL,
    residual_score BIGINT NOT NULL CHECK (residual_score BETWEEN 1 AND 25),
    treatment_strategy TEXT NOT NULL CHECK (treatment_strategy IN ('accept', 'avoid', 'mitigate', 'transfer')),
    treatment_strategy_description TEXT,
    assignee_id {key} REFERENCES members (id),
    is_assessed BOOLEAN NOT NULL,
    review_date {key},
    -- Null or false while the columns above hold their defaults.
    is_residual_assessed BOOLEAN NOT NULL,
    treatment_decided_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE INDEX risks_list ON risks (org_id, archived, id);
CREATE INDEX risks_updated ON risks (org_id, archived, updated_at, id);
CREATE INDEX risks_inherent ON risks (org_id, archived, inherent_score, id);
CREATE INDEX risks_residual ON risks (org_id, archived, residual_score, id);
CREATE INDEX risks_assignee ON risks (assignee_id);
CREATE INDEX risks_title ON risks (org_id, archived, title_key, id);
CREATE UNIQUE INDEX risks_number ON risks (org_id, number);

CREATE TABLE vendors (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    number BIGINT NOT NULL,
    name TEXT NOT NULL,
    name_key {key} NOT NULL,
    description TEXT NOT NULL,
    search_text TEXT NOT NULL,
    category TEXT NOT NULL CHECK (category IN ('cloud', 'infrastructure', 'software_as_a_service', 'finance', 'marketing', 'sales', 'hr', 'other')),
    status TEXT NOT NULL CHECK (status IN ('not_assessed', 'in_progress', 'assessed')),
    inherent_probability TEXT NOT NULL,
    inherent_impact TEXT NOT NULL,
    inherent_score BIGINT NOT NULL CHECK (inherent_score BETWEEN 1 AND 25),
    residual_probability TEXT NOT NULL,
    residual_impact TEXT NOT NULL,
    residual_score BIGINT NOT NULL CHECK (residual_score BETWEEN 1 AND 25),
    website TEXT,
    assignee_id {key} REFERENCES members (id),
    is_assessed BOOLEAN NOT NULL,
    is_sub_processor BOOLEAN NOT NULL,
    review_date {key},
    is_residual_assessed BOOLEAN NOT NULL,
    treatment_strategy TEXT NOT NULL CHECK (treatment_strategy IN ('accept', 'avoid', 'mitigate', 'transfer')),
    treatment_strategy_description TEXT,
    treatment_decided_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE INDEX vendors_list ON vendors (org_id, id);
CREATE INDEX vendors_updated ON vendors (org_id, updated_at, id);
CREATE INDEX vendors_inherent ON vendors (org_id, inherent_score, id);
CREATE INDEX vendors_residual ON vendors (org_id, residual_score, id);
CREATE INDEX vendors_assignee ON vendors (assignee_id);
CREATE INDEX vendors_name ON vendors (org_id, name_key, id);
CREATE UNIQUE INDEX vendors_number ON vendors (org_id, number);

CREATE TABLE comments (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    content TEXT NOT NULL,
    author_id {key} NOT NULL REFERENCES members (id),
    entity_type TEXT NOT NULL CHECK (entity_type IN ('task', 'vendor', 'risk', 'policy')),
    entity_id {key} NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE INDEX comments_entity ON comments (org_id, entity_id, id);
CREATE INDEX comments_author ON comments (author_id);

CREATE TABLE attachments (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    entity_type TEXT NOT NULL CHECK (entity_type IN ('task', 'vendor', 'risk', 'policy', 'comment')),
    entity_id {key} NOT NULL,
    name TEXT NOT NULL,
    media_type TEXT NOT NULL,
    size BIGINT NOT NULL,
    sha256 TEXT NOT NULL,
    description TEXT,
    uploaded_by {key} REFERENCES members (id),
    effective_date {key},
    run_id {key},
    automation_version BIGINT,
    created_at BIGINT NOT NULL
);
CREATE INDEX attachments_entity ON attachments (org_id, entity_id, id);
CREATE INDEX attachments_uploaded_by ON attachments (uploaded_by);

-- Saved arrangements of lists.
CREATE TABLE views (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    member_id {key} NOT NULL REFERENCES members (id),
    list TEXT NOT NULL,
    name TEXT NOT NULL,
    parameters TEXT NOT NULL,
    is_shared BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE INDEX views_list ON views (org_id, member_id, id);

-- Bulk changes that can be undone: each changed row with its new version.
CREATE TABLE bulk_changes (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    register TEXT NOT NULL,
    actor_id {key} NOT NULL,
    made_at BIGINT NOT NULL,
    changed TEXT NOT NULL
);
CREATE INDEX bulk_changes_made ON bulk_changes (org_id, made_at);
