-- Rows of accounts have no checksums any more.
ALTER TABLE accounts DROP COLUMN checksum;
ALTER TABLE api_tokens DROP COLUMN checksum;
ALTER TABLE sessions DROP COLUMN checksum;
ALTER TABLE account_links DROP COLUMN checksum;
ALTER TABLE message_templates DROP COLUMN checksum;
ALTER TABLE push_choices DROP COLUMN checksum;
