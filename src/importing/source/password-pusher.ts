// Reads the data of a Password Pusher 2.x: its database and its storage folder. Read-only.

import type { IncomingAccount, IncomingPush, IncomingSource, Unreadable } from '../incoming.ts'
import { listBatches, readBatch } from './batches.ts'
import type { ForeignDatabase } from './foreign-database.ts'
import { readAccount, readPush } from './rows.ts'
import { createUnseal, PUBLISHED_KEY } from './sealed-columns.ts'
import { requireTables } from './tables.ts'

type PasswordPusherOptions = {
  /** The database, which is closed with the source. */
  database: ForeignDatabase
  /** The folder of the files; null when none was named. */
  storage: string | null
  /** The master keys in hex, the present one first. */
  masterKeys: readonly string[]
  /** Called with the number of bytes that were read and can now be freed. */
  relieve: (bytes: number) => void
}

/** Throws `conflict` when the database cannot be read or is of another version. */
export async function openPasswordPusher(options: PasswordPusherOptions): Promise<IncomingSource> {
  const { database, storage, masterKeys, relieve } = options
  await using closing = new AsyncDisposableStack()
  closing.defer(() => database.close())
  const { version, isNewer, sealed, select } = await requireTables(database)
  /** The master keys that opened a value, and null for a value that none opened. */
  const fitting = new Set<string | null>()
  const unseal = createUnseal(masterKeys, (key) => void fitting.add(key))
  const batches = await listBatches(database, { sealed })

  async function* readAccounts(): AsyncGenerator<IncomingAccount> {
    const rows = await database.read(`SELECT ${select('users')} FROM users ORDER BY users.id`)
    for (const row of rows) yield readAccount(row, unseal)
  }

  async function* readPushes(): AsyncGenerator<IncomingPush | Unreadable> {
    for (const batch of batches) {
      for (const push of await readBatch(database, batch, { select, storage }))
        yield readPush({ ...push, unseal })
      relieve(batch.bytes)
    }
  }

  /** Returns whether any sealed value opens; null without one. */
  async function opensAny(): Promise<boolean | null> {
    for (const read of [readPushes, readAccounts])
      for await (const _row of read()) if (fitting.values().some((key) => key !== null)) return true
    return fitting.has(null) ? false : null
  }

  const others = await database.findOthers()
  const opens = await opensAny()
  const opened = closing.move()
  return {
    version,
    pushes: batches.reduce((sum, { ids }) => sum + ids.length, 0),
    opens,
    hasDefaultKey: () => fitting.has(PUBLISHED_KEY),
    warnings: [
      ...(isNewer ? [`The database is of version ${version}, which is newer than any known here.`] : []),
      ...(others === null ? [] : [`${others}: ${SEEMS_TO_RUN}`]),
    ],
    readAccounts,
    readPushes,
    close: () => opened.disposeAsync(),
  }
}

const SEEMS_TO_RUN =
  'the old server seems to run, or has crashed. Stop it before the import, because views that it counts from now on are not ' +
  'known here.'
