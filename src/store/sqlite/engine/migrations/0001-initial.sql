-- Accounts, API tokens, pushes, their secrets and their audit log. Times are milliseconds since 1970.

CREATE TABLE instance (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  clock_mark INTEGER NOT NULL
) STRICT;

INSERT INTO instance (id, clock_mark) VALUES (1, 0);

CREATE TABLE instance_keys (
  number INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND 255),
  verifier BLOB NOT NULL CHECK (length(verifier) = 16)
) STRICT;

CREATE TABLE accounts (
  id INTEGER PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  password_hash TEXT NOT NULL,
  is_admin INTEGER NOT NULL CHECK (is_admin IN (0, 1)),
  disabled_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE api_tokens (
  id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  prefix TEXT NOT NULL,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  UNIQUE (account_id, name)
) STRICT;

CREATE TABLE pushes (
  id INTEGER PRIMARY KEY,
  lookup BLOB NOT NULL UNIQUE CHECK (length(lookup) = 16),
  key_number INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('text', 'file', 'url', 'qr')),
  owner_id INTEGER REFERENCES accounts (id),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  expire_after_days INTEGER NOT NULL CHECK (expire_after_days > 0),
  expire_after_views INTEGER NOT NULL CHECK (expire_after_views > 0),
  views INTEGER NOT NULL CHECK (views BETWEEN 0 AND expire_after_views),
  deletable_by_viewer INTEGER CHECK (deletable_by_viewer IN (0, 1)),
  retrieval_step INTEGER NOT NULL CHECK (retrieval_step IN (0, 1)),
  passphrase_required INTEGER NOT NULL CHECK (passphrase_required IN (0, 1)),
  wrong_tries INTEGER NOT NULL CHECK (wrong_tries >= 0),
  wrong_tries_since INTEGER NOT NULL,
  expired_on INTEGER,
  deleted INTEGER NOT NULL CHECK (deleted IN (0, 1)),
  files INTEGER NOT NULL CHECK (files >= 0),
  last_entry INTEGER,
  audit_entries INTEGER NOT NULL CHECK (audit_entries BETWEEN 0 AND 10000),
  audit_dropped INTEGER NOT NULL CHECK (audit_dropped >= 0),
  CHECK (deleted = 0 OR expired_on IS NOT NULL),
  CHECK (views < expire_after_views OR expired_on IS NOT NULL)
) STRICT;

-- What the sweeper looks for, and nothing that lives on.
CREATE INDEX pushes_live ON pushes (expires_at) WHERE expired_on IS NULL;
CREATE INDEX pushes_anonymous_expired ON pushes (expired_on) WHERE expired_on IS NOT NULL AND owner_id IS NULL;
CREATE INDEX pushes_owned_expired ON pushes (expired_on) WHERE expired_on IS NOT NULL AND owner_id IS NOT NULL;
-- The two lists of an owner, newest first.
CREATE INDEX pushes_owned ON pushes (owner_id, expired_on IS NOT NULL, id) WHERE owner_id IS NOT NULL;

-- What must vanish: the row is deleted by the commit that expires the push.
CREATE TABLE push_secrets (
  push_id INTEGER PRIMARY KEY REFERENCES pushes (id) ON DELETE CASCADE,
  salt BLOB NOT NULL,
  wrapped_key BLOB NOT NULL,
  passphrase_salt BLOB,
  payload BLOB NOT NULL
) STRICT;

-- The files of a live push; names and types are sealed, and vanish with the secrets.
CREATE TABLE push_files (
  push_id INTEGER NOT NULL REFERENCES pushes (id) ON DELETE CASCADE,
  n INTEGER NOT NULL CHECK (n >= 0),
  file_id TEXT NOT NULL,
  size INTEGER NOT NULL CHECK (size >= 0),
  filename BLOB NOT NULL,
  content_type BLOB NOT NULL,
  PRIMARY KEY (push_id, n)
) STRICT, WITHOUT ROWID;

-- Files to be removed at a time; without a time, uploads that are under way.
CREATE TABLE files_due (
  id TEXT PRIMARY KEY,
  at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX files_due_at ON files_due (at) WHERE at IS NOT NULL;

-- What an account sees of its own pushes, sealed.
CREATE TABLE push_labels (
  push_id INTEGER PRIMARY KEY REFERENCES pushes (id) ON DELETE CASCADE,
  url_token BLOB NOT NULL,
  name BLOB,
  note BLOB
) STRICT;

-- Appended in the order of time; the log of one push is the chain from pushes.last_entry through previous.
CREATE TABLE audit_entries (
  id INTEGER PRIMARY KEY,
  push_id INTEGER NOT NULL,
  n INTEGER NOT NULL CHECK (n >= 0),
  previous INTEGER,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL,
  ip TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  referrer TEXT NOT NULL,
  CHECK ((n = 0) = (previous IS NULL))
) STRICT;
