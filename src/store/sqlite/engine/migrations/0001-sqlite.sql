-- What only SQLite has, after the tables of every engine.

-- Where the folder was served last, and the mark that `serve.home` has too. In no copy without keys.
CREATE TABLE home (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  mark TEXT NOT NULL CHECK (length(mark) = 32),
  path TEXT NOT NULL
) STRICT;

-- The index of links: links.ts says who files them, and when. What a push is found by is copied from its row.
CREATE TABLE push_links (
  lookup BLOB PRIMARY KEY NOT NULL,
  push_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The links of all pushes up to this one are filed.
CREATE TABLE links_filed (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  up_to INTEGER NOT NULL
) STRICT;

INSERT INTO links_filed (id, up_to) VALUES (1, 0);

CREATE TRIGGER push_links_change AFTER UPDATE OF lookup ON pushes BEGIN
  UPDATE push_links SET lookup = NEW.lookup WHERE lookup = OLD.lookup;
END;

CREATE TRIGGER push_links_removal AFTER DELETE ON pushes BEGIN
  DELETE FROM push_links WHERE lookup = OLD.lookup;
END;
