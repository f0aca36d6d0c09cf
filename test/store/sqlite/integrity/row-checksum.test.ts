// Values that the disk altered: noticed wherever their row is read, whichever column it is, and never made right again.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { getTableConfig } from 'drizzle-orm/sqlite-core'
import { accounts, auditEntries, pushes } from '../../../../src/store/sqlite/engine/schema.ts'
import { checksumOf } from '../../../../src/store/sqlite/integrity/row-checksum.ts'
import { alterDatabase } from '../../../support/damage.ts'
import { expireAllLapsed, openTestStore, storePush, type TestStore, VISIT } from '../../../support/store.ts'

let opened: TestStore

beforeEach(async () => {
  opened = await openTestStore()
})
afterEach(() => opened.close())

const alter = (statement: string) => alterDatabase(opened.dataDir, statement)

const columnsOf = (table: Parameters<typeof getTableConfig>[0]) =>
  getTableConfig(table)
    .columns.map((column) => ({ name: column.name, type: column.getSQLType() }))
    .filter(({ name }) => !['id', 'checksum'].includes(name))

/** Another value of the same type, also for what was null. */
const altered = ({ name, type }: { name: string; type: string }) => {
  if (name === 'lookup') return `x'${'ee'.repeat(16)}'`
  if (type === 'text') return `${name} || '.'`
  return type === 'blob' ? "x'ff'" : `CASE WHEN ${name} = 1 THEN 0 ELSE coalesce(${name}, 0) + 1 END`
}

test.each(columnsOf(pushes))('pushes.$name', async (column) => {
  const { store } = opened
  const owner = await store.accounts.addAccount({
    email: 'ann@example.org',
    passwordHash: 'x',
    isAdmin: false,
  })
  const { id, lookup } = await storePush(opened, { ownerId: owner.id })
  const other = await storePush(opened)
  expect((await store.pushes.findPush(lookup))?.id).toBe(id)
  alter(`UPDATE pushes SET ${column.name} = ${altered(column)} WHERE id = ${id}`)
  const found = column.name === 'lookup' ? Buffer.alloc(16, 0xee) : lookup
  await expect(store.pushes.findPush(found)).rejects.toThrow(`push ${id} is not as it was written`)
  expect((await store.pushes.findPush(other.lookup))?.id).toBe(other.id)
})

test.each(columnsOf(auditEntries))('audit_entries.$name', async (column) => {
  const { store } = opened
  const { id } = await storePush(opened)
  await store.pushes.expirePush({ id, visit: VISIT })
  const push = { id }
  expect((await readLog(id)).map(({ kind }) => kind)).toEqual(['creation', 'expire'])
  alter(`UPDATE audit_entries SET ${column.name} = ${altered(column)} WHERE id = ${lastEntryOf(id)}`)
  await expect(readLog(id)).rejects.toThrow('damaged on disk')
  await expect(store.audit.listPage(push, 1)).rejects.toThrow('damaged on disk')
})

test.each(columnsOf(accounts))('accounts.$name', async (column) => {
  const { store } = opened
  const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: false }
  const { id } = await store.accounts.addAccount(account)
  expect((await store.accounts.findById(id))?.email).toBe(account.email)
  alter(`UPDATE accounts SET ${column.name} = ${altered(column)}`)
  await expect(store.accounts.findById(id)).rejects.toThrow(`damaged on disk: account ${id} (`)
  await store.accounts.setPasswordHash({ id, passwordHash: 'y' })
  await expect(store.accounts.findById(id)).rejects.toThrow(`damaged on disk: account ${id} (`)
})

test.each(['salt', 'passphrase_salt', 'key_slot'])('push_secrets.%s', async (name) => {
  const { store } = opened
  const { id, lookup } = await storePush(opened)
  await storePush(opened)
  expect((await store.pushes.findSealedPush(lookup))?.sealed).not.toBeNull()
  const other = name === 'key_slot' ? '2' : `x'${'01'.repeat(40)}'`
  alter(`UPDATE push_secrets SET ${name} = ${other} WHERE push_id = ${id}`)
  await expect(store.pushes.findSealedPush(lookup)).rejects.toThrow(`push ${id} is not as it was written`)
})

const hash = Buffer.alloc(32, 7)

async function addTwoAccounts(): Promise<void> {
  for (const email of ['ann@example.org', 'bob@example.org'])
    await opened.store.accounts.addAccount({ email, passwordHash: 'x', isAdmin: email.startsWith('ann') })
}

test.each(['account_id = 2', "name = 'other'", "prefix = 'other'", 'created_at = 7'])(
  'api_tokens.%s',
  async (change) => {
    await addTwoAccounts()
    const { apiTokens } = opened.store
    await apiTokens.addApiToken({ accountId: 1, name: 'backup', prefix: 'abc', hash, session: null })
    expect((await apiTokens.findByHash(hash))?.account.id).toBe(1)
    alter('UPDATE api_tokens SET last_used_at = 7')
    expect((await apiTokens.findByHash(hash))?.account.id).toBe(1)
    alter(`UPDATE api_tokens SET ${change}`)
    await expect(apiTokens.findByHash(hash)).rejects.toThrow('API token 1 is not as it was written')
  },
)

test.each([
  ...['account_id = 2', "ip = '192.0.2.9'", "user_agent = 'other'"],
  ...['created_at = created_at + 1', 'confirmed_at = confirmed_at + 1'],
])('sessions.%s', async (change) => {
  await addTwoAccounts()
  const told = await reopen()
  const { sessions } = opened.store
  await sessions.addSession({ accountId: 1, hash, visit: VISIT, tested: 'x' })
  expect((await sessions.findByHash(hash))?.account.id).toBe(1)
  alter(`UPDATE sessions SET ${change}`)
  for (let n = 0; n < 3; n += 1) expect(await sessions.findByHash(hash)).toBeNull()
  expect(told).toEqual([expect.stringContaining('session 1 is not as it was written')])
})

test('a session that is confirmed, or was made before that was noted, keeps a checksum that holds', async () => {
  await addTwoAccounts()
  const { sessions } = opened.store
  await sessions.addSession({ accountId: 1, hash, visit: VISIT, tested: 'x' })
  const { id, createdAt } = (await sessions.findByHash(hash))?.session ?? { id: 0, createdAt: 0 }
  const values = [1, hash, createdAt, VISIT.ip, VISIT.userAgent]
  alter(`UPDATE sessions SET confirmed_at = 0, checksum = ${checksumOf(values)}`)
  expect((await sessions.findByHash(hash))?.session.confirmedAt).toBe(0)
  opened.clock.advance(1000)
  expect(await sessions.confirmSession({ id, tested: 'another' })).toBe(false)
  expect(await sessions.confirmSession({ id: id + 1, tested: 'x' })).toBe(false)
  expect(await sessions.confirmSession({ id, tested: 'x' })).toBe(true)
  expect((await sessions.findByHash(hash))?.session.confirmedAt).toBe(opened.clock.now())
})

test.each([
  ...['account_id = 1', 'is_admin = 1', 'ends_two_factor = 1', 'expires_at = expires_at + 1'],
  ...["purpose = 'invite'", "email = 'eve@example.org'", 'created_by = 2'],
])('account_links.%s', async (change) => {
  await addTwoAccounts()
  const { accountLinks } = opened.store
  const whom = {
    accountId: 2,
    email: null,
    isAdmin: false,
    endsTwoFactor: false,
    createdBy: 1,
    session: null,
  }
  await accountLinks.addLink({ hash, purpose: 'reset', ...whom })
  expect((await accountLinks.findLink(hash))?.accountId).toBe(2)
  const told = await reopen()
  alter(`UPDATE account_links SET ${change}`)
  await expect(opened.store.accountLinks.findLink(hash)).rejects.toThrow(
    'account link 1 is not as it was written',
  )
  expect(await opened.store.accountLinks.listLinks()).toEqual([])
  expect(told).toEqual([expect.stringContaining('account link 1 is not as it was written')])
})

test.each(['lifetime = 1', 'views = 9', 'retrieval_step = 1', 'deletable_by_viewer = 0', 'account_id = 1'])(
  'push_choices.%s',
  async (change) => {
    await addTwoAccounts()
    const choices = { lifetime: 60_000, views: 3, retrievalStep: false, deletableByViewer: null }
    await opened.store.pushChoices.keepChoices({ accountId: 2, choices })
    const told = await reopen()
    alter(`UPDATE push_choices SET ${change}`)
    const owner = change === 'account_id = 1' ? 1 : 2
    expect(await opened.store.pushChoices.findChoices(owner)).toBeNull()
    expect(told).toEqual([
      expect.stringContaining(`the row of choices of account ${owner} is not as it was written`),
    ])
  },
)

test.each(["template = '{link}!'", 'account_id = 1'])('message_templates.%s', async (change) => {
  await addTwoAccounts()
  await opened.store.messageTemplates.keepTemplate({ accountId: 2, template: '{link}' })
  const told = await reopen()
  alter(`UPDATE message_templates SET ${change}`)
  const owner = change === 'account_id = 1' ? 1 : 2
  expect(await opened.store.messageTemplates.findTemplate(owner)).toBeNull()
  expect(told).toEqual([
    expect.stringContaining(`the row of the message of account ${owner} is not as it was written`),
  ])
})

test('a damaged administrator does not open the setup of a first one', async () => {
  await addTwoAccounts()
  alter('UPDATE accounts SET is_admin = 0')
  expect(await opened.store.accountLinks.hasAdmin()).toBe(true)
})

test('an altered clock mark is refused', async () => {
  await storePush(opened)
  await opened.store.close()
  alter('UPDATE instance SET clock_mark = clock_mark - 1000')
  await expect(openTestStore(opened)).rejects.toThrow('--accept-clock')
  opened = await openTestStore({ dataDir: opened.dataDir, clock: opened.clock, acceptClock: true })
  await storePush(opened)
  await opened.store.close()
  opened = await openTestStore({ dataDir: opened.dataDir, clock: opened.clock })
})

test('a row from before there were checksums is accepted, and gets one when it is written again', async () => {
  const { store } = opened
  const { id, lookup } = await storePush(opened)
  alter('UPDATE pushes SET checksum = NULL, views = 1')
  expect(await store.pushes.findPush(lookup)).toMatchObject({ views: 1, checksum: null })
  await store.pushes.refusePassphrase({ id, visit: VISIT, wrong: true, maxTries: 0 })
  expect(await store.pushes.findPush(lookup)).toMatchObject({ checksum: expect.any(Number) })
  alter('UPDATE pushes SET views = 2')
  await expect(store.pushes.findPush(lookup)).rejects.toThrow('damaged on disk')
})

/** Opens the store again; returns what it tells of damage. */
async function reopen(): Promise<string[]> {
  const told: string[] = []
  await opened.store.close()
  const onError = (cause: unknown) => told.push(String(cause))
  opened = await openTestStore({ dataDir: opened.dataDir, clock: opened.clock, onError })
  return told
}

test.each(['views = 3', 'expires_at = 1', 'created_at = 1'])(
  'what is altered (%s) does not expire with the others, and is told once',
  async (change) => {
    const [{ id, lookup }, other] = [await storePush(opened), await storePush(opened)]
    const told = await reopen()
    const { store, clock } = opened
    alter(`UPDATE pushes SET ${change} WHERE id = ${id}`)
    clock.advance(2 * 86_400_000)
    expect(await expireAllLapsed(opened)).toBe(1)
    expect(await store.expiry.findNextLapse()).toBeNull()
    expect((await store.pushes.findPush(other.lookup))?.expiredOn).not.toBeNull()
    await expect(store.pushes.findPush(lookup)).rejects.toThrow('damaged on disk')
    expect(told).toEqual([expect.stringContaining(`push ${id} is not as it was written`)])
  },
)

test.each(['expired_on = 1', 'expired_on = 1, deleted = 1', 'owner_id = 1, expired_on = 1'])(
  'what is altered (%s) is not purged, and is told once',
  async (change) => {
    await addTwoAccounts()
    const { id, lookup } = await storePush(opened)
    const told = await reopen()
    const { store, clock } = opened
    alter(`UPDATE pushes SET ${change} WHERE id = ${id}`)
    for (const of of ['anonymous', 'owned', 'anonymous', 'owned'] as const)
      expect(await store.expiry.purgeExpired({ of, until: clock.now() })).toBe(0)
    await expect(store.pushes.findPush(lookup)).rejects.toThrow('damaged on disk')
    expect(told).toEqual([expect.stringContaining(`push ${id} is not as it was written`)])
  },
)

test('after a temporary failure of the disk, pushes still expire', async () => {
  await storePush(opened)
  const { store, clock } = opened
  clock.advance(2 * 86_400_000)
  alter(`CREATE TRIGGER failing BEFORE UPDATE ON pushes BEGIN SELECT no_such_function(); END`)
  await expect(store.expiry.expireLapsed()).rejects.toThrow('no_such_function')
  alter('DROP TRIGGER failing')
  expect(await store.expiry.expireLapsed()).toBe(1)
})

test('removing an account does not remove a push that only damage has assigned to it', async () => {
  await addTwoAccounts()
  const { store } = opened
  const own = await storePush(opened, { ownerId: 2 })
  const others = [await storePush(opened, { ownerId: 1 }), await storePush(opened)]
  alter(`UPDATE pushes SET owner_id = 2`)
  expect(await store.accounts.removePushesOf(2)).toBe(1)
  expect(await store.accounts.removePushesOf(2)).toBe(0)
  await store.accounts.removeAccount(2)
  expect(await store.pushes.findPush(own.lookup)).toBeNull()
  // Whose it was is known as wrong, until a backup is there; nobody's push is nobody's again.
  await expect(store.pushes.findPush(others[0]?.lookup ?? own.lookup)).rejects.toThrow('damaged on disk')
  expect(await store.pushes.findPush(others[1]?.lookup ?? own.lookup)).toMatchObject({ ownerId: null })
})

test('pushes that an account loses keep fitting checksums', async () => {
  const { store } = opened
  const owner = await store.accounts.addAccount({
    email: 'ann@example.org',
    passwordHash: 'x',
    isAdmin: false,
  })
  const { lookup } = await storePush(opened, { ownerId: owner.id })
  const other = await storePush(opened)
  const hash = Buffer.alloc(32, 1)
  const whom = { accountId: owner.id, email: null, isAdmin: false, createdBy: null, session: null }
  await store.accountLinks.addLink({ hash, purpose: 'reset', endsTwoFactor: true, ...whom })
  await store.accountLinks.useLink({ hash, email: '', passwordHash: 'y' })
  expect(await store.pushes.findPush(lookup)).toMatchObject({ ownerId: null })
  expect(await store.pushes.findPush(other.lookup)).toMatchObject({ ownerId: null })
})

test('a push that cannot be written is reported once, and the others still expire and are purged', async () => {
  const told = await reopen()
  const { store, clock } = opened
  const all = [await storePush(opened), await storePush(opened), await storePush(opened)]
  // As a page of an index would that says otherwise than its table.
  const refuse = `WHEN old.id = ${all[1]?.id} BEGIN SELECT RAISE(ABORT, 'malformed'); END`
  alter(`CREATE TRIGGER damaged BEFORE UPDATE ON pushes ${refuse}`)
  clock.advance(2 * 86_400_000)
  expect(await expireAllLapsed(opened)).toBe(2)
  expect(await store.expiry.findNextLapse()).toBeNull()
  expect(await store.expiry.expireLapsed()).toBe(0)
  expect(told).toHaveLength(1)
  clock.advance(86_400_000)
  const purge = () => store.expiry.purgeExpired({ of: 'anonymous', until: clock.now() })
  let purged = 0
  // A slow machine needs more than one step.
  for (let step = await purge(); step > 0; step = await purge()) purged += step
  expect(purged).toBe(2)
  expect(told).toHaveLength(1)
})

test('a key slot whose altered number is that of another push is not wiped', async () => {
  const { store } = opened
  const [{ id }, other] = [await storePush(opened), await storePush(opened)]
  const keyOf = async () =>
    (await store.pushes.findSealedPush(other.lookup))?.sealed?.secrets.wrappedKey.toHex()
  const before = await keyOf()
  alter(`UPDATE push_secrets SET key_slot = 2 WHERE push_id = ${id}`)
  await store.pushes.expirePush({ id, visit: VISIT })
  await storePush(opened)
  expect(await keyOf()).toBe(before)
  expect(before).toHaveLength(124)
})

test('an altered owner stays detectable when that account loses its pushes', async () => {
  const { store } = opened
  const [ann, bob] = await Promise.all(
    ['ann@example.org', 'bob@example.org'].map((email) =>
      store.accounts.addAccount({ email, passwordHash: 'x', isAdmin: false }),
    ),
  )
  const { id, lookup } = await storePush(opened, { ownerId: ann?.id ?? 0 })
  alter(`UPDATE pushes SET owner_id = ${bob?.id} WHERE id = ${id}`)
  const hash = Buffer.alloc(32, 1)
  const whom = { accountId: bob?.id ?? 0, email: null, isAdmin: false, createdBy: null, session: null }
  await store.accountLinks.addLink({ hash, purpose: 'reset', endsTwoFactor: true, ...whom })
  await store.accountLinks.useLink({ hash, email: '', passwordHash: 'y' })
  await expect(store.pushes.findPush(lookup)).rejects.toThrow('damaged on disk')
})

test('an entry whose altered link leads to another push takes nothing from that push', async () => {
  const { store, clock } = opened
  const [{ id }, other] = [await storePush(opened), await storePush(opened)]
  await store.pushes.expirePush({ id: other.id, visit: VISIT })
  alter(`UPDATE audit_entries SET previous = ${lastEntryOf(other.id)}, n = 5 WHERE id = ${lastEntryOf(id)}`)
  await store.pushes.expirePush({ id, visit: VISIT })
  clock.advance(1000)
  alter(`UPDATE pushes SET expired_on = ${clock.now() + 1000} WHERE id = ${other.id}`)
  expect(await store.expiry.purgeExpired({ of: 'anonymous', until: clock.now() })).toBe(1)
  alter(`UPDATE pushes SET checksum = NULL WHERE id = ${other.id}`)
  expect(await readLog(other.id)).toHaveLength(2)
})

test('every single value changes the checksum, and so do null, 0 and false in place of each other', () => {
  const rows = [[0], [1], [null], ['0'], [2 ** 32], [2 ** 40], [-1], [new Uint8Array(1)], [0, null]]
  expect(new Set(rows.map(checksumOf)).size).toBe(rows.length)
  expect(checksumOf([1, 2])).not.toBe(checksumOf([2, 1]))
})

test('columns that are added with a default of 0 keep the checksums of earlier rows', () => {
  expect(checksumOf([1, 'a', 0, false])).toBe(checksumOf([1, 'a']))
})

test('soon after the start every damaged row is reported, a hundred of them by name', async () => {
  const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: false }
  await opened.store.accounts.addAccount(account)
  for (let n = 0; n < 300; n += 1) await storePush(opened)
  alter("UPDATE accounts SET email = 'bob@example.org'")
  alter('UPDATE pushes SET views = 1 WHERE id IN (7, 250)')
  alter("UPDATE push_secrets SET salt = x'01' WHERE push_id = 8")
  alter('UPDATE audit_entries SET at = at + 1 WHERE id = 299')
  let told = await reopen()
  const places = ['account 1 (bob@example.org)', 'push 7', 'push 8', 'push 250', 'entry 299 of the audit log']
  await waitFor(() => told.length === places.length)
  for (const [index, place] of places.entries())
    expect(told[index]).toContain(`damaged on disk: ${place} is not`)

  alter('UPDATE pushes SET views = 1')
  told = await reopen()
  await waitFor(() => told.some((line) => line.includes('302 places altogether')))
  expect(told).toHaveLength(101)
})

test('--remove-damaged removes damaged pushes with all their traces, and nothing else', async () => {
  const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: false }
  await opened.store.accounts.addAccount(account)
  const made = []
  for (let n = 0; n < 8; n += 1) made.push(await storePush(opened, { ownerId: n % 2 === 0 ? 1 : null }))
  for (const id of [4, 7]) await opened.store.pushes.expirePush({ id, visit: VISIT })
  alter('UPDATE accounts SET created_at = 1')
  alter('UPDATE pushes SET views = 1 WHERE id = 1')
  alter('UPDATE pushes SET last_entry = 2 WHERE id = 4')
  alter("UPDATE push_secrets SET salt = x'01' WHERE push_id = 5")
  alter('UPDATE pushes SET files = 1, checksum = NULL WHERE id = 6')
  alter('UPDATE audit_entries SET at = at + 1 WHERE id = 2')
  await opened.store.close()
  const told: string[] = []
  const warned: string[] = []
  const again = {
    dataDir: opened.dataDir,
    clock: opened.clock,
    onError: (cause: unknown) => told.push(String(cause)),
    onWarning: (warning: string) => warned.push(warning),
  }
  opened = await openTestStore({ ...again, removeDamaged: true })
  await waitFor(() => warned.length === 6)
  expect(warned.slice(1, 5)).toEqual([1, 4, 5, 6].map((id) => `push ${id} was damaged and is removed`))
  expect([warned[0], warned[5]].join()).toMatch(/will be removed;.*All pushes have been checked/)
  expect(told).toHaveLength(6)
  expect(await idsOf(made)).toEqual([...[null, 2, 3, null, null, null, 7, 8]])
  const database = new Database(join(opened.dataDir, 'oncebox.db'), { readonly: true })
  const left = database.query('SELECT DISTINCT push_id AS id FROM audit_entries ORDER BY id').all()
  expect(left).toEqual([{ id: 2 }, { id: 3 }, { id: 7 }, { id: 8 }])
  const keys = database.query('SELECT count(*) AS n FROM push_keys WHERE wrapped_key <> zeroblob(62)').get()
  expect(keys).toEqual({ n: 3 })
  database.close()
})

test('a push that reads correctly at the second try is not removed', async () => {
  const all = [await storePush(opened), await storePush(opened)]
  alter('UPDATE pushes SET views = 1')
  await opened.store.close()
  const warned: string[] = []
  opened = await openTestStore({
    dataDir: opened.dataDir,
    clock: opened.clock,
    removeDamaged: true,
    onError: (cause) => {
      if (String(cause).includes('push 2 ')) alter('UPDATE pushes SET views = 0 WHERE id = 2')
    },
    onWarning: (warning) => warned.push(warning),
  })
  await waitFor(() => warned.length === 3)
  expect(warned[1]).toBe('push 1 was damaged and is removed')
  expect(await idsOf(all)).toEqual([null, 2])
})

test('a purged push leaves no log entry behind, even if its chain is broken', async () => {
  const { store, clock } = opened
  const [{ id }, other] = [await storePush(opened), await storePush(opened)]
  for (let n = 0; n < 3; n += 1)
    await store.pushes.refusePassphrase({ id, visit: VISIT, wrong: false, maxTries: 0 })
  await store.pushes.expirePush({ id, visit: VISIT })
  alter('UPDATE audit_entries SET previous = 2 WHERE id = 4')
  clock.advance(1000)
  expect(await store.expiry.purgeExpired({ of: 'anonymous', until: clock.now() })).toBe(1)
  const database = new Database(join(opened.dataDir, 'oncebox.db'), { readonly: true })
  expect(database.query('SELECT push_id AS id FROM audit_entries').all()).toEqual([{ id: other.id }])
  database.close()
})

test('damaged rows do not delay the expiry of those behind them', async () => {
  for (let n = 0; n < 350; n += 1) await storePush(opened)
  const told = await reopen()
  const { store, clock } = opened
  alter('UPDATE pushes SET views = 3 WHERE id <= 330')
  clock.advance(2 * 86_400_000)
  expect(await expireAllLapsed(opened)).toBe(20)
  expect(told.filter((line) => line.includes('push'))).toHaveLength(100)
  expect(store.damage.count()).toBe(330)
})

function idsOf(some: { lookup: Uint8Array }[]): Promise<(number | null)[]> {
  const { findPush } = opened.store.pushes
  return Promise.all(some.map(async ({ lookup }) => (await findPush(lookup))?.id ?? null))
}

async function readLog(id: number) {
  return (await Array.fromAsync(opened.store.audit.readAll({ id }))).flat()
}

function lastEntryOf(id: number): number {
  const database = new Database(join(opened.dataDir, 'oncebox.db'), { readonly: true })
  const sql = `SELECT last_entry AS lastEntry FROM pushes WHERE id = ${id}`
  const found = database.query<{ lastEntry: number }, []>(sql).get()
  database.close()
  return found?.lastEntry ?? 0
}

async function waitFor(condition: () => boolean): Promise<void> {
  for (let n = 0; n < 200 && !condition(); n += 1) await Bun.sleep(50)
  expect(condition()).toBe(true)
}
