-- A deleted organization can be brought back until it is removed.
ALTER TABLE organizations ADD COLUMN removed_at BIGINT;
UPDATE organizations SET removed_at = deleted_at;
