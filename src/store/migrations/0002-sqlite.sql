-- The second schema, for SQLite: what a folder of 3.0.0 lacks. Write it for PostgreSQL too, and declare it in tables.ts. Columns
-- come last in their table; each has a default or may be null.

ALTER TABLE pushes ADD COLUMN encrypted_by TEXT CHECK (encrypted_by = 'sender' OR encrypted_by = 'server');
ALTER TABLE pushes ADD COLUMN key_check TEXT CHECK (length(key_check) = 8);
ALTER TABLE pushes ADD COLUMN is_new INTEGER NOT NULL DEFAULT false CHECK (is_new IN (0, 1));
ALTER TABLE pushes ADD COLUMN code_required INTEGER NOT NULL DEFAULT false CHECK (code_required IN (0, 1));
ALTER TABLE push_labels ADD COLUMN read_at INTEGER;
ALTER TABLE push_labels ADD COLUMN request_id INTEGER;
ALTER TABLE push_labels ADD COLUMN names_recipient INTEGER NOT NULL DEFAULT false CHECK (names_recipient IN (0, 1));
ALTER TABLE webhooks ADD COLUMN last_failure INTEGER;
ALTER TABLE requests ADD COLUMN shows_sender INTEGER NOT NULL DEFAULT false CHECK (shows_sender IN (0, 1));

-- What arrived before counts as read.
UPDATE push_labels SET read_at = 0 WHERE request IS NOT NULL;

ALTER TABLE preferences ADD COLUMN end_to_end INTEGER CHECK (end_to_end IN (0, 1));
ALTER TABLE preferences ADD COLUMN ask_template TEXT CHECK (ask_template <> '');
-- Languages such as pt-BR.
ALTER TABLE preferences RENAME COLUMN mail_language TO short_mail_language;
ALTER TABLE preferences ADD COLUMN mail_language TEXT CHECK (length(mail_language) BETWEEN 2 AND 7);
UPDATE preferences SET mail_language = short_mail_language;
ALTER TABLE preferences DROP COLUMN short_mail_language;

-- Signing in by others.
ALTER TABLE accounts ADD COLUMN is_service INTEGER NOT NULL DEFAULT false CHECK (is_service IN (0, 1));
ALTER TABLE accounts ADD COLUMN pause_told_at INTEGER;
ALTER TABLE sessions ADD COLUMN via TEXT CHECK (via IN ('oidc', 'header'));
ALTER TABLE sessions ADD COLUMN issuer TEXT CHECK (length(issuer) <= 500);
ALTER TABLE sessions ADD COLUMN subject TEXT CHECK (length(subject) <= 255);
ALTER TABLE sessions ADD COLUMN sid TEXT CHECK (length(sid) <= 255);
ALTER TABLE sessions ADD COLUMN is_multi_factor INTEGER NOT NULL DEFAULT false CHECK (is_multi_factor IN (0, 1));
ALTER TABLE sessions ADD COLUMN ends_at INTEGER;
CREATE TABLE identities (issuer TEXT NOT NULL CHECK (length(issuer) <= 500), subject TEXT NOT NULL CHECK (length(subject) <= 255), account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, created_at INTEGER NOT NULL, PRIMARY KEY (issuer, subject)) STRICT, WITHOUT ROWID;

-- Passkeys.
ALTER TABLE accounts ADD COLUMN passkeys INT NOT NULL DEFAULT 0 CHECK (passkeys >= 0);
CREATE TABLE passkeys (id INTEGER PRIMARY KEY, account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, credential_id BLOB NOT NULL UNIQUE CHECK (length(credential_id) BETWEEN 1 AND 1023), public_key BLOB NOT NULL CHECK (length(public_key) <= 2048), counter INTEGER NOT NULL CHECK (counter >= 0), rp_id TEXT NOT NULL CHECK (length(rp_id) <= 253), name TEXT NOT NULL CHECK (length(name) <= 100), signs_in INTEGER NOT NULL CHECK (signs_in IN (0, 1)), created_at INTEGER NOT NULL, last_used_at INTEGER, copied_at INTEGER) STRICT;
