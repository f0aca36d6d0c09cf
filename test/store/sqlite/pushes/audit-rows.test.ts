// The audit log: nobody can crowd out what matters, its storage has an end, and what is listed is what happened.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Account } from '../../../../src/domain/account.ts'
import type { AuditEntry, AuditKind } from '../../../../src/domain/audit.ts'
import { DAY } from '../../../../src/domain/time.ts'
import { alterDatabase } from '../../../support/damage.ts'
import { openTestStore, storePush, type TestStore, VISIT, view } from '../../../support/store.ts'

let opened: TestStore
let owner: Account

beforeEach(async () => {
  opened = await openTestStore()
  const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: false }
  owner = await opened.store.accounts.addAccount(account)
})
afterEach(() => opened.close())

type Pushed = Awaited<ReturnType<typeof storePush>>
type Happened = { kind: AuditKind; ip: string }

const MANY_VIEWS = { expireAfterViews: 1_000_000, ownerId: 1 }

/** What a visit leaves in the log, told apart by its address. */
async function visit({ id }: Pushed, { kind, ip }: Happened): Promise<unknown> {
  const { pushes } = opened.store
  const from = { ...VISIT, ip }
  const lookBy = kind === 'owner_view' ? owner : null
  return kind === 'failed_passphrase'
    ? pushes.refusePassphrase({ id, visit: from, wrong: false, maxTries: 0 })
    : pushes.claimView({ id, visit: from, lookBy })
}

/** So many at once as one batch takes. */
async function visitAll(push: Pushed, happened: Happened[]): Promise<void> {
  for (let from = 0; from < happened.length; from += 250)
    await Promise.all(happened.slice(from, from + 250).map((one) => visit(push, one)))
}

const times = (kind: AuditKind, n: number): Happened[] =>
  Array.from({ length: n }, (_, index) => ({ kind, ip: `${kind}-${index}` }))

async function find({ lookup }: Pushed) {
  const push = await opened.store.pushes.findPush(lookup)
  if (push === null) throw new Error('the push is gone')
  return push
}

const tell = ({ kind, ip }: AuditEntry | Happened) => `${kind} ${ip}`

/** The whole log, page by page and in pieces, which must be the same. */
async function readLog(pushed: Pushed): Promise<string[]> {
  const push = await find(pushed)
  const pages: AuditEntry[] = []
  for (let page = 1; ; page += 1) {
    const entries = await opened.store.audit.listPage(push, page)
    pages.push(...entries)
    if (entries.length < 50) break
  }
  expect((await Array.fromAsync(opened.store.audit.readAll(push))).flat()).toEqual(pages)
  expect(pages).toHaveLength(push.auditEntries)
  return pages.map(tell)
}

function countRows(where = 'true'): number {
  const database = new Database(join(opened.dataDir, 'oncebox.db'), { readonly: true })
  try {
    const sql = `SELECT count(*) AS n FROM audit_entries WHERE ${where}`
    return database.query<{ n: number }, []>(sql).get()?.n ?? 0
  } finally {
    database.close()
  }
}

/** What the contract says is kept. */
function expected(happened: Happened[]): string[] {
  const failures = happened.filter(({ kind }) => kind === 'failed_passphrase')
  const looks = happened.filter(({ kind }) => kind === 'owner_view')
  const gone = new Set([...failures.slice(500), ...looks.slice(500)])
  return ['creation 192.0.2.7', ...happened.filter((one) => !gone.has(one)).map(tell)]
}

test('after ten thousand failures and own looks a view is still written down, and so is who ended the push', async () => {
  const push = await storePush(opened, MANY_VIEWS)
  await visitAll(push, [...times('failed_passphrase', 10_000), ...times('owner_view', 3_000)])
  await visit(push, { kind: 'view', ip: 'the real one' })
  await opened.store.pushes.expirePush({ id: push.id, visit: VISIT })
  const log = await readLog(push)
  expect(log.slice(-2)).toEqual(['view the real one', 'expire 192.0.2.7'])
  expect(log.slice(0, 2)).toEqual(['creation 192.0.2.7', 'failed_passphrase failed_passphrase-0'])
  expect(log).toHaveLength(1 + 500 + 500 + 2)
  expect(await find(push)).toMatchObject({
    ...{ failures: 10_000, ownerViews: 3_000, auditDropped: 0, countedFailures: 9_500 },
    ...{ countedFrom: 'owner_view-2999', countedAt: opened.clock.now() },
  })
  expect(countRows()).toBe(log.length)
})

test('whatever happens in whatever order, the log lists what is to be kept, also after a restart', async () => {
  const kinds = fc.constantFrom<AuditKind>('view', 'failed_passphrase', 'owner_view')
  const runs = fc.array(fc.record({ kind: kinds, n: fc.integer({ min: 1, max: 700 }) }), {
    minLength: 1,
    maxLength: 8,
  })
  await fc.assert(
    fc.asyncProperty(runs, fc.boolean(), async (some, restarts) => {
      const push = await storePush(opened, MANY_VIEWS)
      const happened = some
        .flatMap(({ kind, n }) => Array.from({ length: n }, () => kind))
        .map((kind, serial) => ({ kind, ip: String(serial) }))
      const half = happened.length >> 1
      await visitAll(push, happened.slice(0, half))
      if (restarts) {
        await opened.store.close()
        opened = await openTestStore({ dataDir: opened.dataDir, clock: opened.clock })
      }
      await visitAll(push, happened.slice(half))
      expect(await readLog(push)).toEqual(expected(happened))
      expect(countRows(`push_id = ${push.id}`)).toBe(expected(happened).length)
    }),
    { numRuns: 25 },
  )
}, 300_000)

test('any page of a long log is found, and an altered entry in it is told', async () => {
  const push = await storePush(opened, MANY_VIEWS)
  const happened = [...times('view', 12_345), ...times('owner_view', 10), ...times('view', 3)]
  await visitAll(push, happened)
  const log = expected(happened)
  for (const page of [1, 2, 3, 100, 200, 246, 247, 248]) {
    const listed = (await opened.store.audit.listPage(push, page)).map(tell)
    expect({ page, listed }).toEqual({ page, listed: log.slice((page - 1) * 50, page * 50) })
  }
  expect(await opened.store.audit.listPage(push, 300)).toEqual([])
  const started = performance.now()
  for (let n = 0; n < 100; n += 1) await opened.store.audit.listPage(push, 1)
  console.log(`a page of ${log.length} entries: ${((performance.now() - started) / 100).toFixed(2)} ms`)
  alterDatabase(opened.dataDir, "UPDATE audit_entries SET ip = 'x' WHERE n = 120")
  await expect(opened.store.audit.listPage(push, 3)).rejects.toThrow('damaged on disk')
  expect(await opened.store.audit.listPage(push, 2)).toHaveLength(50)
})

test('purging a push takes all its entries, however many, a step at a time', async () => {
  const push = await storePush(opened, MANY_VIEWS)
  const other = await storePush(opened)
  await view(opened, other)
  await visitAll(push, [
    ...times('view', 4_321),
    ...times('failed_passphrase', 1_700),
    ...times('owner_view', 900),
  ])
  await opened.store.pushes.expirePush({ id: push.id, visit: VISIT })
  opened.clock.advance(1)
  const until = opened.clock.now()
  expect(await opened.store.expiry.purgeExpired({ of: 'owned', until })).toBe(1)
  expect(await opened.store.pushes.findPush(push.lookup)).toBeNull()
  expect(countRows(`push_id = ${push.id}`)).toBe(0)
  expect(await readLog(other)).toHaveLength(2)
})

test.each(['previous = 1', 'push_id = 999', 'n = 7'])(
  'a push whose log is broken (%s) is purged with all that is left of it, without holding anybody up',
  async (change) => {
    const others = await Promise.all(Array.from({ length: 3 }, () => storePush(opened, MANY_VIEWS)))
    const push = await storePush(opened, MANY_VIEWS)
    for (const other of others) await visitAll(other, times('view', 6_000))
    await visitAll(push, [...times('view', 300), ...times('failed_passphrase', 1_200), ...times('view', 5)])
    await opened.store.pushes.expirePush({ id: push.id, visit: VISIT })
    alterDatabase(
      opened.dataDir,
      `UPDATE audit_entries SET ${change} WHERE push_id = ${push.id} AND n = 50 AND kind = 'view'`,
    )
    opened.clock.advance(1)
    let turns = 0
    const watch = setInterval(() => (turns += 1), 0)
    const until = opened.clock.now()
    expect(await opened.store.expiry.purgeExpired({ of: 'owned', until })).toBe(1)
    clearInterval(watch)
    expect(await opened.store.pushes.findPush(push.lookup)).toBeNull()
    expect(countRows(`push_id = ${push.id}`)).toBe(0)
    expect(turns).toBeGreaterThan(2)
    for (const other of others) expect(await readLog(other)).toHaveLength(6_001)
  },
)

test('a process that ends while a long log is purged goes on at the next sweep', async () => {
  const push = await storePush(opened, MANY_VIEWS)
  await visitAll(push, times('view', 2_500))
  await opened.store.pushes.expirePush({ id: push.id, visit: VISIT })
  opened.clock.advance(DAY)
  const purging = opened.store.expiry.purgeExpired({ of: 'owned', until: opened.clock.now() })
  while (countRows() > 2_000) await Bun.sleep(0)
  const before = countRows()
  if (before > 0) expect(await readLog(push)).toHaveLength(before)
  await purging
  expect(countRows()).toBe(0)
})

test('below the floor of free space failures are only counted, and everything else is still written down', async () => {
  const { dataDir, clock } = opened
  await opened.store.close()
  opened = await openTestStore({ dataDir, clock, minFreeSpace: Number.MAX_SAFE_INTEGER })
  await opened.store.freeSpace.require().catch(() => undefined)
  const push = await storePush(opened, MANY_VIEWS)
  await visitAll(push, [...times('failed_passphrase', 3), ...times('view', 2), ...times('owner_view', 2)])
  expect(await readLog(push)).toEqual([
    'creation 192.0.2.7',
    ...['view view-0', 'view view-1', 'owner_view owner_view-0', 'owner_view owner_view-1'],
  ])
  expect(await find(push)).toMatchObject({
    failures: 3,
    countedFailures: 3,
    countedFrom: 'failed_passphrase-2',
  })
})
