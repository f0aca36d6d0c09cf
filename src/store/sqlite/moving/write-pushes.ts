// Writes moved pushes as this engine keeps them: keys in slots, logs as chains, rows with checksums.

import type { Database } from 'bun:sqlite'
import { countLate } from '../../../domain/audit.ts'
import type { MovingPush, MovingRow } from '../../moving-face.ts'
import { prepareInsert } from '../engine/prepared.ts'
import * as schema from '../engine/schema.ts'
import { checksumOfEntry, type EntryRow } from '../pushes/audit-chains.ts'
import { EMPTY_LOG, type Log } from '../pushes/audit-rows.ts'
import { checksumOfPush, type PushRow } from '../pushes/push-checksum.ts'
import { checksumOfSecrets } from '../pushes/push-rows.ts'

type SecretsRow = typeof schema.pushSecrets.$inferSelect
type LogCounts = Pick<Log, 'auditEntries' | 'failures' | 'ownerViews'>

/** Before the first entry that is kept of a chain. No entry has this id. */
const GONE = 0

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

  /** Returns the last entries of its chains. */
  function writeLog(entries: readonly MovingRow[], counts: LogCounts): Log {
    const chains = chainsOf(entries, counts)
    let id = lastEntry.get()?.id ?? 0
    for (const { bound, ...moved } of entries) {
      const chain = chains[boundOf(bound)]
      id += 1
      const row = { ...moved, id, n: chain.n, previous: chain.last } as Omit<EntryRow, 'checksum'>
      insertEntry({ ...row, checksum: checksumOfEntry(row) })
      chain.n += 1
      chain.last = id
    }
    const { main, failures, owner_views: looks } = chains
    return {
      ...EMPTY_LOG,
      ...counts,
      lastEntry: main.last,
      lastFailure: failures.last ?? 0,
      lastOwnerView: looks.last ?? 0,
    }
  }

  return ({ push, secrets, labels, share, files, entries }) => {
    const moved = push as Omit<PushRow, 'checksum' | keyof Log> & LogCounts
    const { auditEntries, failures, ownerViews } = moved
    const row = { ...moved, ...writeLog(entries, { auditEntries, failures, ownerViews }) }
    insertPush({ ...row, checksum: checksumOfPush(row) })
    if (secrets !== null) writeSecrets(secrets)
    if (labels !== null) insertLabels(labels as typeof schema.pushLabels.$inferSelect)
    if (share !== null) insertShare(share as typeof schema.liveShares.$inferSelect)
    for (const file of files) insertFile(file as typeof schema.pushFiles.$inferSelect)
  }
}

type Chains = Record<'main' | 'failures' | 'owner_views', { n: number; last: number | null }>

function boundOf(bound: MovingRow[string] | undefined): keyof Chains {
  return bound === 'failures' || bound === 'owner_views' ? bound : 'main'
}

/** Where each chain begins. Of the bounded ones, the oldest entries were deleted. */
function chainsOf(entries: readonly MovingRow[], { failures, ownerViews }: LogCounts): Chains {
  const begin = (name: keyof Chains, length: number) => {
    const n = length - entries.filter(({ bound }) => boundOf(bound) === name).length
    return { n, last: n === 0 ? null : GONE }
  }
  return {
    main: { n: 0, last: null },
    failures: begin('failures', countLate(failures)),
    owner_views: begin('owner_views', ownerViews),
  }
}
