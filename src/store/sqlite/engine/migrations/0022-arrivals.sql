-- The id of the confirmed move that brought everything into this database; no row in a database that began here. A database that was
-- set back to before the confirmation lacks it, so that what a move left behind is not destroyed then.

CREATE TABLE arrivals (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  move TEXT NOT NULL
);
