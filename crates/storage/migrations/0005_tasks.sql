-- Tasks and their evidence.
CREATE TABLE tasks (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    number BIGINT NOT NULL,
    title TEXT NOT NULL,
    title_key {key} NOT NULL,
    description TEXT NOT NULL,
    search_text TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('todo', 'in_progress', 'done', 'blocked')),
    assignee_id {key} REFERENCES members (id),
    department TEXT CHECK (department IN ('none', 'admin', 'gov', 'hr', 'it', 'itsm', 'qms')),
    frequency TEXT CHECK (frequency IN ('daily', 'weekly', 'monthly', 'quarterly', 'yearly')),
    position BIGINT NOT NULL,
    board_rank BIGINT NOT NULL,
    due_date {key},
    open_due {key},
    due_key {key} NOT NULL,
    last_completed_at BIGINT,
    reopens_from BIGINT,
    last_evidence_date {key},
    task_template_id {key},
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
CREATE UNIQUE INDEX tasks_number ON tasks (org_id, number);
CREATE INDEX tasks_board ON tasks (org_id, board_rank, id);
CREATE INDEX tasks_list ON tasks (org_id, id);
CREATE INDEX tasks_updated ON tasks (org_id, updated_at, id);
CREATE INDEX tasks_due ON tasks (org_id, open_due);
CREATE INDEX tasks_assignee ON tasks (assignee_id);
CREATE INDEX tasks_reopening ON tasks (reopens_from) WHERE reopens_from IS NOT NULL;

-- Scripts that gather evidence for a task, and what they may reach.
CREATE TABLE automations (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    task_id {key} NOT NULL REFERENCES tasks (id),
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
    created_by {key} REFERENCES members (id),
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
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    automation_id {key} NOT NULL REFERENCES automations (id),
    number BIGINT NOT NULL,
    script TEXT NOT NULL,
    changelog TEXT,
    created_by {key} REFERENCES members (id),
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX automation_versions_number ON automation_versions (automation_id, number);
CREATE INDEX automation_versions_created_by ON automation_versions (created_by);

-- The actions in the journal that start an automation.
CREATE TABLE automation_events (
    org_id {key} NOT NULL REFERENCES organizations (id),
    automation_id {key} NOT NULL REFERENCES automations (id),
    action TEXT NOT NULL,
    PRIMARY KEY (org_id, action, automation_id)
);
CREATE INDEX automation_events_automation ON automation_events (automation_id);

CREATE TABLE automation_runs (
    id {key} NOT NULL PRIMARY KEY,
    org_id {key} NOT NULL REFERENCES organizations (id),
    task_id {key} NOT NULL REFERENCES tasks (id),
    automation_id {key} NOT NULL REFERENCES automations (id),
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
    attachment_id {key},
    logs TEXT NOT NULL
);
CREATE INDEX automation_runs_task ON automation_runs (org_id, task_id, id);
CREATE INDEX automation_runs_automation ON automation_runs (org_id, automation_id, id);

CREATE TABLE secrets (
    org_id {key} NOT NULL REFERENCES organizations (id),
    name {key} NOT NULL,
    sealed {bytes} NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, name)
);

CREATE TABLE automation_hosts (
    org_id {key} NOT NULL PRIMARY KEY REFERENCES organizations (id),
    hosts TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL
);
