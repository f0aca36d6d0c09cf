-- The tables of every engine, in the dialect of SQLite; store/postgres/schema/migrate.ts says how PostgreSQL reads it. INT is a number of
-- 32 bits there, INTEGER one of 64. Times are milliseconds since 1970; the last one is that of the year 9999.

-- What the server knows of its clock: the last time of use, and the reading of a clock in doubt, while nobody has confirmed it.
-- And what `oncebox copy` did here last: how far it is, the mark that both of its ends have, and the name of the other end.
CREATE TABLE instance (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  clock_mark INTEGER NOT NULL,
  clock_doubted INTEGER,
  copy_state TEXT CHECK (copy_state IN ('arrived', 'ready', 'left')),
  copy_mark TEXT,
  copy_other TEXT
) STRICT;

INSERT INTO instance (id, clock_mark) VALUES (1, 0);

CREATE TABLE instance_keys (
  number INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND 255),
  verifier BLOB NOT NULL CHECK (length(verifier) = 16)
) STRICT;

-- What administrators have set of how the server introduces itself.
CREATE TABLE appearance (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  name TEXT CHECK (length(name) BETWEEN 1 AND 40),
  contact TEXT CHECK (length(contact) BETWEEN 1 AND 200),
  notice TEXT CHECK (length(notice) BETWEEN 1 AND 300)
) STRICT;

-- Ids of accounts and of pushes are never used again: what still names a removed one must not come to mean the next one.
CREATE TABLE accounts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  email TEXT NOT NULL UNIQUE,
  password_hash TEXT NOT NULL,
  is_admin INTEGER NOT NULL CHECK (is_admin IN (0, 1)),
  disabled_at INTEGER,
  created_at INTEGER NOT NULL,
  totp_secret BLOB,
  totp_step INTEGER,
  last_sign_in_at INTEGER NOT NULL,
  -- How often a reset link made it begin anew: what was begun before that is not the account's.
  resets INT NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX accounts_admins ON accounts (id) WHERE is_admin;

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
  ip TEXT NOT NULL CHECK (length(ip) <= 45),
  user_agent TEXT NOT NULL CHECK (length(user_agent) <= 255),
  -- When the password, and the code where there is a second factor, was last given in it.
  confirmed_at INTEGER NOT NULL
) STRICT;

CREATE INDEX sessions_of_account ON sessions (account_id);
CREATE INDEX sessions_last_seen ON sessions (last_seen_at);
CREATE INDEX sessions_created ON sessions (created_at);

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
CREATE INDEX account_links_expiry ON account_links (expires_at);

-- What an account has chosen: the message with which it hands its secret links over, where it is not the standard one, and what it
-- filled into the create form the last time, where that differs from the defaults of the server.
CREATE TABLE preferences (
  account_id INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  template TEXT CHECK (template <> ''),
  lifetime INTEGER CHECK (lifetime > 0),
  views INT CHECK (views > 0),
  retrieval_step INTEGER CHECK (retrieval_step IN (0, 1)),
  deletable_by_viewer INTEGER CHECK (deletable_by_viewer IN (0, 1)),
  -- The public key of age for which the answers to its requests are encrypted.
  recipient TEXT CHECK (recipient <> ''),
  -- Of which events it is told by mail: types with a comma before and after each.
  mail_events TEXT CHECK (mail_events LIKE ',%,'),
  mail_language TEXT CHECK (length(mail_language) = 2)
) STRICT;

-- One row, or none: of all pushes that end until then, in the order of their ends, the owners were told that they expire soon.
CREATE TABLE soon_told (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  ends_at INTEGER NOT NULL,
  push_id INTEGER NOT NULL
) STRICT;

-- Requests for secrets. What its account wrote is sealed, as is what proves the passphrase.
CREATE TABLE requests (
  id INTEGER PRIMARY KEY,
  lookup BLOB NOT NULL UNIQUE CHECK (length(lookup) = 16),
  key_number INT NOT NULL,
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  url_token BLOB NOT NULL,
  name BLOB,
  message BLOB,
  accepts_text INTEGER NOT NULL CHECK (accepts_text IN (0, 1)),
  accepts_files INTEGER NOT NULL CHECK (accepts_files IN (0, 1)),
  max_answers INT NOT NULL CHECK (max_answers > 0),
  answers INT NOT NULL CHECK (answers BETWEEN 0 AND max_answers),
  created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 253402300799999),
  expires_at INTEGER NOT NULL CHECK (expires_at BETWEEN 0 AND 253402300799999),
  closed_at INTEGER CHECK (closed_at BETWEEN 0 AND 253402300799999),
  passphrase_salt BLOB,
  passphrase_verifier BLOB,
  wrong_tries INT NOT NULL CHECK (wrong_tries >= 0),
  wrong_tries_since INTEGER NOT NULL,
  wrong_tries_in_all INT NOT NULL CHECK (wrong_tries_in_all >= 0),
  recipient TEXT,
  CHECK ((passphrase_salt IS NULL) = (passphrase_verifier IS NULL))
) STRICT;

CREATE INDEX requests_of_account ON requests (account_id, id);
CREATE INDEX requests_end ON requests (expires_at);

-- Answers that are being uploaded: each is counted until it is stored, freed or lapses.
CREATE TABLE request_reservations (
  id INTEGER PRIMARY KEY,
  request_id INTEGER NOT NULL REFERENCES requests (id) ON DELETE CASCADE,
  until INTEGER NOT NULL
) STRICT;

CREATE INDEX request_reservations_of_request ON request_reservations (request_id, until);
CREATE INDEX request_reservations_until ON request_reservations (until);

-- Only read, until an edit or the end. `links` finds a push by its lookup: an index here, a view of push_links in SQLite.
CREATE TABLE pushes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  lookup BLOB NOT NULL CHECK (length(lookup) = 16),
  key_number INT NOT NULL,
  -- For more than two values IN makes a table, and takes a quarter of the time of the insert.
  kind TEXT NOT NULL CHECK (kind = 'text' OR kind = 'file' OR kind = 'url' OR kind = 'qr'),
  owner_id INTEGER,
  created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 253402300799999),
  expires_at INTEGER NOT NULL CHECK (expires_at BETWEEN 0 AND 253402300799999),
  expire_after_days INT NOT NULL CHECK (expire_after_days > 0),
  expire_after_views INT NOT NULL CHECK (expire_after_views > 0),
  deletable_by_viewer INTEGER CHECK (deletable_by_viewer IN (0, 1)),
  retrieval_step INTEGER NOT NULL CHECK (retrieval_step IN (0, 1)),
  shows_sender INTEGER NOT NULL CHECK (shows_sender IN (0, 1)),
  passphrase_required INTEGER NOT NULL CHECK (passphrase_required IN (0, 1)),
  expired_on INTEGER CHECK (expired_on BETWEEN 0 AND 253402300799999),
  deleted INTEGER NOT NULL CHECK (deleted IN (0, 1)),
  -- Whether a restore of the server expired the push, since what opens a push is in no backup.
  lost INTEGER NOT NULL CHECK (lost IN (0, 1)),
  files INT NOT NULL CHECK (files >= 0),
  CHECK (NOT (deleted OR lost) OR expired_on IS NOT NULL)
) STRICT;

-- What the sweeper looks for, and the two lists of an owner.
CREATE INDEX pushes_live ON pushes (expires_at) WHERE expired_on IS NULL;
CREATE INDEX pushes_anonymous_expired ON pushes (expired_on) WHERE expired_on IS NOT NULL AND owner_id IS NULL;
CREATE INDEX pushes_owned_expired ON pushes (expired_on) WHERE expired_on IS NOT NULL AND owner_id IS NOT NULL;
CREATE INDEX pushes_owned_live ON pushes (owner_id, id) WHERE expired_on IS NULL AND owner_id IS NOT NULL;
CREATE INDEX pushes_owned_ended ON pushes (owner_id, id) WHERE expired_on IS NOT NULL AND owner_id IS NOT NULL;

-- The only row that a view changes. Without a view the last one is in the year 9999: store/pushes/stored-push.ts says why.
CREATE TABLE push_state (
  push_id INTEGER PRIMARY KEY REFERENCES pushes (id),
  updated_at INTEGER NOT NULL CHECK (updated_at BETWEEN 0 AND 253402300799999),
  views INT NOT NULL CHECK (views >= 0),
  last_viewed_at INTEGER NOT NULL CHECK (last_viewed_at BETWEEN 0 AND 253402300799999),
  wrong_tries INT NOT NULL CHECK (wrong_tries >= 0),
  wrong_tries_since INTEGER NOT NULL,
  wrong_tries_in_all INT NOT NULL CHECK (wrong_tries_in_all >= 0),
  tries_spent INTEGER NOT NULL CHECK (tries_spent IN (0, 1)),
  -- The last entry of the log and how many there are, and all visits of the kinds of which only the first are entries.
  last_entry INTEGER,
  audit_entries INT NOT NULL CHECK (audit_entries >= 0),
  failures INT NOT NULL CHECK (failures >= 0),
  owner_views INT NOT NULL CHECK (owner_views >= 0),
  edits INT NOT NULL CHECK (edits >= 0),
  -- Failures that are no entries, and the latest visit of any kind that is none.
  counted_failures INT NOT NULL CHECK (counted_failures BETWEEN 0 AND failures),
  counted_at INTEGER NOT NULL,
  counted_from TEXT NOT NULL CHECK (length(counted_from) <= 45)
) STRICT;

-- What must vanish: the row is deleted, and its key overwritten, by the commit that ends the push.
CREATE TABLE push_secrets (
  push_id INTEGER PRIMARY KEY REFERENCES pushes (id),
  key_slot INTEGER NOT NULL,
  salt BLOB NOT NULL,
  passphrase_salt BLOB,
  payload BLOB NOT NULL
) STRICT;

-- Slots of a fixed size, which are overwritten in place and never deleted: rows that SQLite moves leave copies.
CREATE TABLE push_keys (
  slot INTEGER PRIMARY KEY,
  is_free INTEGER NOT NULL CHECK (is_free IN (0, 1)),
  wrapped_key BLOB NOT NULL CHECK (length(wrapped_key) = 62)
) STRICT;

CREATE INDEX push_keys_free ON push_keys (slot) WHERE is_free;

-- What an account sees of its own pushes, sealed, and how many views there were when it looked last. `request` is the token of the
-- request that the push answers.
CREATE TABLE push_labels (
  push_id INTEGER PRIMARY KEY REFERENCES pushes (id),
  url_token BLOB NOT NULL,
  name BLOB,
  note BLOB,
  request BLOB,
  seen_views INT NOT NULL,
  -- Random: by it the events of a push name the push, which says nothing of its link.
  event_id TEXT NOT NULL CHECK (length(event_id) = 20)
) STRICT;

-- Appended in the order of time, so that the visits of a batch share a page or two. An index of the entries of each push would
-- cost every visit a page of its own: instead each entry names the one before it.
CREATE TABLE audit_entries (
  id INTEGER PRIMARY KEY,
  push_id INTEGER NOT NULL,
  previous INTEGER CHECK (previous < id),
  kind TEXT NOT NULL CHECK (length(kind) <= 30),
  at INTEGER NOT NULL,
  ip TEXT NOT NULL CHECK (length(ip) <= 45),
  user_agent TEXT NOT NULL CHECK (length(user_agent) <= 255),
  referrer TEXT NOT NULL CHECK (length(referrer) <= 300)
) STRICT;

-- What each live push without an account takes of the share of its creator's address. `address` is a keyed hash: no
-- address is kept here.
CREATE TABLE live_shares (
  push_id INTEGER PRIMARY KEY REFERENCES pushes (id),
  address BLOB NOT NULL CHECK (length(address) = 16),
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX live_shares_of_address ON live_shares (address, expires_at, bytes);

-- The sums of live_shares.
CREATE TABLE address_shares (
  address BLOB PRIMARY KEY NOT NULL,
  pushes INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Keys that were used for a create, and until when; without a push once that has ended.
CREATE TABLE idempotency_keys (
  lookup BLOB PRIMARY KEY NOT NULL CHECK (length(lookup) = 32),
  -- Of the instance key that finds it.
  key_number INT NOT NULL,
  lapses_at INTEGER NOT NULL,
  push_id INTEGER,
  slot INTEGER,
  CHECK ((push_id IS NULL) = (slot IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_keys_lapse ON idempotency_keys (lapses_at);
CREATE INDEX idempotency_keys_push ON idempotency_keys (push_id) WHERE push_id IS NOT NULL;

-- The sealed answers, in slots as the keys of pushes.
CREATE TABLE idempotency_answers (
  slot INTEGER PRIMARY KEY,
  is_free INTEGER NOT NULL CHECK (is_free IN (0, 1)),
  answer BLOB NOT NULL CHECK (length(answer) = 88)
) STRICT;

CREATE INDEX idempotency_answers_free ON idempotency_answers (slot) WHERE is_free;

-- The files of a live push; names and types are sealed, and vanish with the secrets.
CREATE TABLE push_files (
  push_id INTEGER NOT NULL REFERENCES pushes (id),
  n INT NOT NULL CHECK (n >= 0),
  file_id TEXT NOT NULL,
  size INTEGER NOT NULL CHECK (size >= 0),
  filename BLOB NOT NULL,
  content_type BLOB NOT NULL,
  PRIMARY KEY (push_id, n)
) STRICT, WITHOUT ROWID;

-- Files to be removed at a time. Without one: uploads that are under way in the process `node`. After a last view `push_id`
-- names the push whose grants may read the file until then.
CREATE TABLE files_due (
  id TEXT PRIMARY KEY NOT NULL,
  at INTEGER,
  push_id INTEGER,
  node BLOB
) STRICT, WITHOUT ROWID;

CREATE INDEX files_due_at ON files_due (at) WHERE at IS NOT NULL;
CREATE INDEX files_due_granted ON files_due (push_id) WHERE push_id IS NOT NULL;
CREATE INDEX files_due_node ON files_due (node) WHERE node IS NOT NULL;

-- Downloads from a bucket, which keeps nothing for its readers: what the process `node` reads is removed later.
CREATE TABLE files_read (
  reader BLOB PRIMARY KEY NOT NULL,
  id TEXT NOT NULL,
  node BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX files_read_node ON files_read (node);

CREATE INDEX files_read_id ON files_read (id);

-- `tag` names the folder of this database in a bucket. While that is not used, the files are on the disk. `mark` tells the disk or
-- the bucket from others, and `address` names it to people.
CREATE TABLE bucket_folder (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  tag TEXT NOT NULL,
  is_used INTEGER NOT NULL CHECK (is_used IN (0, 1)),
  mark TEXT NOT NULL,
  address TEXT NOT NULL
) STRICT;

-- Everything that was ever imported, by a keyed hash: a repeated import adds nothing twice and brings nothing back that has
-- gone here. Rows are never deleted.
CREATE TABLE imported (mark BLOB PRIMARY KEY NOT NULL CHECK (length(mark) = 16)) STRICT, WITHOUT ROWID;

-- Limits on tries: points spent under a name, which is a keyed hash, until the window ends. A nonce of a page whose button was
-- pressed is spent under its own name.
CREATE TABLE spent_points (
  name TEXT PRIMARY KEY NOT NULL,
  points INT NOT NULL CHECK (points >= 0),
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX spent_points_until ON spent_points (until);

-- How many events an account was ever told. Its lock keeps the events of an account in the order of their commits.
CREATE TABLE event_counts (
  account_id INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  last INTEGER NOT NULL CHECK (last >= 0)
) STRICT;

-- What accounts were told lately, numbered for each account. `data` is JSON without secrets, names and links.
CREATE TABLE events (
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  n INTEGER NOT NULL,
  type TEXT NOT NULL CHECK (length(type) <= 30),
  at INTEGER NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (account_id, n)
) STRICT, WITHOUT ROWID;

CREATE INDEX events_at ON events (at);

-- Where an account wants to be told of its events; without an account those of everybody, for the administrators. `sealed` is the
-- URL and the secret, of which only the host is kept readable. `events` lists types, with a comma before and after each.
CREATE TABLE webhooks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER REFERENCES accounts (id) ON DELETE CASCADE,
  host TEXT NOT NULL CHECK (length(host) <= 300),
  sealed BLOB NOT NULL,
  format TEXT NOT NULL CHECK (length(format) <= 30),
  events TEXT NOT NULL CHECK (events LIKE ',%,'),
  with_name INTEGER NOT NULL CHECK (with_name IN (0, 1)),
  created_at INTEGER NOT NULL,
  last_delivery INTEGER,
  last_error TEXT CHECK (length(last_error) <= 30),
  -- The names of pushes are their owner's alone.
  CHECK (account_id IS NOT NULL OR NOT with_name)
) STRICT;

CREATE INDEX webhooks_of_account ON webhooks (account_id);

-- What is to be told outside, from the commit that it tells of until it was delivered. `due_at` is the next try, or the end of a
-- try that is under way. Once given up, at `failed_at`, only the row is kept, without its body, until `due_at`.
CREATE TABLE outbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (length(kind) <= 30),
  -- Whom it is for; null for all administrators.
  account_id INTEGER REFERENCES accounts (id) ON DELETE CASCADE,
  webhook_id INTEGER REFERENCES webhooks (id) ON DELETE CASCADE,
  push_id INTEGER,
  at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  tries INT NOT NULL CHECK (tries >= 0),
  failed_at INTEGER,
  -- Of mails, sealed. Of webhooks, the event as JSON, without names and links.
  body TEXT NOT NULL,
  CHECK ((kind = 'webhook') = (webhook_id IS NOT NULL)),
  CHECK (failed_at IS NULL OR body = '')
) STRICT;

CREATE INDEX outbox_due ON outbox (due_at, id);
CREATE INDEX outbox_of_account ON outbox (account_id);
CREATE INDEX outbox_of_webhook ON outbox (webhook_id) WHERE webhook_id IS NOT NULL;
CREATE INDEX outbox_of_push ON outbox (push_id) WHERE push_id IS NOT NULL;
