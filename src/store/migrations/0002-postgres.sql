-- The second schema, for PostgreSQL: what a database of 3.0.0 lacks. Nodes of 3.0.0 go on serving the tables meanwhile, so each
-- column has a default or may be null.

SELECT 1;
