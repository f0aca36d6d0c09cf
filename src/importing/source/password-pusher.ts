// Reads the data of a Password Pusher 2.x: its database and its storage folder. Nothing is written there.

import type { IncomingAccount, IncomingPush, IncomingSource, Unreadable } from '../../domain/incoming.ts'
import { readBatch } from './belongings.ts'
import { type ForeignDatabase, readByIds, readPages } from './foreign-database.ts'
import { type Outline, readOutline } from './outline.ts'
import { readAccount, readPush } from './rows.ts'
import { createUnseal, PUBLISHED_KEY, type Unseal } from './sealed-columns.ts'
import { requireTables, type Select } from './tables.ts'

export type PasswordPusherOptions = {
  /** Is closed with the source. */
  database: ForeignDatabase
  /** The folder of the files; null when none was named. */
  storage: string | null
  /** In hex; the first is the present one. */
  masterKeys: readonly string[]
  /** Told how many bytes were read and are done with. */
  relieve: (bytes: number) => void
}

/** Throws `conflict` when the database cannot be read or is of another version. */
export async function openPasswordPusher(options: PasswordPusherOptions): Promise<IncomingSource> {
  try {
    return await openSource(options)
  } catch (cause) {
    await options.database.close()
    throw cause
  }
}

async function openSource(options: PasswordPusherOptions): Promise<IncomingSource> {
  const { database, storage, masterKeys, relieve } = options
  const { version, isNewer, leftBehind, select, has } = await requireTables(database)
  const hasConfirmations = has('users', 'confirmed_at')
  const fitting = new Set<string>()
  const unseal = createUnseal(masterKeys, (key) => void fitting.add(key))
  const sealed = SEALED.pushes.filter((column) => has('pushes', column))
  const outline = await readOutline(database, sealed)
  const opens = await opensAny(database, { outline, select, unseal })
  const pulse = await readPulse(database)

  async function* readAccounts(): AsyncGenerator<IncomingAccount> {
    const pages = readPages(database, usersBy(select))
    for await (const page of pages)
      for (const row of page) yield readAccount({ row, unseal, hasConfirmations })
  }

  async function* readPushes(): AsyncGenerator<IncomingPush | Unreadable> {
    for (const batch of outline.batches()) {
      for (const push of await readBatch(database, batch, { select, storage }))
        yield readPush({ ...push, unseal })
      relieve(batch.weight)
    }
  }

  async function lookAgain(): Promise<string[]> {
    await database.leaveMoment()
    return (await readPulse(database)) === pulse ? [] : [hasWritten(database)]
  }

  return {
    version,
    counts: { accounts: await countAccounts(database), pushes: outline.pushes },
    opens,
    hasDefaultKey: () => fitting.has(PUBLISHED_KEY),
    warnings: [
      ...(isNewer ? [`The database is of version ${version}, which is newer than any known here.`] : []),
      ...(leftBehind === 0 ? [] : [isUnfinished(leftBehind)]),
      ...(await database.findOthers()),
    ],
    readAccounts,
    readPushes,
    lookAgain,
    close: () => database.close(),
  }
}

const usersBy = (select: Select) => ({ table: 'users', columns: select('users'), rows: 1_000 })

type Sealed = { outline: Outline; select: Select; unseal: Unseal }

/** Ends with the first value that opens. */
async function opensAny(
  database: ForeignDatabase,
  { outline, select, unseal }: Sealed,
): Promise<boolean | null> {
  let found = 0
  const isOpened = (table: 'pushes' | 'users', row: Record<string, unknown>) => {
    const sealed = SEALED[table].filter((column) => row[column] !== null && row[column] !== '')
    found += sealed.length
    return sealed.some((column) => unseal({ table, column }, row[column]) !== null)
  }
  for (const batch of outline.sealedBatches()) {
    const sql = `SELECT ${select('pushes')} FROM pushes WHERE pushes.id`
    const rows = await readByIds(database, { sql, ids: batch.pushes.map(({ id }) => id) })
    if (rows.values().some((row) => isOpened('pushes', row))) return true
  }
  const pages = readPages(database, usersBy(select))
  for await (const page of pages) if (page.some((row) => isOpened('users', row))) return true
  return found === 0 ? null : false
}

const SEALED = {
  pushes: ['payload_ciphertext', 'passphrase_ciphertext', 'note_ciphertext'],
  users: ['otp_secret_ciphertext'],
} as const

async function countAccounts(database: ForeignDatabase): Promise<number> {
  const [count] = await database.read('SELECT count(*) AS number FROM users')
  return Number(count?.number ?? 0)
}

/** Changes with every push that is made, opened or ended. */
async function readPulse(database: ForeignDatabase): Promise<string> {
  const newest = (table: string) => `(SELECT max(id) FROM ${table})`
  const [row] = await database.read(
    `SELECT ${newest('pushes')} AS push, ${newest('audit_logs')} AS entry, ${newest('users')} AS account`,
  )
  return JSON.stringify([row?.push, row?.entry, row?.account].map(String))
}

function isUnfinished(pushes: number): string {
  return (
    `${pushes} pushes still lie in the tables of version 1, and do not come: the old server has not finished its upgrade. ` +
    'Start it, wait until it has moved them, and stop it.'
  )
}

function hasWritten({ name }: ForeignDatabase): string {
  return (
    `The old server has written to ${name} since the import began: it runs. What was opened or made there meanwhile is ` +
    'not known here. Stop it, and import again into a new data folder.'
  )
}
