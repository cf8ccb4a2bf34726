-- Who holds a claim: one who has lost it must not settle it.
ALTER TABLE idempotency_keys ADD COLUMN holder TEXT;
