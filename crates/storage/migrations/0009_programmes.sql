-- Programmes: the settings of the plan, and what each start of it created.
CREATE TABLE programmes (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    content TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE UNIQUE INDEX programmes_organization ON programmes (org_id);

CREATE TABLE programme_runs (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    started_at BIGINT NOT NULL,
    -- Null while its parts are being created.
    finished_at BIGINT,
    content TEXT NOT NULL
);
CREATE INDEX programme_runs_list ON programme_runs (org_id, id);

-- The control of the catalogue from which a control was created.
ALTER TABLE controls ADD COLUMN catalogue_key {key};
CREATE UNIQUE INDEX controls_catalogue_key ON controls (org_id, catalogue_key);

-- The day by which a policy is to be published.
ALTER TABLE policies ADD COLUMN due_date {key};
