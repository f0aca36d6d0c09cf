-- The log of a push is never full: what changes the push always fits. Of failures beyond the first ones and of owners'
-- own looks only the latest are kept, each in a chain of its own, of which the oldest entries are deleted.
--
-- All defaults leave the checksums of earlier rows as they are: a zero at their end makes no difference.

ALTER TABLE pushes ADD COLUMN failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0);
ALTER TABLE pushes ADD COLUMN last_failure INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pushes ADD COLUMN owner_views INTEGER NOT NULL DEFAULT 0 CHECK (owner_views >= 0);
ALTER TABLE pushes ADD COLUMN last_owner_view INTEGER NOT NULL DEFAULT 0;

-- The column again, without its upper limit.
ALTER TABLE pushes RENAME COLUMN audit_entries TO limited_audit_entries;
ALTER TABLE pushes ADD COLUMN audit_entries INTEGER NOT NULL DEFAULT 0 CHECK (audit_entries >= 0);
UPDATE pushes SET audit_entries = limited_audit_entries;
ALTER TABLE pushes DROP COLUMN limited_audit_entries;

-- Ways into long logs. Most entries are in no index, so that a visit writes no page but the last of its table.
CREATE INDEX audit_entries_marks ON audit_entries (push_id, n)
  WHERE n > 0 AND n % 100 = 0 AND kind NOT IN ('failed_view', 'failed_passphrase', 'owner_view');
