-- The second schema, for PostgreSQL: what a database of 3.0.0 lacks. Nodes of 3.0.0 go on serving the tables meanwhile, so each
-- column has a default or may be null.

ALTER TABLE pushes ADD COLUMN encrypted_by text COLLATE "C" CHECK (encrypted_by = 'sender' OR encrypted_by = 'server');
ALTER TABLE pushes ADD COLUMN key_check text COLLATE "C" CHECK (length(key_check) = 8);
ALTER TABLE pushes ADD COLUMN is_new boolean NOT NULL DEFAULT false;
ALTER TABLE pushes ADD COLUMN code_required boolean NOT NULL DEFAULT false;
ALTER TABLE push_labels ADD COLUMN read_at bigint;
ALTER TABLE push_labels ADD COLUMN request_id bigint;
ALTER TABLE push_labels ADD COLUMN names_recipient boolean NOT NULL DEFAULT false;
ALTER TABLE webhooks ADD COLUMN last_failure bigint;
ALTER TABLE requests ADD COLUMN shows_sender boolean NOT NULL DEFAULT false;

-- What arrived before counts as read.
UPDATE push_labels SET read_at = 0 WHERE request IS NOT NULL;

ALTER TABLE preferences ADD COLUMN end_to_end boolean;
ALTER TABLE preferences ADD COLUMN ask_template text COLLATE "C" CHECK (ask_template <> '');

-- Signing in by others.
ALTER TABLE accounts ADD COLUMN is_service boolean NOT NULL DEFAULT false;
ALTER TABLE accounts ADD COLUMN pause_told_at bigint;
ALTER TABLE sessions ADD COLUMN via text COLLATE "C" CHECK (via IN ('oidc', 'header'));
ALTER TABLE sessions ADD COLUMN issuer text COLLATE "C" CHECK (length(issuer) <= 500);
ALTER TABLE sessions ADD COLUMN subject text COLLATE "C" CHECK (length(subject) <= 255);
ALTER TABLE sessions ADD COLUMN sid text COLLATE "C" CHECK (length(sid) <= 255);
ALTER TABLE sessions ADD COLUMN is_multi_factor boolean NOT NULL DEFAULT false;
ALTER TABLE sessions ADD COLUMN ends_at bigint;
CREATE TABLE identities (issuer text COLLATE "C" NOT NULL CHECK (length(issuer) <= 500), subject text COLLATE "C" NOT NULL CHECK (length(subject) <= 255), account_id bigint NOT NULL, created_at bigint NOT NULL, PRIMARY KEY (issuer, subject));
