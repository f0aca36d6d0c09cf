-- What an account chose in the create form the last time, where that differs from the defaults of the server.

CREATE TABLE push_choices (
  account_id INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  lifetime INTEGER CHECK (lifetime > 0),
  views INTEGER CHECK (views > 0),
  retrieval_step INTEGER CHECK (retrieval_step IN (0, 1)),
  deletable_by_viewer INTEGER CHECK (deletable_by_viewer IN (0, 1)),
  checksum INTEGER
) STRICT;
