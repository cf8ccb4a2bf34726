-- Which notices people get by mail, and the last day an organization's digests were sent.
ALTER TABLE users ADD COLUMN notify_assigned BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE users ADD COLUMN notify_due_soon BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE users ADD COLUMN notify_overdue BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE users ADD COLUMN notify_automations BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE organizations ADD COLUMN digest_on TEXT;
