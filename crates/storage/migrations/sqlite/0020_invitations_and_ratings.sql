-- A link that went by mail shows that whoever uses it reads the address.
ALTER TABLE invitations ADD COLUMN by_mail BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE password_resets ADD COLUMN by_mail BOOLEAN NOT NULL DEFAULT FALSE;
-- The account that an invited user stands for, where it was invited by its id.
ALTER TABLE users ADD COLUMN account_id TEXT;
CREATE UNIQUE INDEX users_account ON users (invited_to, account_id);
-- A rating after treatment, and a decision about the treatment, are told from their defaults.
ALTER TABLE risks ADD COLUMN is_residual_assessed BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE risks ADD COLUMN treatment_decided_at BIGINT;
UPDATE risks SET is_residual_assessed = TRUE WHERE residual_score > 1;
UPDATE risks SET treatment_decided_at = updated_at WHERE treatment_strategy <> 'accept' OR treatment_strategy_description IS NOT NULL;
ALTER TABLE vendors ADD COLUMN is_residual_assessed BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE vendors ADD COLUMN treatment_strategy TEXT NOT NULL DEFAULT 'accept' CHECK (treatment_strategy IN ('accept', 'avoid', 'mitigate', 'transfer'));
ALTER TABLE vendors ADD COLUMN treatment_strategy_description TEXT;
ALTER TABLE vendors ADD COLUMN treatment_decided_at BIGINT;
UPDATE vendors SET is_residual_assessed = TRUE WHERE residual_score > 1;
-- Who was reminded to sign a version of a policy, and when last.
CREATE TABLE policy_reminders (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    policy_id TEXT NOT NULL REFERENCES policies (id),
    version_id TEXT NOT NULL REFERENCES policy_versions (id),
    member_id TEXT NOT NULL REFERENCES members (id),
    reminded_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, version_id, member_id)
);
CREATE INDEX policy_reminders_policy ON policy_reminders (policy_id);
