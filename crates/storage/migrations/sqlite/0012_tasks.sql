-- What has to be done, and proven.
CREATE TABLE tasks (
    id TEXT NOT NULL PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    number BIGINT NOT NULL,
    title TEXT NOT NULL,
    title_key TEXT NOT NULL,
    description TEXT NOT NULL,
    search_text TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('todo', 'in_progress', 'done', 'blocked')),
    assignee_id TEXT REFERENCES members (id),
    department TEXT CHECK (department IN ('none', 'admin', 'gov', 'hr', 'it', 'itsm', 'qms')),
    frequency TEXT CHECK (frequency IN ('daily', 'weekly', 'monthly', 'quarterly', 'yearly')),
    position BIGINT NOT NULL,
    board_rank BIGINT NOT NULL,
    due_date TEXT,
    open_due TEXT,
    due_key TEXT NOT NULL,
    last_completed_at BIGINT,
    reopens_from BIGINT,
    last_evidence_date TEXT,
    task_template_id TEXT,
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

ALTER TABLE organizations ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC';

ALTER TABLE attachments ADD COLUMN effective_date TEXT;
ALTER TABLE attachments ADD COLUMN run_id TEXT;
ALTER TABLE attachments ADD COLUMN automation_version BIGINT;
