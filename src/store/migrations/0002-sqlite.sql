-- The second schema, for SQLite: what a folder of 3.0.0 lacks. Write it for PostgreSQL too, and declare it in tables.ts. Columns
-- come last in their table; each has a default or may be null.

SELECT 1;
