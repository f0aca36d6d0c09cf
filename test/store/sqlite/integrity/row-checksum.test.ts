// Values that the disk altered: detected wherever their row is read, in every column.

import { expect, test } from 'bun:test'
import { getTableConfig } from 'drizzle-orm/sqlite-core'
import { auditEntries, pushes } from '../../../../src/store/sqlite/engine/schema.ts'
import { checksumOf } from '../../../../src/store/sqlite/integrity/row-checksum.ts'
import { openTestStore, storePush, VISIT } from '../../../support/store.ts'
import { useAlteredStore } from './altered-store.ts'

const { at, alter, reopen, readLog, lastEntryOf, addTwoAccounts } = useAlteredStore()

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
  const { store } = at.opened
  const owner = await store.accounts.addAccount({
    email: 'ann@example.org',
    passwordHash: 'x',
    isAdmin: false,
  })
  const { id, lookup } = await storePush(at.opened, { ownerId: owner.id })
  const other = await storePush(at.opened)
  expect((await store.pushes.findPush(lookup))?.id).toBe(id)
  alter(`UPDATE pushes SET ${column.name} = ${altered(column)} WHERE id = ${id}`)
  const found = column.name === 'lookup' ? Buffer.alloc(16, 0xee) : lookup
  await expect(store.pushes.findPush(found)).rejects.toThrow(`push ${id} is not as it was written`)
  expect((await store.pushes.findPush(other.lookup))?.id).toBe(other.id)
})

test.each(columnsOf(auditEntries))('audit_entries.$name', async (column) => {
  const { store } = at.opened
  const { id } = await storePush(at.opened)
  await store.pushes.expirePush({ id, visit: VISIT })
  const push = { id }
  expect((await readLog(id)).map(({ kind }) => kind)).toEqual(['creation', 'expire'])
  alter(`UPDATE audit_entries SET ${column.name} = ${altered(column)} WHERE id = ${lastEntryOf(id)}`)
  await expect(readLog(id)).rejects.toThrow('damaged on disk')
  await expect(store.audit.listPage(push, 1)).rejects.toThrow('damaged on disk')
})

test.each(['salt', 'passphrase_salt', 'key_slot'])('push_secrets.%s', async (name) => {
  const { store } = at.opened
  const { id, lookup } = await storePush(at.opened)
  await storePush(at.opened)
  expect((await store.pushes.findSealedPush(lookup))?.sealed).not.toBeNull()
  const other = name === 'key_slot' ? '2' : `x'${'01'.repeat(40)}'`
  alter(`UPDATE push_secrets SET ${name} = ${other} WHERE push_id = ${id}`)
  await expect(store.pushes.findSealedPush(lookup)).rejects.toThrow(`push ${id} is not as it was written`)
})

const hash = Buffer.alloc(32, 7)

test.each(['account_id = 2', "name = 'other'", "prefix = 'other'", 'created_at = 7'])(
  'api_tokens.%s',
  async (change) => {
    await addTwoAccounts()
    const { apiTokens } = at.opened.store
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
  const { sessions } = at.opened.store
  await sessions.addSession({ accountId: 1, hash, visit: VISIT, tested: 'x' })
  expect((await sessions.findByHash(hash))?.account.id).toBe(1)
  alter(`UPDATE sessions SET ${change}`)
  for (let n = 0; n < 3; n += 1) expect(await sessions.findByHash(hash)).toBeNull()
  expect(told).toEqual([expect.stringContaining('session 1 is not as it was written')])
})

test('a session that is confirmed, or was made before that was noted, keeps a checksum that holds', async () => {
  await addTwoAccounts()
  const { sessions } = at.opened.store
  await sessions.addSession({ accountId: 1, hash, visit: VISIT, tested: 'x' })
  const { id, createdAt } = (await sessions.findByHash(hash))?.session ?? { id: 0, createdAt: 0 }
  const values = [1, hash, createdAt, VISIT.ip, VISIT.userAgent]
  alter(`UPDATE sessions SET confirmed_at = 0, checksum = ${checksumOf(values)}`)
  expect((await sessions.findByHash(hash))?.session.confirmedAt).toBe(0)
  at.opened.clock.advance(1000)
  expect(await sessions.confirmSession({ id, tested: 'another' })).toBe(false)
  expect(await sessions.confirmSession({ id: id + 1, tested: 'x' })).toBe(false)
  expect(await sessions.confirmSession({ id, tested: 'x' })).toBe(true)
  expect((await sessions.findByHash(hash))?.session.confirmedAt).toBe(at.opened.clock.now())
})

test.each([
  ...['account_id = 1', 'is_admin = 1', 'ends_two_factor = 1', 'expires_at = expires_at + 1'],
  ...["purpose = 'invite'", "email = 'eve@example.org'", 'created_by = 2'],
])('account_links.%s', async (change) => {
  await addTwoAccounts()
  const { accountLinks } = at.opened.store
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
  await expect(at.opened.store.accountLinks.findLink(hash)).rejects.toThrow(
    'account link 1 is not as it was written',
  )
  expect(await at.opened.store.accountLinks.listLinks()).toEqual([])
  expect(told).toEqual([expect.stringContaining('account link 1 is not as it was written')])
})

test.each(['lifetime = 1', 'views = 9', 'retrieval_step = 1', 'deletable_by_viewer = 0', 'account_id = 1'])(
  'push_choices.%s',
  async (change) => {
    await addTwoAccounts()
    const choices = { lifetime: 60_000, views: 3, retrievalStep: false, deletableByViewer: null }
    await at.opened.store.pushChoices.keepChoices({ accountId: 2, choices })
    const told = await reopen()
    alter(`UPDATE push_choices SET ${change}`)
    const owner = change === 'account_id = 1' ? 1 : 2
    expect(await at.opened.store.pushChoices.findChoices(owner)).toBeNull()
    expect(told).toEqual([
      expect.stringContaining(`the row of choices of account ${owner} is not as it was written`),
    ])
  },
)

test.each(["template = '{link}!'", 'account_id = 1'])('message_templates.%s', async (change) => {
  await addTwoAccounts()
  await at.opened.store.messageTemplates.keepTemplate({ accountId: 2, template: '{link}' })
  const told = await reopen()
  alter(`UPDATE message_templates SET ${change}`)
  const owner = change === 'account_id = 1' ? 1 : 2
  expect(await at.opened.store.messageTemplates.findTemplate(owner)).toBeNull()
  expect(told).toEqual([
    expect.stringContaining(`the row of the message of account ${owner} is not as it was written`),
  ])
})

test('a damaged administrator does not open the setup of a first one', async () => {
  await addTwoAccounts()
  alter('UPDATE accounts SET is_admin = 0')
  expect(await at.opened.store.accountLinks.hasAdmin()).toBe(true)
})

test('an altered clock mark is refused', async () => {
  await storePush(at.opened)
  await at.opened.store.close()
  alter('UPDATE instance SET clock_mark = clock_mark - 1000')
  await expect(openTestStore(at.opened)).rejects.toThrow('--accept-clock')
  at.opened = await openTestStore({ dataDir: at.opened.dataDir, clock: at.opened.clock, acceptClock: true })
  await storePush(at.opened)
  await at.opened.store.close()
  at.opened = await openTestStore({ dataDir: at.opened.dataDir, clock: at.opened.clock })
})

test('a row from before there were checksums is accepted, and gets one when it is written again', async () => {
  const { store } = at.opened
  const { id, lookup } = await storePush(at.opened)
  alter('UPDATE pushes SET checksum = NULL, views = 1')
  expect(await store.pushes.findPush(lookup)).toMatchObject({ views: 1, checksum: null })
  await store.pushes.refusePassphrase({ id, visit: VISIT, wrong: true, maxTries: 0 })
  expect(await store.pushes.findPush(lookup)).toMatchObject({ checksum: expect.any(Number) })
  alter('UPDATE pushes SET views = 2')
  await expect(store.pushes.findPush(lookup)).rejects.toThrow('damaged on disk')
})

test('every single value changes the checksum, and so do null, 0 and false in place of each other', () => {
  const rows = [[0], [1], [null], ['0'], [2 ** 32], [2 ** 40], [-1], [new Uint8Array(1)], [0, null]]
  expect(new Set(rows.map(checksumOf)).size).toBe(rows.length)
  expect(checksumOf([1, 2])).not.toBe(checksumOf([2, 1]))
})

test('columns that are added with a default of 0 keep the checksums of earlier rows', () => {
  expect(checksumOf([1, 'a', 0, false])).toBe(checksumOf([1, 'a']))
})
