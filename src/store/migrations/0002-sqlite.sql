-- The second schema, for SQLite: what a folder of 3.0.0 lacks. Write it for PostgreSQL too, and declare it in tables.ts. Columns
-- come last in their table; each has a default or may be null.

SELECT 1;

ALTER TABLE pushes ADD COLUMN encrypted_by TEXT CHECK (encrypted_by = 'sender' OR encrypted_by = 'server');
ALTER TABLE pushes ADD COLUMN key_check TEXT CHECK (length(key_check) = 8);
