-- How often a reset link made an account begin anew: what was begun before that is not the account's. The default leaves the
-- checksums of earlier rows as they are: a zero at their end makes no difference.

ALTER TABLE accounts ADD COLUMN resets INTEGER NOT NULL DEFAULT 0;
