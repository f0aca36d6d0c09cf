// Rows for moves: a data folder with everything that a store can hold, and databases of both engines to move them between.

import { join } from 'node:path'
import { sealedSize } from '../../src/crypto/sealed-stream.ts'
import type { Account } from '../../src/domain/account.ts'
import { FIRST_ENTRIES } from '../../src/domain/audit.ts'
import type { MovedTable, MovingReader, MovingRow, MovingWriter } from '../../src/store/moving-face.ts'
import { createMovingReader as readPostgres } from '../../src/store/postgres/moving/read-rows.ts'
import { createMovingWriter as writePostgres } from '../../src/store/postgres/moving/write-rows.ts'
import { openConnection } from '../../src/store/sqlite/engine/database.ts'
import { migrate } from '../../src/store/sqlite/engine/migrate.ts'
import { createMovingReader, createMovingWriter } from '../../src/store/sqlite/moving/moving-rows.ts'
import type { startTestPostgres } from './postgres.ts'
import { openTestStore, storePush, type TestStore, VISIT, view } from './store.ts'

export type TestMoving = {
  reader: MovingReader
  writer: MovingWriter
  /** Live pushes and bytes of each address, in the order of addresses. */
  readSums(): Promise<unknown[]>
  close(): Promise<void>
}

const SUMS = 'SELECT pushes, bytes FROM address_shares ORDER BY address'

/** A database of SQLite, which is made when it is missing. */
export function openSqlite(path: string): TestMoving {
  const connection = openConnection(path, { create: true, busyTimeout: 5_000 })
  migrate(connection.database)
  return {
    reader: createMovingReader(connection),
    writer: createMovingWriter(connection),
    readSums: async () => connection.database.query(SUMS).all(),
    close: async () => connection.close(),
  }
}

/** An empty database of PostgreSQL. */
export async function openPostgres(
  server: Awaited<ReturnType<typeof startTestPostgres>>,
): Promise<TestMoving> {
  const { connect, close } = await server.newDatabase()
  const sql = connect(1)
  const query = <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
    sql.unsafe(text, [...values])
  return {
    reader: readPostgres(query),
    writer: writePostgres({
      query,
      transact: async (work) => {
        await query('BEGIN')
        await work(query)
        await query('COMMIT')
      },
    }),
    readSums: () => query(SUMS.replace('pushes, bytes', 'pushes::float8 AS pushes, bytes::float8 AS bytes')),
    close: async () => {
      await sql.close()
      await close()
    },
  }
}

const LABELS = { urlToken: Buffer.from('sealed token'), name: Buffer.from('sealed name'), note: null }
const bytes = (length: number, fill: number) => Buffer.alloc(length, fill)

/** All at once, so that they share their commits. */
async function times(number: number, work: (n: number) => Promise<unknown>): Promise<void> {
  await Promise.all(Array.from({ length: number }, (_, n) => work(n)))
}

/** Pushes of all states, with logs longer than their bounds. Resolves to the ids of those with long logs. */
export async function fillPushes(
  opened: TestStore,
): Promise<{ failing: number; watched: number; ann: Account }> {
  const { store, clock } = opened
  const ann = await store.accounts.addAccount({ email: 'ann@example.org', passwordHash: 'x', isAdmin: true })
  await store.accounts.addAccount({ email: 'bob@example.org', passwordHash: 'y', isAdmin: false })
  const share = { addresses: [bytes(16, 7)] as const, bytes: 9, limits: { pushes: 1e4, bytes: 1e9 } }
  const failing = await storePush(
    opened,
    { expireAfterViews: 1, deletableByViewer: null, ownerId: ann.id },
    { share },
  )
  await view(opened, failing)
  await times(FIRST_ENTRIES + 800, () => view(opened, failing))
  const watched = await storePush(opened, { ownerId: ann.id }, { labels: LABELS })
  await times(800, async (n) => {
    const visit = { ...VISIT, userAgent: `browser ${n}` }
    await store.pushes.claimView({ id: watched.id, visit, lookBy: ann })
    if (n % 300 === 0) await view(opened, watched)
  })
  const idempotency = { lookup: bytes(32, 3), lapsesAt: clock.now() + 1e7, answer: bytes(88, 5) }
  await storePush(opened, { passphraseRequired: true }, { idempotency, share })
  const files = [0, 1].map((n) => ({
    fileId: `file${n}`,
    size: 600_000 * n + 100,
    filename: bytes(30, n),
    contentType: bytes(20, n),
  }))
  for (const { fileId, size } of files)
    await store.files.keepFile(
      fileId,
      (async function* () {
        yield bytes(sealedSize(size), 1)
      })(),
    )
  await storePush(opened, { ownerId: ann.id, kind: 'file' }, { labels: LABELS, files })
  const large = {
    salt: bytes(16, 1),
    wrappedKey: bytes(62, 9),
    payload: bytes(3_000_000, 8),
    passphraseSalt: bytes(30, 2),
  }
  await times(8, () => storePush(opened, {}, { secrets: large }))
  await times(1_500, (n) => storePush(opened, { expireAfterViews: 1 + (n % 3) }, { share }))
  return { failing: failing.id, watched: watched.id, ann }
}

/** Rows of all other tables. */
export const OTHER_ROWS: Partial<Record<MovedTable, MovingRow[]>> = {
  instanceKeys: [{ number: 9, verifier: bytes(16, 9) }],
  apiTokens: [1, 2].map((id) => ({
    ...{ id: id * 10, accountId: 1, name: `token ${id}`, prefix: 'obx_1', hash: bytes(32, id), createdAt: 5 },
    lastUsedAt: id === 1 ? null : 77,
  })),
  recoveryCodes: Array.from({ length: 2_500 }, (_, n) => {
    const hash = bytes(32, 0)
    hash.writeUInt32BE((n * 2_654_435_761) % 2 ** 32)
    return { accountId: 1 + (n % 2), hash }
  }).toSorted((a, b) => a.accountId - b.accountId || Buffer.compare(a.hash, b.hash)),
  sessions: [1, 2].map((id) => ({
    ...{ id, accountId: id, hash: bytes(32, id), createdAt: 1, lastSeenAt: 2, ip: '::1', userAgent: 'ü \0' },
    confirmedAt: 0,
  })),
  accountLinks: [
    {
      ...{ id: 4, hash: bytes(32, 4), purpose: 'invite', accountId: null, email: 'new@example.org' },
      ...{ isAdmin: true, endsTwoFactor: false, createdBy: 1, createdAt: 3, expiresAt: 4 },
    },
  ],
  messageTemplates: [{ accountId: 2, template: 'Here: {link}\n' }],
  pushChoices: [{ accountId: 1, lifetime: 5, views: null, retrievalStep: false, deletableByViewer: null }],
  imported: [{ mark: bytes(16, 200), keyNumber: 1 }],
  filesDue: [
    { id: 'aaa', at: 5, pushId: null },
    { id: 'b10', at: 6, pushId: 3 },
    { id: 'b9a', at: 7, pushId: null },
  ],
}

/** A data folder with rows in every table, which nobody serves any more. */
export async function makeFullFolder() {
  const opened = await openTestStore()
  const ids = await fillPushes(opened)
  await opened.store.close()
  const { writer, close } = openSqlite(join(opened.dataDir, 'oncebox.db'))
  for (const [table, rows] of Object.entries(OTHER_ROWS)) await writer.writeRows(table as MovedTable, rows)
  await close()
  return { ...ids, clock: opened.clock, dataDir: opened.dataDir }
}
