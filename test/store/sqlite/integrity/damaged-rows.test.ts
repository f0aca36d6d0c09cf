// Damaged rows: reported, removed when that is asked for, and never made valid again or allowed to affect other rows.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { expireAllLapsed, openTestStore, storePush, VISIT } from '../../../support/store.ts'
import { waitUntil } from '../../../support/waiting.ts'
import { useAlteredStore } from './altered-store.ts'

const { at, alter, reopen, idsOf, readLog, lastEntryOf, addTwoAccounts } = useAlteredStore()

test.each(['views = 3', 'expires_at = 1', 'created_at = 1'])(
  'an altered push (%s) does not expire with the others, and is reported once',
  async (change) => {
    const [{ id, lookup }, other] = [await storePush(at.opened), await storePush(at.opened)]
    const told = await reopen()
    const { store, clock } = at.opened
    alter(`UPDATE pushes SET ${change} WHERE id = ${id}`)
    clock.advance(2 * 86_400_000)
    expect(await expireAllLapsed(at.opened)).toBe(1)
    expect(await store.expiry.findNextLapse()).toBeNull()
    expect((await store.pushes.findPush(other.lookup))?.expiredOn).not.toBeNull()
    await expect(store.pushes.findPush(lookup)).rejects.toThrow('damaged on disk')
    expect(told).toEqual([expect.stringContaining(`push ${id} is not as it was written`)])
  },
)

test.each(['expired_on = 1', 'expired_on = 1, deleted = 1', 'owner_id = 1, expired_on = 1'])(
  'an altered push (%s) is not purged, and is reported once',
  async (change) => {
    await addTwoAccounts()
    const { id, lookup } = await storePush(at.opened)
    const told = await reopen()
    const { store, clock } = at.opened
    alter(`UPDATE pushes SET ${change} WHERE id = ${id}`)
    for (const of of ['anonymous', 'owned', 'anonymous', 'owned'] as const)
      expect(await store.expiry.purgeExpired({ of, until: clock.now() })).toBe(0)
    await expect(store.pushes.findPush(lookup)).rejects.toThrow('damaged on disk')
    expect(told).toEqual([expect.stringContaining(`push ${id} is not as it was written`)])
  },
)

test('after a temporary failure of the disk, pushes still expire', async () => {
  await storePush(at.opened)
  const { store, clock } = at.opened
  clock.advance(2 * 86_400_000)
  alter(`CREATE TRIGGER failing BEFORE UPDATE ON pushes BEGIN SELECT no_such_function(); END`)
  await expect(store.expiry.expireLapsed()).rejects.toThrow('no_such_function')
  alter('DROP TRIGGER failing')
  expect(await store.expiry.expireLapsed()).toBe(1)
})

test('removing an account does not remove a push that only damage has assigned to it', async () => {
  await addTwoAccounts()
  const { store } = at.opened
  const own = await storePush(at.opened, { ownerId: 2 })
  const others = [await storePush(at.opened, { ownerId: 1 }), await storePush(at.opened)]
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
  const { store } = at.opened
  const owner = await store.accounts.addAccount({
    email: 'ann@example.org',
    passwordHash: 'x',
    isAdmin: false,
  })
  const { lookup } = await storePush(at.opened, { ownerId: owner.id })
  const other = await storePush(at.opened)
  const hash = Buffer.alloc(32, 1)
  const whom = { accountId: owner.id, email: null, isAdmin: false, createdBy: null, session: null }
  await store.accountLinks.addLink({ hash, purpose: 'reset', endsTwoFactor: true, ...whom })
  await store.accountLinks.useLink({ hash, email: '', passwordHash: 'y' })
  expect(await store.pushes.findPush(lookup)).toMatchObject({ ownerId: null })
  expect(await store.pushes.findPush(other.lookup)).toMatchObject({ ownerId: null })
})

test('a push that cannot be written is reported once, and the others still expire and are purged', async () => {
  const told = await reopen()
  const { store, clock } = at.opened
  const all = [await storePush(at.opened), await storePush(at.opened), await storePush(at.opened)]
  // As a page of an index would that says otherwise than its table.
  const refuse = `WHEN old.id = ${all[1]?.id} BEGIN SELECT RAISE(ABORT, 'malformed'); END`
  alter(`CREATE TRIGGER damaged BEFORE UPDATE ON pushes ${refuse}`)
  clock.advance(2 * 86_400_000)
  expect(await expireAllLapsed(at.opened)).toBe(2)
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
  const { store } = at.opened
  const [{ id }, other] = [await storePush(at.opened), await storePush(at.opened)]
  const keyOf = async () =>
    (await store.pushes.findSealedPush(other.lookup))?.sealed?.secrets.wrappedKey.toHex()
  const before = await keyOf()
  alter(`UPDATE push_secrets SET key_slot = 2 WHERE push_id = ${id}`)
  await store.pushes.expirePush({ id, visit: VISIT })
  await storePush(at.opened)
  expect(await keyOf()).toBe(before)
  expect(before).toHaveLength(124)
})

test('an altered owner stays detectable when that account loses its pushes', async () => {
  const { store } = at.opened
  const [ann, bob] = await Promise.all(
    ['ann@example.org', 'bob@example.org'].map((email) =>
      store.accounts.addAccount({ email, passwordHash: 'x', isAdmin: false }),
    ),
  )
  const { id, lookup } = await storePush(at.opened, { ownerId: ann?.id ?? 0 })
  alter(`UPDATE pushes SET owner_id = ${bob?.id} WHERE id = ${id}`)
  const hash = Buffer.alloc(32, 1)
  const whom = { accountId: bob?.id ?? 0, email: null, isAdmin: false, createdBy: null, session: null }
  await store.accountLinks.addLink({ hash, purpose: 'reset', endsTwoFactor: true, ...whom })
  await store.accountLinks.useLink({ hash, email: '', passwordHash: 'y' })
  await expect(store.pushes.findPush(lookup)).rejects.toThrow('damaged on disk')
})

test('an entry whose altered link leads to another push takes nothing from that push', async () => {
  const { store, clock } = at.opened
  const [{ id }, other] = [await storePush(at.opened), await storePush(at.opened)]
  await store.pushes.expirePush({ id: other.id, visit: VISIT })
  alter(`UPDATE audit_entries SET previous = ${lastEntryOf(other.id)}, n = 5 WHERE id = ${lastEntryOf(id)}`)
  await store.pushes.expirePush({ id, visit: VISIT })
  clock.advance(1000)
  alter(`UPDATE pushes SET expired_on = ${clock.now() + 1000} WHERE id = ${other.id}`)
  expect(await store.expiry.purgeExpired({ of: 'anonymous', until: clock.now() })).toBe(1)
  alter(`UPDATE pushes SET checksum = NULL WHERE id = ${other.id}`)
  expect(await readLog(other.id)).toHaveLength(2)
})

test('soon after the start every damaged row is reported, a hundred of them by name', async () => {
  const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: false }
  await at.opened.store.accounts.addAccount(account)
  for (let n = 0; n < 300; n += 1) await storePush(at.opened)
  alter("UPDATE accounts SET email = 'bob@example.org'")
  alter('UPDATE pushes SET views = 1 WHERE id IN (7, 250)')
  alter("UPDATE push_secrets SET salt = x'01' WHERE push_id = 8")
  alter('DELETE FROM push_secrets WHERE push_id = 9')
  alter('UPDATE audit_entries SET at = at + 1 WHERE id = 299')
  let told = await reopen()
  const pushes = ['push 7', 'push 8', 'push 9', 'push 250']
  const places = ['account 1 (bob@example.org)', ...pushes, 'entry 299 of the audit log']
  await waitUntil(() => told.length === places.length)
  for (const [index, place] of places.entries())
    expect(told[index]).toContain(`damaged on disk: ${place} is not`)

  alter('UPDATE pushes SET views = 1')
  told = await reopen()
  await waitUntil(() => told.some((line) => line.includes('302 places altogether')))
  expect(told).toHaveLength(101)
})

test('--remove-damaged removes damaged pushes with all their traces, and nothing else', async () => {
  const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: false }
  await at.opened.store.accounts.addAccount(account)
  const made = []
  for (let n = 0; n < 8; n += 1) made.push(await storePush(at.opened, { ownerId: n % 2 === 0 ? 1 : null }))
  for (const id of [4, 7]) await at.opened.store.pushes.expirePush({ id, visit: VISIT })
  alter('UPDATE accounts SET created_at = 1')
  alter('UPDATE pushes SET views = 1 WHERE id = 1')
  alter('UPDATE pushes SET last_entry = 2 WHERE id = 4')
  alter("UPDATE push_secrets SET salt = x'01' WHERE push_id = 5")
  alter('UPDATE pushes SET files = 1, checksum = NULL WHERE id = 6')
  alter('UPDATE audit_entries SET at = at + 1 WHERE id = 2')
  await at.opened.store.close()
  const told: string[] = []
  const warned: string[] = []
  const again = {
    dataDir: at.opened.dataDir,
    clock: at.opened.clock,
    onError: (cause: unknown) => told.push(String(cause)),
    onWarning: (warning: string) => warned.push(warning),
  }
  at.opened = await openTestStore({ ...again, removeDamaged: true })
  await waitUntil(() => warned.length === 6)
  expect(warned.slice(1, 5)).toEqual([1, 4, 5, 6].map((id) => `push ${id} was damaged and is removed`))
  expect([warned[0], warned[5]].join()).toMatch(/will be removed;.*All pushes have been checked/)
  expect(told).toHaveLength(6)
  expect(await idsOf(made)).toEqual([...[null, 2, 3, null, null, null, 7, 8]])
  const database = new Database(join(at.opened.dataDir, 'oncebox.db'), { readonly: true })
  const left = database.query('SELECT DISTINCT push_id AS id FROM audit_entries ORDER BY id').all()
  expect(left).toEqual([{ id: 2 }, { id: 3 }, { id: 7 }, { id: 8 }])
  const keys = database.query('SELECT count(*) AS n FROM push_keys WHERE wrapped_key <> zeroblob(62)').get()
  expect(keys).toEqual({ n: 3 })
  database.close()
})

test('a push that reads correctly at the second try is not removed', async () => {
  const all = [await storePush(at.opened), await storePush(at.opened)]
  alter('UPDATE pushes SET views = 1')
  await at.opened.store.close()
  const warned: string[] = []
  at.opened = await openTestStore({
    dataDir: at.opened.dataDir,
    clock: at.opened.clock,
    removeDamaged: true,
    onError: (cause) => {
      if (String(cause).includes('push 2 ')) alter('UPDATE pushes SET views = 0 WHERE id = 2')
    },
    onWarning: (warning) => warned.push(warning),
  })
  await waitUntil(() => warned.length === 3)
  expect(warned[1]).toBe('push 1 was damaged and is removed')
  expect(await idsOf(all)).toEqual([null, 2])
})

test('a purged push leaves no log entry behind, even if its chain is broken', async () => {
  const { store, clock } = at.opened
  const [{ id }, other] = [await storePush(at.opened), await storePush(at.opened)]
  for (let n = 0; n < 3; n += 1)
    await store.pushes.refusePassphrase({ id, visit: VISIT, wrong: false, maxTries: 0 })
  await store.pushes.expirePush({ id, visit: VISIT })
  alter('UPDATE audit_entries SET previous = 2 WHERE id = 4')
  clock.advance(1000)
  expect(await store.expiry.purgeExpired({ of: 'anonymous', until: clock.now() })).toBe(1)
  const database = new Database(join(at.opened.dataDir, 'oncebox.db'), { readonly: true })
  expect(database.query('SELECT push_id AS id FROM audit_entries').all()).toEqual([{ id: other.id }])
  database.close()
})

test('damaged rows do not delay the expiry of those behind them', async () => {
  for (let n = 0; n < 350; n += 1) await storePush(at.opened)
  const told = await reopen()
  const { store, clock } = at.opened
  alter('UPDATE pushes SET views = 3 WHERE id <= 330')
  clock.advance(2 * 86_400_000)
  expect(await expireAllLapsed(at.opened)).toBe(20)
  expect(told.filter((line) => line.includes('push'))).toHaveLength(100)
  expect(store.damage.count()).toBe(330)
})
