-- A row refuses a text of a visit that is longer than it may be. Of failures, of looks of the owner and of edits the log keeps the
-- first 500 each; later ones are only counted, with the time and address of the latest.

-- The pushes with more than one chain of entries, whose entries become one chain.
CREATE TABLE rechained AS SELECT id FROM pushes WHERE last_failure > 0 OR last_owner_view > 0;
CREATE UNIQUE INDEX rechained_id ON rechained (id);

CREATE TABLE new_audit_entries (
  id INTEGER PRIMARY KEY,
  push_id INTEGER NOT NULL,
  n INTEGER NOT NULL CHECK (n >= 0),
  previous INTEGER,
  kind TEXT NOT NULL CHECK (length(kind) <= 30),
  at INTEGER NOT NULL,
  ip TEXT NOT NULL CHECK (length(ip) <= 45),
  user_agent TEXT NOT NULL CHECK (length(user_agent) <= 255),
  referrer TEXT NOT NULL CHECK (length(referrer) <= 300),
  checksum INTEGER,
  CHECK ((n = 0) = (previous IS NULL))
) STRICT;

INSERT INTO new_audit_entries (id, push_id, n, previous, kind, at, ip, user_agent, referrer, checksum)
  SELECT id, push_id, n, previous, kind, at, substr(ip, 1, 45), substr(user_agent, 1, 255),
    iif(length(referrer) > 300, '', referrer),
    iif(length(ip) > 45 OR length(user_agent) > 255 OR length(referrer) > 300, NULL, checksum)
  FROM audit_entries WHERE push_id NOT IN (SELECT id FROM rechained)
  ORDER BY id;

INSERT INTO new_audit_entries (id, push_id, n, previous, kind, at, ip, user_agent, referrer, checksum)
  WITH placed AS (
    SELECT *, row_number() OVER (PARTITION BY push_id, kind = 'owner_view', kind LIKE 'failed%' ORDER BY id) AS place
    FROM audit_entries WHERE push_id IN (SELECT id FROM rechained)
  )
  SELECT id, push_id, row_number() OVER log - 1, lag(id) OVER log, kind, at, substr(ip, 1, 45),
    substr(user_agent, 1, 255), iif(length(referrer) > 300, '', referrer), NULL
  FROM placed WHERE place <= 500 OR NOT (kind = 'owner_view' OR kind LIKE 'failed%')
  WINDOW log AS (PARTITION BY push_id ORDER BY id)
  ORDER BY id;

ALTER TABLE pushes ADD COLUMN edits INTEGER NOT NULL DEFAULT 0 CHECK (edits >= 0);
ALTER TABLE pushes ADD COLUMN counted_failures INTEGER NOT NULL DEFAULT 0 CHECK (counted_failures >= 0);
ALTER TABLE pushes ADD COLUMN counted_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pushes ADD COLUMN counted_from TEXT NOT NULL DEFAULT '' CHECK (length(counted_from) <= 45);

UPDATE pushes SET
    counted_failures = max(0, failures - 500),
    counted_at = coalesce((SELECT at FROM audit_entries WHERE id = max(last_failure, last_owner_view)), 0),
    counted_from = coalesce((SELECT substr(ip, 1, 45) FROM audit_entries WHERE id = max(last_failure, last_owner_view)), ''),
    audit_entries = log.entries, last_entry = log.last, checksum = NULL
  FROM (
    SELECT push_id, count(*) AS entries, max(id) AS last FROM new_audit_entries
    WHERE push_id IN (SELECT id FROM rechained) GROUP BY push_id
  ) AS log WHERE log.push_id = pushes.id;
UPDATE pushes SET counted_at = 0, counted_from = '' WHERE counted_failures = 0 AND owner_views <= 500;
UPDATE pushes SET edits = log.edits, checksum = NULL
  FROM (SELECT push_id, count(*) AS edits FROM new_audit_entries WHERE kind = 'edit' GROUP BY push_id) AS log
  WHERE log.push_id = pushes.id;

ALTER TABLE pushes DROP COLUMN last_failure;
ALTER TABLE pushes DROP COLUMN last_owner_view;
DROP TABLE rechained;
DROP TABLE audit_entries;
ALTER TABLE new_audit_entries RENAME TO audit_entries;
-- Ways into long logs. Most entries are in no index, so that a visit writes no page but the last of its table.
CREATE INDEX audit_entries_marks ON audit_entries (push_id, n) WHERE n > 0 AND n % 100 = 0;

CREATE TABLE new_sessions (
  id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  ip TEXT NOT NULL CHECK (length(ip) <= 45),
  user_agent TEXT NOT NULL CHECK (length(user_agent) <= 255),
  checksum INTEGER,
  confirmed_at INTEGER NOT NULL DEFAULT 0
) STRICT;

INSERT INTO new_sessions (id, account_id, hash, created_at, last_seen_at, ip, user_agent, checksum, confirmed_at)
  SELECT id, account_id, hash, created_at, last_seen_at, substr(ip, 1, 45), substr(user_agent, 1, 255),
    iif(length(ip) > 45 OR length(user_agent) > 255, NULL, checksum), confirmed_at
  FROM sessions ORDER BY id;

DROP TABLE sessions;
ALTER TABLE new_sessions RENAME TO sessions;
CREATE INDEX sessions_of_account ON sessions (account_id);
CREATE INDEX sessions_last_seen ON sessions (last_seen_at);
