-- Wrong passphrases are counted in all, beside those of the last minute.
--
-- Both defaults leave the checksums of earlier rows as they are: a zero at their end makes no difference.

ALTER TABLE pushes ADD COLUMN wrong_tries_in_all INTEGER NOT NULL DEFAULT 0 CHECK (wrong_tries_in_all >= 0);
ALTER TABLE pushes ADD COLUMN tries_spent INTEGER NOT NULL DEFAULT 0 CHECK (tries_spent IN (0, 1));
