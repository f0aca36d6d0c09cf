-- The message with which an account hands its secret links over, where it is not the standard one.

CREATE TABLE message_templates (
  account_id INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  template TEXT NOT NULL CHECK (template <> ''),
  checksum INTEGER
) STRICT;
