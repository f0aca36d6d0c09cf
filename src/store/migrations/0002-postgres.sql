-- The second schema, for PostgreSQL: what a database of 3.0.0 lacks. Nodes of 3.0.0 go on serving the tables meanwhile, so each
-- column has a default or may be null.

SELECT 1;

ALTER TABLE pushes ADD COLUMN encrypted_by text COLLATE "C" CHECK (encrypted_by = 'sender' OR encrypted_by = 'server');
ALTER TABLE pushes ADD COLUMN key_check text COLLATE "C" CHECK (length(key_check) = 8);
