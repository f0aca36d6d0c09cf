-- Where the folder was served last, and the mark that `serve.home` has too. In no copy without keys.
CREATE TABLE home (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  mark TEXT NOT NULL CHECK (length(mark) = 32),
  path TEXT NOT NULL
) STRICT;

