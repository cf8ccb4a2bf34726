CREATE TABLE risks (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
    title TEXT NOT NULL,
    title_key TEXT COLLATE "C" NOT NULL,
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
    assignee_id TEXT COLLATE "C" REFERENCES members (id),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE INDEX risks_list ON risks (org_id, archived, id);
CREATE INDEX risks_updated ON risks (org_id, archived, updated_at, id);
CREATE INDEX risks_inherent ON risks (org_id, archived, inherent_score, id);
CREATE INDEX risks_residual ON risks (org_id, archived, residual_score, id);
CREATE INDEX risks_assignee ON risks (assignee_id);

CREATE TABLE vendors (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    org_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    name_key TEXT COLLATE "C" NOT NULL,
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
    assignee_id TEXT COLLATE "C" REFERENCES members (id),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE INDEX vendors_list ON vendors (org_id, id);
CREATE INDEX vendors_updated ON vendors (org_id, updated_at, id);
CREATE INDEX vendors_inherent ON vendors (org_id, inherent_score, id);
CREATE INDEX vendors_residual ON vendors (org_id, residual_score, id);
CREATE INDEX vendors_assignee ON vendors (assignee_id);
