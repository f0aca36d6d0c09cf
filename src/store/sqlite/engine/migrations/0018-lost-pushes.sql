-- Whether a restore of the server expired the push, since what opens a push is in no backup.
--
-- The default leaves the checksums of earlier rows as they are: a zero at their end makes no difference.

ALTER TABLE pushes ADD COLUMN lost INTEGER NOT NULL DEFAULT 0
  CHECK (lost = 0 OR (lost = 1 AND expired_on IS NOT NULL));
