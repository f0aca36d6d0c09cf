-- The wrapped keys move to slots of a fixed size, which are overwritten in place: rows that SQLite moves leave copies.

CREATE TABLE push_keys (
  slot INTEGER PRIMARY KEY,
  wrapped_key BLOB NOT NULL CHECK (length(wrapped_key) = 62)
) STRICT;

INSERT INTO push_keys (wrapped_key) SELECT wrapped_key FROM push_secrets ORDER BY push_id;

-- What must vanish: the row is deleted, and its key overwritten, by the commit that expires the push.
CREATE TABLE new_push_secrets (
  push_id INTEGER PRIMARY KEY REFERENCES pushes (id) ON DELETE CASCADE,
  key_slot INTEGER NOT NULL,
  salt BLOB NOT NULL,
  passphrase_salt BLOB,
  payload BLOB NOT NULL
) STRICT;

INSERT INTO new_push_secrets (push_id, key_slot, salt, passphrase_salt, payload)
  SELECT push_id, row_number() OVER (ORDER BY push_id), salt, passphrase_salt, payload
  FROM push_secrets ORDER BY push_id;

DROP TABLE push_secrets;
ALTER TABLE new_push_secrets RENAME TO push_secrets;
