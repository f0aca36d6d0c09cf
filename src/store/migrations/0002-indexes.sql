-- The indexes that the second schema adds, on both engines.

-- The lists of an owner tell what is new from the index, and a page of a list reads no other rows.
DROP INDEX pushes_owned_live;
DROP INDEX pushes_owned_ended;
CREATE INDEX pushes_owned_live ON pushes (owner_id, id, is_new) WHERE expired_on IS NULL AND owner_id IS NOT NULL;
CREATE INDEX pushes_owned_ended ON pushes (owner_id, id, is_new) WHERE expired_on IS NOT NULL AND owner_id IS NOT NULL;
CREATE INDEX pushes_owned_new ON pushes (owner_id, id) WHERE is_new;
CREATE INDEX push_labels_of_request ON push_labels (request_id) WHERE request_id IS NOT NULL;

CREATE INDEX identities_of_account ON identities (account_id);
CREATE INDEX sessions_of_provider ON sessions (issuer, subject) WHERE issuer IS NOT NULL;
CREATE INDEX accounts_pausing ON accounts (last_sign_in_at) WHERE password_hash = '!';
CREATE INDEX passkeys_of_account ON passkeys (account_id);
