// Empties the tables of a database, but for what it knows of itself.

import type { Query } from './move-row.ts'

const KEPT = ['schema_versions', 'instance', 'operations', 'moves']

/** Knows the folder of files in a bucket. */
const FOLDER = 'bucket_folder'

/**
 * Within a transaction. With `keepFolder` the next try of a move uses the same folder in the bucket, so that nothing is left in
 * another one. PostgreSQL removes the files of the tables; its write-ahead log and archives keep what was in them.
 */
export async function clearRows(query: Query, { keepFolder }: { keepFolder: boolean }): Promise<void> {
  const tables = await query<{ name: string }>(
    `SELECT quote_ident(relname) AS name FROM pg_class
     WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND relname <> ALL ($1::text[])`,
    [keepFolder ? [...KEPT, FOLDER] : KEPT],
  )
  if (tables.length > 0) await query(`TRUNCATE ${tables.map(({ name }) => name).join(', ')} RESTART IDENTITY`)
}
