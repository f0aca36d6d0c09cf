-- When the password, and the code where there is a second factor, was last given in a session. 0, which adds nothing to the
-- checksum of a session, in those from before: they are asked.
ALTER TABLE sessions ADD COLUMN confirmed_at INTEGER NOT NULL DEFAULT 0;
