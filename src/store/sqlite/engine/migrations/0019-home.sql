-- Where the folder was served last, by which a copy of it is noticed. In no copy without keys. Inodes may need 64 bits
-- without a sign, which a number here has not.
CREATE TABLE home (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  machine TEXT,
  path TEXT NOT NULL,
  incarnation TEXT NOT NULL,
  mark_inode TEXT,
  mark_birth INTEGER,
  database_inode TEXT,
  database_birth INTEGER,
  served_at INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
