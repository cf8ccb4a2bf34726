-- Scripts that gather evidence for a task, and what they may reach.
CREATE TABLE automations (
    id TEXT NOT NULL PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    task_id TEXT NOT NULL REFERENCES tasks (id),
    name TEXT NOT NULL,
    description TEXT,
    is_enabled BOOLEAN NOT NULL,
    schedule TEXT,
    time_zone TEXT,
    events TEXT NOT NULL,
    evaluation_criteria TEXT,
    check_name TEXT,
    parameters TEXT,
    status_on_pass TEXT CHECK (status_on_pass IN ('todo', 'in_progress', 'done', 'blocked')),
    status_on_fail TEXT CHECK (status_on_fail IN ('todo', 'in_progress', 'done', 'blocked')),
    keep_evidence BOOLEAN NOT NULL,
    latest_version BIGINT,
    created_by TEXT REFERENCES members (id),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    next_run_at BIGINT,
    is_failing BOOLEAN NOT NULL,
    version BIGINT NOT NULL
);
CREATE INDEX automations_task ON automations (org_id, task_id, id);
CREATE INDEX automations_created_by ON automations (created_by);
CREATE INDEX automations_due ON automations (next_run_at) WHERE next_run_at IS NOT NULL;

CREATE TABLE automation_versions (
    id TEXT NOT NULL PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    automation_id TEXT NOT NULL REFERENCES automations (id),
    number BIGINT NOT NULL,
    script TEXT NOT NULL,
    changelog TEXT,
    created_by TEXT REFERENCES members (id),
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX automation_versions_number ON automation_versions (automation_id, number);
CREATE INDEX automation_versions_created_by ON automation_versions (created_by);

-- Which actions of the journal start which automation.
CREATE TABLE automation_events (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    automation_id TEXT NOT NULL REFERENCES automations (id),
    action TEXT NOT NULL,
    PRIMARY KEY (org_id, action, automation_id)
);
CREATE INDEX automation_events_automation ON automation_events (automation_id);
-- Whether any automation of the organization waits for an action: the end of the chain is read with each commit.
ALTER TABLE journal_heads ADD COLUMN listens BOOLEAN NOT NULL DEFAULT FALSE;

CREATE TABLE automation_runs (
    id TEXT NOT NULL PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    task_id TEXT NOT NULL REFERENCES tasks (id),
    automation_id TEXT NOT NULL REFERENCES automations (id),
    script BIGINT NOT NULL,
    trigger TEXT NOT NULL CHECK (trigger IN ('MANUAL', 'SCHEDULED', 'EVENT')),
    status TEXT NOT NULL CHECK (status IN ('PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED')),
    event TEXT,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    completed_at BIGINT,
    evaluation TEXT CHECK (evaluation IN ('pass', 'fail')),
    reason TEXT,
    output TEXT,
    error_code TEXT,
    error_message TEXT,
    attachment_id TEXT,
    logs TEXT NOT NULL
);
CREATE INDEX automation_runs_task ON automation_runs (org_id, task_id, id);
CREATE INDEX automation_runs_automation ON automation_runs (org_id, automation_id, id);

CREATE TABLE secrets (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    sealed BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, name)
);

CREATE TABLE automation_hosts (
    org_id TEXT NOT NULL PRIMARY KEY REFERENCES organizations (id),
    hosts TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);

-- Whose turn it is is asked with every claim.
CREATE INDEX jobs_turns ON jobs (kind, org_id, run_at, lease_until, id) WHERE state = 'waiting';
