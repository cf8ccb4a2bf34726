-- Somebody who was invited and has not accepted is nobody's account yet.
ALTER TABLE users ADD COLUMN invited_to TEXT REFERENCES organizations (id);
CREATE INDEX users_invited ON users (invited_to);
