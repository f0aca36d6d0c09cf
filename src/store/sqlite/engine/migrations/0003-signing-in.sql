-- Signing in on the pages: sessions, one-time links, and a second factor.

-- The secret of the codes, sealed under the owner subkey, and the last step of time whose code was used.
ALTER TABLE accounts ADD COLUMN totp_secret BLOB;
ALTER TABLE accounts ADD COLUMN totp_step INTEGER;

CREATE TABLE recovery_codes (
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (account_id, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  ip TEXT NOT NULL,
  user_agent TEXT NOT NULL
) STRICT;

CREATE INDEX sessions_of_account ON sessions (account_id);
CREATE INDEX sessions_last_seen ON sessions (last_seen_at);

CREATE TABLE account_links (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  purpose TEXT NOT NULL CHECK (purpose IN ('setup', 'invite', 'reset')),
  account_id INTEGER REFERENCES accounts (id) ON DELETE CASCADE,
  email TEXT,
  is_admin INTEGER NOT NULL CHECK (is_admin IN (0, 1)),
  -- A reset that turns the second factor off, too.
  ends_two_factor INTEGER NOT NULL CHECK (ends_two_factor IN (0, 1)),
  -- The administrator who made it: it goes with that account. A setup link is made by the server.
  created_by INTEGER REFERENCES accounts (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  CHECK ((purpose = 'reset') = (account_id IS NOT NULL))
) STRICT;

CREATE INDEX account_links_of_account ON account_links (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX account_links_by_account ON account_links (created_by) WHERE created_by IS NOT NULL;
