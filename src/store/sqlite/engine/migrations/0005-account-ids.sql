-- Ids of accounts are never used again: what still names a removed account must not come to mean the next one.

CREATE TABLE new_accounts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  email TEXT NOT NULL UNIQUE,
  password_hash TEXT NOT NULL,
  is_admin INTEGER NOT NULL CHECK (is_admin IN (0, 1)),
  disabled_at INTEGER,
  created_at INTEGER NOT NULL,
  totp_secret BLOB,
  totp_step INTEGER,
  checksum INTEGER
) STRICT;

INSERT INTO new_accounts
  (id, email, password_hash, is_admin, disabled_at, created_at, totp_secret, totp_step, checksum)
  SELECT id, email, password_hash, is_admin, disabled_at, created_at, totp_secret, totp_step, checksum
  FROM accounts ORDER BY id;

DROP TABLE accounts;
ALTER TABLE new_accounts RENAME TO accounts;
