-- The indexes of every engine, and the first row. What only one engine has comes after this.

INSERT INTO instance (id, clock_mark) VALUES (1, 0);

CREATE INDEX accounts_admins ON accounts (id) WHERE is_admin;
CREATE INDEX sessions_of_account ON sessions (account_id);
CREATE INDEX sessions_last_seen ON sessions (last_seen_at);
CREATE INDEX sessions_created ON sessions (created_at);
CREATE INDEX account_links_of_account ON account_links (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX account_links_by_account ON account_links (created_by) WHERE created_by IS NOT NULL;
CREATE INDEX account_links_expiry ON account_links (expires_at);
CREATE INDEX requests_of_account ON requests (account_id, id);
CREATE INDEX requests_end ON requests (expires_at);
CREATE INDEX request_reservations_of_request ON request_reservations (request_id, until);
CREATE INDEX request_reservations_until ON request_reservations (until);
-- For the sweeper, and for the two lists of an owner.
CREATE INDEX pushes_live ON pushes (expires_at) WHERE expired_on IS NULL;
CREATE INDEX pushes_anonymous_expired ON pushes (expired_on) WHERE expired_on IS NOT NULL AND owner_id IS NULL;
CREATE INDEX pushes_owned_expired ON pushes (expired_on) WHERE expired_on IS NOT NULL AND owner_id IS NOT NULL;
CREATE INDEX pushes_owned_live ON pushes (owner_id, id) WHERE expired_on IS NULL AND owner_id IS NOT NULL;
CREATE INDEX pushes_owned_ended ON pushes (owner_id, id) WHERE expired_on IS NOT NULL AND owner_id IS NOT NULL;

CREATE INDEX push_keys_free ON push_keys (slot) WHERE is_free;
CREATE INDEX live_shares_of_address ON live_shares (address, expires_at, bytes);
CREATE INDEX idempotency_keys_lapse ON idempotency_keys (lapses_at);
CREATE INDEX idempotency_keys_push ON idempotency_keys (push_id) WHERE push_id IS NOT NULL;
CREATE INDEX idempotency_answers_free ON idempotency_answers (slot) WHERE is_free;
CREATE INDEX files_due_at ON files_due (at) WHERE at IS NOT NULL;
CREATE INDEX files_due_granted ON files_due (push_id) WHERE push_id IS NOT NULL;
CREATE INDEX files_due_node ON files_due (node) WHERE node IS NOT NULL;
CREATE INDEX files_read_node ON files_read (node);
CREATE INDEX files_read_id ON files_read (id);
CREATE INDEX spent_points_until ON spent_points (until);
CREATE INDEX events_at ON events (at);
CREATE INDEX webhooks_of_account ON webhooks (account_id);
CREATE INDEX outbox_due ON outbox (due_at, id);
CREATE INDEX outbox_of_account ON outbox (account_id);
CREATE INDEX outbox_of_webhook ON outbox (webhook_id) WHERE webhook_id IS NOT NULL;
CREATE INDEX outbox_of_push ON outbox (push_id) WHERE push_id IS NOT NULL;
