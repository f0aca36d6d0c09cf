-- After a last view: the push whose grants may still read the file until it is due. Deleting the push ends them.

ALTER TABLE files_due ADD COLUMN push_id INTEGER;

CREATE INDEX files_due_granted ON files_due (push_id) WHERE push_id IS NOT NULL;
