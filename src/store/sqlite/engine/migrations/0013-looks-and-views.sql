-- When a push was last viewed, and how many of its views the owner has seen in their lists.
--
-- The default leaves the checksums of earlier rows as they are: a zero at their end makes no difference. seen_views has no
-- checksum: an altered one shows a wrong mark in a list and does nothing else.

ALTER TABLE pushes ADD COLUMN last_viewed_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE push_labels ADD COLUMN seen_views INTEGER NOT NULL DEFAULT 0;
UPDATE push_labels SET seen_views = (SELECT views FROM pushes WHERE id = push_id);
