// Statements of the store that may read a whole table, on both engines, each with the reason.

/** A part of a statement, and why it may read or sort a whole table. */
export const WHOLE_READS: readonly [part: string, reason: string][] = [
  ['FROM push_files ORDER BY push_id DESC', 'reads eight rows, and sorts the files of one push'],
  ['FROM files_due LIMIT 8', 'reads eight rows'],
  ['FROM requests WHERE expires_at <= $1 OR closed_at <= $1', 'the sweeper, once an hour; requests are few'],
  ['FROM sessions WHERE last_seen_at <= $1 OR', 'once a sign-in, which takes longer for its hash'],
  ['FROM account_links WHERE purpose', 'links live for a day at most, and are few'],
  ['FROM accounts ORDER BY email', 'the command that lists all accounts'],
  ["email LIKE '%' || $1", 'no index finds a part of an address'],
  ['FROM webhooks WHERE last_error IS NOT NULL', 'health: accounts have a few webhooks each'],
  ['AS failed FROM outbox GROUP BY kind', 'health: the room of the outbox is bounded for each account'],
  ['UPDATE outbox SET at = CASE', 'once, after the clock was ahead'],
  ['INSERT INTO event_counts (account_id, last) SELECT', 'a restore'],
  ['FROM audit_entries) AS entries', 'backup and restore count everything once'],
  ['FROM api_tokens JOIN accounts', 'a restore lists all tokens'],
  ['UPDATE passkeys SET signs_in = false', 'a restore, and the command expire-all'],
  ['count(*) AS n FROM passkeys GROUP BY rp_id', 'doctor looks through a whole database'],
  ['count(*) AS n FROM push_secrets', 'doctor looks through a whole database'],
  ['expires_at <= $2)', 'the lists of an owner while the clock is in doubt'],
  ...[
    ['AS head, count(*) AS rows FROM outbox WHERE kind IN', 'key rotation'],
    ["THEN 'live push' ELSE 'ended push'", 'key rotation'],
    ["SELECT 'second factor' AS kind", 'key rotation'],
    ['FROM accounts WHERE totp_secret IS NOT NULL', 'key rotation'],
    ['FROM webhooks ORDER BY id', 'key rotation'],
    ['FROM requests ORDER BY id', 'key rotation and restore'],
  ].map(([part = '', reason = '']): [string, string] => [part, reason]),
]
