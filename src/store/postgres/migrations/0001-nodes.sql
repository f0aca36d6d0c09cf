-- What only PostgreSQL has, after the tables of every engine: what nodes know of each other, and how rows lie on their pages.

-- Each step that was taken, and the version of the program's schema from which on it may serve the tables after it.
CREATE TABLE schema_versions (
  version int PRIMARY KEY,
  compatible_from int NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- `place` is where the database was served last: the server's system identifier and the database's oid. `expired_all_at` is the
-- time of the last `expire-all`.
ALTER TABLE instance
  ADD tag uuid NOT NULL DEFAULT gen_random_uuid(), ADD place text, ADD expired_all_at bigint NOT NULL DEFAULT 0;

-- A row for each data folder of a node. A node that has not been seen for a while is taken for dead. Each heartbeat changes the
-- `mark`, which the folder knows too.
CREATE TABLE nodes (
  id bytea PRIMARY KEY,
  name text NOT NULL,
  version text NOT NULL,
  started_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  mark text NOT NULL
);

-- A push is found by its link.
ALTER TABLE pushes ADD UNIQUE (lookup);
CREATE VIEW links AS SELECT lookup, id AS push_id FROM pushes;

-- Rows that change with each view have room on their page.
ALTER TABLE instance SET (fillfactor = 50);
ALTER TABLE push_state SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE push_keys SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE address_shares SET (fillfactor = 50);
ALTER TABLE idempotency_answers SET (fillfactor = 50);
ALTER TABLE spent_points SET (fillfactor = 50);

-- Lists and counts read an index alone where a vacuum has been. Among a million pushes the two hundredth page of a list took
-- 430 ms before one and 2 ms after it, so one runs after 2 % of changes, not after 20 %.
ALTER TABLE pushes SET (
  fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02
);

-- What has been destroyed makes room for new payloads once a vacuum has been there, in the table of large values too. Ciphertexts
-- do not compress.
ALTER TABLE push_secrets SET (autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE push_secrets ALTER payload SET STORAGE EXTERNAL;
