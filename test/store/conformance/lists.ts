// Guarantees of every engine for order, pages and time: lists, audit logs, expiry, idempotency keys.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type ListTab, MOST_UNSEEN } from '../../../src/domain/listing.ts'
import { DAY, MINUTE } from '../../../src/domain/time.ts'
import { storePush, VISIT, view } from '../../support/store.ts'
import type { OpenEngine, OpenedEngine } from './engine.ts'

export function describeLists(open: OpenEngine): void {
  let opened: OpenedEngine
  let ownerId: number
  beforeEach(async () => {
    opened = await open()
    const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: false }
    ownerId = (await opened.store.accounts.addAccount(account)).id
  })
  afterEach(() => opened.close())

  const label = { urlToken: Buffer.from('token'), name: null, note: null, request: null }
  const push = (changes: Parameters<typeof storePush>[1] = {}) =>
    storePush(opened, { ownerId, ...changes }, { labels: label })
  const list = async (expired: boolean, pageNumber = 1) => {
    const page = await opened.store.lists.listPushes({ ownerId, expired, pageNumber })
    return page.map((listed) => listed.push.id)
  }

  test('lists are newest first, fifty a page, and contain only pushes of their owner', async () => {
    const ids: number[] = []
    for (let n = 0; n < 52; n += 1) ids.unshift((await push()).id)
    await storePush(opened)
    expect(await list(false)).toEqual(ids.slice(0, 50))
    expect(await list(false, 2)).toEqual(ids.slice(50))
    expect(await list(false, 3)).toEqual([])
    await opened.store.pushes.expirePush({ id: ids[3] ?? 0, visit: VISIT })
    expect(await list(true)).toEqual([ids[3] ?? 0])
    expect(await list(false)).not.toContain(ids[3] ?? 0)
    expect(await opened.store.health.countPushes()).toEqual({ live: 52, expired: 1 })
  })

  const tab = async (
    list: ListTab,
    { pageNumber = 1, pageSize = 50, until = null as number | null } = {},
  ) => {
    const page = await opened.store.lists.listTab({ ownerId, list, pageNumber, pageSize, until })
    return page.map((listed) => listed.push.id)
  }

  test('pushes that arrive or end are marked as new, and under one tab, until the owner opens the list', async () => {
    const { store } = opened
    const [used, lapsed, revoked, deleted, live] = [
      await push({ expireAfterViews: 1 }),
      await push({ expiresAt: opened.clock.now() + MINUTE }),
      await push(),
      await push(),
      await push(),
    ]
    const arrived = await push({ isNew: true })
    await storePush(opened, { expireAfterViews: 1 }).then((anonymous) => view(opened, anonymous))
    await view(opened, used)
    await store.pushes.expirePush({ id: revoked.id, visit: VISIT, isByOwner: true })
    await store.pushes.expirePush({ id: deleted.id, visit: VISIT })
    opened.clock.advance(MINUTE)
    await store.expiry.expireLapsed()
    expect(await tab('new')).toEqual([arrived, deleted, lapsed, used].map(({ id }) => id))
    expect(await tab('new', { pageNumber: 2, pageSize: 2 })).toEqual([lapsed.id, used.id])
    expect(await tab('active')).toEqual([live.id])
    expect(await tab('expired')).toEqual([revoked.id])
    expect(await store.lists.countOwned(ownerId)).toEqual({ active: 1, new: 4, expired: 1 })
    await store.lists.markSeen({ ownerId: ownerId + 1, ids: [used.id] })
    expect(await tab('new')).toHaveLength(4)
    await store.lists.markSeen({ ownerId, ids: [used.id, deleted.id, arrived.id] })
    expect(await tab('new')).toEqual([lapsed.id])
    expect(await tab('active')).toEqual([arrived.id, live.id])
    expect(await tab('expired')).toEqual([deleted.id, revoked.id, used.id])
    expect(await store.lists.countOwned(ownerId)).toEqual({ active: 2, new: 1, expired: 3 })
    // The API has no list of new pushes.
    expect(await list(false)).toEqual([arrived.id, live.id])
    expect(await list(true)).toHaveLength(4)
  })

  test('a page up to a moment leaves out newer pushes', async () => {
    const [old] = [await push(), await push()]
    const until = opened.clock.now()
    opened.clock.advance(1)
    await push()
    expect(await tab('active', { pageNumber: 2, pageSize: 1, until })).toEqual([old.id])
    const arrived = await push({ isNew: true })
    expect(await tab('new', { until })).toEqual([])
    expect(await tab('new', { until: opened.clock.now() })).toEqual([arrived.id])
  })

  test('the first view of an answer by its owner counts as the time when it was read', async () => {
    const { store } = opened
    const account = await store.accounts.findById(ownerId)
    const labels = { ...label, request: Buffer.from('request') }
    const [answer, own] = [await storePush(opened, { ownerId, isNew: true }, { labels }), await push()]
    const readAt = async () => (await store.lists.findLabels(answer.id))?.readAt
    expect(await readAt()).toBeNull()
    for (const { id } of [answer, own, answer]) {
      await store.pushes.claimView({ id, visit: VISIT, lookBy: account })
      opened.clock.advance(MINUTE)
    }
    expect(await readAt()).toBe(opened.clock.now() - 3 * MINUTE)
    expect((await store.lists.findLabels(own.id))?.readAt).toBeNull()
    expect(await tab('new')).toEqual([])
  })

  test('a view by the link marks an answer as read, and its end makes it new again', async () => {
    const answer = await push({ isNew: true, expireAfterViews: 2 })
    await view(opened, answer)
    expect([await tab('new'), await tab('active')]).toEqual([[], [answer.id]])
    await view(opened, answer)
    expect(await tab('new')).toEqual([answer.id])
  })

  test('pushes that arrived or ended since the owner looked are counted, and so are the newest live ones that were opened since', async () => {
    const { store } = opened
    const count = () => store.lists.countUnseen(ownerId)
    const [live, used, old] = [await push(), await push({ expireAfterViews: 1 }), await push()]
    expect(await count()).toBe(0)
    for (const one of [live, used, old]) await view(opened, one)
    await push({ isNew: true })
    expect(await count()).toBe(4)
    expect(await store.lists.countUnseen(ownerId + 1)).toBe(0)
    await store.lists.markSeen({ ownerId, ids: [live.id] })
    expect(await count()).toBe(3)
    await view(opened, live)
    expect(await count()).toBe(4)
    for (let n = 0; n < 100; n += 1) await push()
    expect(await count()).toBe(2)
    for (let n = 0; n < 12; n += 1) await view(opened, await push())
    expect(await count()).toBe(MOST_UNSEEN)
  })

  test('pages that continue after a push are not shifted by pushes that were added or removed', async () => {
    const ids: number[] = []
    for (let n = 0; n < 6; n += 1) ids.unshift((await push()).id)
    const before = async (beforeId: number | undefined, expired = false) => {
      const of = { ownerId, expired, pageNumber: 1, beforeId: beforeId ?? null }
      const page = await opened.store.lists.listPushes(of)
      return page.slice(0, 2).map((listed) => listed.push.id)
    }
    expect(await before(undefined)).toEqual(ids.slice(0, 2))
    await push()
    await opened.store.pushes.expirePush({ id: ids[0] ?? 0, visit: VISIT })
    await opened.store.pushes.expirePush({ id: ids[1] ?? 0, visit: VISIT })
    expect(await before(ids[1])).toEqual(ids.slice(2, 4))
    expect(await before(ids[5])).toEqual([])
    expect(await before(ids[0], true)).toEqual(ids.slice(1, 2))
  })

  test('all pushes of one owner whose time is up can be recorded as expired, however many others are due', async () => {
    const own = await Promise.all(Array.from({ length: 130 }, () => push()))
    const other = await storePush(opened)
    const later = await push({ expiresAt: opened.clock.now() + 9 * DAY })
    opened.clock.advance(2 * DAY)
    await opened.store.expiry.expireLapsedOf(ownerId)
    expect(await list(false)).toEqual([later.id])
    expect((await opened.store.pushes.findPush(own[0]?.lookup ?? other.lookup))?.expiredOn).not.toBeNull()
    expect((await opened.store.pushes.findPush(other.lookup))?.expiredOn).toBeNull()
  })

  test('the next push to expire by time is found after any mix of creates and ends', async () => {
    const { store, clock } = opened
    const start = clock.now()
    expect(await store.expiry.findNextLapse()).toBeNull()
    await storePush(opened, { expiresAt: start + 90 * DAY })
    const { id } = await storePush(opened, { expiresAt: start + 15 * MINUTE })
    expect(await store.expiry.findNextLapse()).toBe(start + 15 * MINUTE)
    await store.pushes.expirePush({ id, visit: VISIT })
    expect(await store.expiry.findNextLapse()).toBe(start + 90 * DAY)
    clock.advance(90 * DAY)
    expect(await store.expiry.expireLapsed()).toBe(1)
    expect(await store.expiry.findNextLapse()).toBeNull()
  })

  test('a log is oldest first, in pages of fifty, and equals the log read in pieces', async () => {
    const { id, lookup } = await storePush(opened, { expireAfterViews: 200 })
    const other = await push()
    for (let n = 0; n < 60; n += 1) await view(opened, n % 20 === 0 ? other : { id })
    for (let n = 0; n < 3; n += 1) await view(opened, { id })
    const { audit, pushes, expiry } = opened.store
    const pages = [await audit.listPage({ id }, 1), await audit.listPage({ id }, 2)]
    expect(pages.map(({ length }) => length)).toEqual([50, 11])
    expect(pages[0]?.[0]?.kind).toBe('creation')
    expect(await audit.listPage({ id }, 3)).toEqual([])
    expect((await Array.fromAsync(audit.readAll({ id }))).flat()).toEqual(pages.flat())
    expect((await pushes.findPush(lookup))?.auditEntries).toBe(61)
    expect(await audit.listPage({ id: other.id + 1 }, 1)).toEqual([])
    await pushes.expirePush({ id: other.id, visit: VISIT })
    const kinds = (await Array.fromAsync(audit.readAll(other))).flat().map(({ kind }) => kind)
    expect(kinds.join()).toBe('creation,view,view,view,expire')
    opened.clock.advance(1)
    expect(await expiry.purgeExpired({ of: 'owned', until: opened.clock.now() })).toBe(1)
    expect(await audit.listPage(other, 1)).toEqual([])
    expect((await Array.fromAsync(audit.readAll({ id }))).flat()).toEqual(pages.flat())
  })

  test('the first failures, owner views and edits become entries; later ones are counted, with the latest of each', async () => {
    const { store, clock } = opened
    const owner = await store.accounts.findById(ownerId)
    const { id, lookup } = await push({ expireAfterViews: 9, passphraseRequired: true })
    const from = (n: number) => ({ ...VISIT, ip: `2001:db8::${n}` })
    const fail = (n: number) =>
      store.pushes.claimPlain({ lookup, visit: from(n), lookBy: null, open: () => null })
    const look = (n: number) => store.pushes.claimView({ id, visit: from(n), lookBy: owner })
    for (const visit of [fail, look])
      for (let n = 0; n < 600; n += 200)
        await Promise.all(Array.from({ length: 200 }, (_, m) => visit(n + m)))
    clock.advance(1)
    await look(7_777)
    await view(opened, { id })
    await store.pushes.expirePush({ id, visit: VISIT })
    const log = (await Array.fromAsync(store.audit.readAll({ id }))).flat()
    const count = (kind: string) => log.filter((entry) => entry.kind === kind).length
    expect([count('failed_passphrase'), count('owner_view'), log.length]).toEqual([500, 500, 1_003])
    expect(log.slice(-2).map(({ kind }) => kind)).toEqual(['view', 'expire'])
    expect(await store.audit.listPage({ id }, 21)).toEqual(log.slice(1_000))
    expect(await store.pushes.findPush(lookup)).toMatchObject({
      ...{ auditEntries: 1_003, failures: 600, countedFailures: 100, ownerViews: 601 },
      ...{ countedAt: clock.now(), countedFrom: '2001:db8::7777' },
    })
    clock.advance(1)
    expect(await store.expiry.purgeExpired({ of: 'owned', until: clock.now() })).toBe(1)
    expect((await Array.fromAsync(store.audit.readAll({ id }))).flat()).toEqual([])
  })

  test('an idempotency key creates one push, loses its answer when the push ends, and expires', async () => {
    const { store, clock } = opened
    const lookup = Buffer.alloc(32, 9)
    const idempotency = { lookup, lapsesAt: clock.now() + DAY, answer: Buffer.alloc(88, 3) }
    const tries = await Promise.allSettled([1, 2, 3].map(() => storePush(opened, {}, { idempotency })))
    expect(tries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(await store.health.countPushes()).toEqual({ live: 1, expired: 0 })
    expect((await store.idempotencyKeys.findKey(lookup))?.answer).toEqual(new Uint8Array(88).fill(3))
    const [made] = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    await store.pushes.expirePush({ id: made?.id ?? 0, visit: VISIT })
    expect(await store.idempotencyKeys.findKey(lookup)).toEqual({ answer: null })
    clock.advance(DAY)
    expect(await store.idempotencyKeys.findKey(lookup)).toBeNull()
    expect(await store.idempotencyKeys.removeLapsed()).toBe(1)
    expect(await store.idempotencyKeys.removeLapsed()).toBe(0)
  })

  test('an address has a limited number of live pushes, even if creates race', async () => {
    const limits = { pushes: 2, bytes: 0 }
    const share = { addresses: [Buffer.alloc(16, 1)] as [Buffer], bytes: 1, limits }
    const tries = await Promise.allSettled([1, 2, 3, 4].map(() => storePush(opened, {}, { share })))
    const made = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(made).toHaveLength(2)
    await opened.store.pushes.expirePush({ id: made[0]?.id ?? 0, visit: VISIT })
    await storePush(opened, {}, { share })
    await expect(storePush(opened, {}, { share })).rejects.toMatchObject({ code: 'too_many' })
  })
}
