-- Everything that was ever imported, by a keyed hash: a repeated import adds nothing twice and brings nothing back that has
-- gone here. Rows are never deleted. A push is found by the lookup of its link under the key of this number.

CREATE TABLE imported (
  mark BLOB PRIMARY KEY NOT NULL CHECK (length(mark) = 16),
  key_number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
