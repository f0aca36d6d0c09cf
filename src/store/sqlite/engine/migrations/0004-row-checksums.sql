-- A checksum for each row whose content nothing else vouches for; null in rows from before, until they are written again.

ALTER TABLE instance ADD COLUMN checksum INTEGER;
ALTER TABLE accounts ADD COLUMN checksum INTEGER;
ALTER TABLE pushes ADD COLUMN checksum INTEGER;
ALTER TABLE push_secrets ADD COLUMN checksum INTEGER;
ALTER TABLE audit_entries ADD COLUMN checksum INTEGER;
ALTER TABLE api_tokens ADD COLUMN checksum INTEGER;
ALTER TABLE sessions ADD COLUMN checksum INTEGER;
ALTER TABLE account_links ADD COLUMN checksum INTEGER;
