-- Idempotency keys: which were used for a create, until when, and the sealed answers that they stand for.

-- The answers lie in slots of a fixed size, which are overwritten in place: rows that SQLite moves leave copies.
CREATE TABLE idempotency_answers (
  slot INTEGER PRIMARY KEY,
  answer BLOB NOT NULL CHECK (length(answer) = 88)
) STRICT;

-- Without a push once that has ended: then the row says only that the key was used.
CREATE TABLE idempotency_keys (
  lookup BLOB PRIMARY KEY NOT NULL CHECK (length(lookup) = 32),
  lapses_at INTEGER NOT NULL,
  push_id INTEGER,
  slot INTEGER,
  checksum INTEGER,
  CHECK ((push_id IS NULL) = (slot IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_keys_lapse ON idempotency_keys (lapses_at);
CREATE INDEX idempotency_keys_push ON idempotency_keys (push_id) WHERE push_id IS NOT NULL;
