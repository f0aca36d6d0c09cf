// Destroys what opens pushes in a database that was moved away, before its file is removed: SQLite overwrites what it deletes.

import type { Connection } from '../engine/database.ts'

const STATEMENTS = [
  'UPDATE push_keys SET wrapped_key = zeroblob(62)',
  'UPDATE idempotency_answers SET answer = zeroblob(88)',
  ...[
    'live_shares',
    'push_files',
    'push_secrets',
    'push_labels',
    'sessions',
    'account_links',
    'api_tokens',
  ].map((table) => `DELETE FROM ${table}`),
  'UPDATE accounts SET totp_secret = NULL, checksum = NULL',
]

/** The caller empties the write-ahead log, which holds the former pages. */
export function destroyContents({ database }: Connection): void {
  database.transaction(() => {
    for (const statement of STATEMENTS) database.run(statement)
  })()
}
