-- When an account last signed in. The default leaves the checksums of earlier rows as they are: a zero at their end makes no
-- difference.

ALTER TABLE accounts ADD COLUMN last_sign_in_at INTEGER NOT NULL DEFAULT 0;
