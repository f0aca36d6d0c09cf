-- What each live push without an account takes of the share of its creator's address. `address` is a keyed hash: no
-- address is kept here. A row goes with the secrets of its push, whatever ends that push.

CREATE TABLE live_shares (
  push_id INTEGER PRIMARY KEY
    REFERENCES push_secrets (push_id) ON DELETE CASCADE
    REFERENCES pushes (id) ON DELETE CASCADE,
  address BLOB NOT NULL CHECK (length(address) = 16),
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX live_shares_of_address ON live_shares (address, expires_at, bytes);

-- The sums of live_shares by address. Triggers keep them: no statement can change the one and forget the other.
CREATE TABLE address_shares (
  address BLOB PRIMARY KEY NOT NULL,
  pushes INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER live_shares_added AFTER INSERT ON live_shares BEGIN
  INSERT INTO address_shares (address, pushes, bytes) VALUES (new.address, 1, new.bytes)
    ON CONFLICT (address) DO UPDATE SET pushes = pushes + 1, bytes = bytes + new.bytes;
END;

CREATE TRIGGER live_shares_removed AFTER DELETE ON live_shares BEGIN
  UPDATE address_shares SET pushes = pushes - 1, bytes = bytes - old.bytes WHERE address = old.address;
  DELETE FROM address_shares WHERE address = old.address AND pushes <= 0;
END;
