-- Where files are: the folder of this database in a bucket, once it had one, and whether it is in use. `session` is what the
-- server wrote there last. The index finds the objects of a bucket that no push names.

CREATE TABLE bucket_folder (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  tag TEXT NOT NULL,
  session TEXT NOT NULL,
  is_used INTEGER NOT NULL CHECK (is_used IN (0, 1))
);

CREATE INDEX push_files_file ON push_files (file_id);
