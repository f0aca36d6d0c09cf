// Writes moved pushes as this engine keeps them: keys in slots, logs as chains, rows with checksums.

import type { Database } from 'bun:sqlite'
import type { MovingPush, MovingRow } from '../../moving-face.ts'
import { prepareInsert } from '../engine/prepared.ts'
import * as schema from '../engine/schema.ts'
import { checksumOfEntry, type EntryRow } from '../pushes/audit-chains.ts'
import { checksumOfPush, type PushRow } from '../pushes/push-checksum.ts'
import { checksumOfSecrets } from '../pushes/push-rows.ts'

type SecretsRow = typeof schema.pushSecrets.$inferSelect

/** Within a transaction. */
export function createPushWriter(database: Database): (moved: MovingPush) => void {
  const insertPush = prepareInsert(database, schema.pushes)
  const insertSecrets = prepareInsert(database, schema.pushSecrets)
  const insertLabels = prepareInsert(database, schema.pushLabels)
  const insertShare = prepareInsert(database, schema.liveShares)
  const insertFile = prepareInsert(database, schema.pushFiles)
  const insertEntry = prepareInsert(database, schema.auditEntries)
  const appendKey = database.prepare<unknown, [Uint8Array]>('INSERT INTO push_keys (wrapped_key) VALUES (?)')
  const lastEntry = database.query<{ id: number | null }, []>('SELECT max(id) AS id FROM audit_entries')

  function writeSecrets(moved: MovingRow): void {
    const { wrappedKey, ...rest } = moved
    if (!(wrappedKey instanceof Uint8Array)) throw new TypeError('a push without a key')
    const row = { ...rest, keySlot: Number(appendKey.run(wrappedKey).lastInsertRowid) } as SecretsRow
    insertSecrets({ ...row, checksum: checksumOfSecrets(row.pushId, { ...row, wrappedKey }) })
  }

  /** Returns the id of the last one; null when there are none. */
  function writeLog(entries: readonly MovingRow[]): number | null {
    let id = lastEntry.get()?.id ?? 0
    let previous: number | null = null
    for (const [n, moved] of entries.entries()) {
      id += 1
      const row = { ...moved, id, n, previous } as Omit<EntryRow, 'checksum'>
      insertEntry({ ...row, checksum: checksumOfEntry(row) })
      previous = id
    }
    return previous
  }

  return ({ push, secrets, labels, share, files, entries }) => {
    const moved = push as Omit<PushRow, 'checksum' | 'lastEntry'>
    const row = { ...moved, lastEntry: writeLog(entries) }
    insertPush({ ...row, checksum: checksumOfPush(row) })
    if (secrets !== null) writeSecrets(secrets)
    if (labels !== null) insertLabels(labels as typeof schema.pushLabels.$inferSelect)
    if (share !== null) insertShare(share as typeof schema.liveShares.$inferSelect)
    for (const file of files) insertFile(file as typeof schema.pushFiles.$inferSelect)
  }
}
