// Guarantees of every engine for pushes: concurrent views, secrets that are destroyed, and expiry dated when
// it was due.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DAY } from '../../../src/domain/time.ts'
import { drain, storePush, VISIT, view } from '../../support/store.ts'
import { type OpenEngine, type OpenedEngine, readKinds } from './engine.ts'

export function describePushes(open: OpenEngine): void {
  let opened: OpenedEngine
  beforeEach(async () => {
    opened = await open()
  })
  afterEach(() => opened.close())
  const kindsOf = (id: number) => readKinds(opened, id)

  test('even if readers and deletes race, a payload is claimed at most as often as allowed', async () => {
    const race = fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.constantFrom('read', 'delete'), { minLength: 1, maxLength: 40 }),
      async (views, visits) => {
        const push = await storePush(opened, { expireAfterViews: views })
        const { id } = push
        const outcomes = await Promise.all(
          visits.map((visit) =>
            visit === 'read'
              ? view(opened, push).then((claimed) => claimed?.outcome)
              : opened.store.pushes.expirePush({ id, visit: VISIT }).then(() => 'deleted'),
          ),
        )
        const isDeleted = visits.includes('delete')
        const claimed = outcomes.filter((outcome) => outcome === 'view').length
        const reads = visits.filter((visit) => visit === 'read').length
        if (isDeleted) expect(claimed).toBeLessThanOrEqual(Math.min(views, reads))
        else expect(claimed).toBe(Math.min(views, reads))
        const kinds = await kindsOf(id)
        expect(kinds.filter((kind) => kind === 'view')).toHaveLength(claimed)
        // A delete after the last view does not end the push again.
        expect(kinds.filter((kind) => kind === 'expire').length).toBe(isDeleted && claimed < views ? 1 : 0)
      },
    )
    await fc.assert(race, { numRuns: 60 })
  })

  test('the last view destroys the secrets in its own commit', async () => {
    const push = await storePush(opened, { expireAfterViews: 1 })
    const claimed = await view(opened, push)
    expect(claimed?.outcome).toBe('view')
    expect((await opened.store.pushes.findSealedPush(push.lookup))?.sealed).toBeNull()
  })

  test('a push has no time of a last view before its first view', async () => {
    const stored = await storePush(opened)
    const { pushes } = opened.store
    const found = [
      stored,
      await pushes.findPush(stored.lookup),
      (await pushes.findSealedPush(stored.lookup))?.push,
      (await pushes.refusePassphrase({ id: stored.id, visit: VISIT, maxTries: 0 }))?.push,
    ]
    expect(found.map((push) => push?.lastViewedAt)).toEqual([0, 0, 0, 0])
    await view(opened, stored)
    expect((await pushes.findPush(stored.lookup))?.lastViewedAt).toBe(opened.clock.now())
  })

  test('a row refuses a visit with a text beyond its maximum length', async () => {
    const { id } = await storePush(opened)
    const claim = (texts: object) =>
      opened.store.pushes.claimView({ id, visit: { ...VISIT, ...texts }, lookBy: null })
    const long = 'x'.repeat(301)
    for (const text of ['ip', 'userAgent', 'referrer'])
      await expect(claim({ [text]: long })).rejects.toThrow(/check constraint/i)
    const longest = { ip: 'x'.repeat(45), userAgent: 'é'.repeat(255), referrer: 'x'.repeat(300) }
    expect(await claim(longest)).toMatchObject({ outcome: 'view', push: { views: 1 } })
  })

  test('failures of a push without an owner are counted, and leave no entry', async () => {
    const { id } = await storePush(opened, { expireAfterViews: 1 })
    for (let n = 0; n < 3; n += 1) await view(opened, { id })
    expect(await kindsOf(id)).toEqual(['creation', 'view'])
    expect((await view(opened, { id }))?.push).toMatchObject({
      ...{ failures: 3, countedFailures: 3, countedFrom: VISIT.ip, countedAt: opened.clock.now() },
    })
  })

  test('finding a push does not change it', async () => {
    const { id, lookup } = await storePush(opened, { expireAfterViews: 1 })
    expect((await opened.store.pushes.findSealedPush(lookup))?.sealed?.secrets.payload).toHaveLength(62)
    expect((await opened.store.pushes.findPush(lookup))?.views).toBe(0)
    expect(await kindsOf(id)).toEqual(['creation'])
  })

  test("an owner's view is audited but not counted, and any other view is counted", async () => {
    const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: false }
    const owner = await opened.store.accounts.addAccount(account)
    const other = await opened.store.accounts.addAccount({ ...account, email: 'bob@example.org' })
    const { id } = await storePush(opened, { expireAfterViews: 2, ownerId: owner.id })
    const look = (lookBy: typeof owner) => opened.store.pushes.claimView({ id, visit: VISIT, lookBy })
    expect(await look(owner)).toMatchObject({ outcome: 'view', push: { views: 0, expiredOn: null } })
    expect(await look(other)).toMatchObject({ outcome: 'view', push: { views: 1, expiredOn: null } })
    expect(await kindsOf(id)).toEqual(['creation', 'owner_view', 'view'])
  })

  test('every view of an anonymous push counts', async () => {
    const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: false }
    const lookBy = await opened.store.accounts.addAccount(account)
    const { id } = await storePush(opened)
    const claimed = await opened.store.pushes.claimView({ id, visit: VISIT, lookBy })
    expect(claimed?.push.views).toBe(1)
  })

  test('only the sweeper records an expiry by time, dated when it was due', async () => {
    const asked = await storePush(opened)
    const swept = await storePush(opened)
    opened.clock.advance(3 * DAY)
    const claimed = await view(opened, asked)
    expect(claimed).toMatchObject({ outcome: 'expired', push: { expiredOn: null } })
    expect(await drain(opened.store.expiry.expireLapsed)).toBe(2)
    for (const { lookup, expiresAt } of [asked, swept])
      expect((await opened.store.pushes.findPush(lookup))?.expiredOn).toBe(expiresAt)
    expect(await kindsOf(swept.id)).toEqual(['creation'])
  })

  test('a push that leaves deletable_by_viewer open is stored as open', async () => {
    const { lookup } = await storePush(opened, { deletableByViewer: null })
    expect((await opened.store.pushes.findPush(lookup))?.deletableByViewer).toBeNull()
  })

  test('purging removes every trace of pushes that are due, and nothing else', async () => {
    const old = await storePush(opened, { expireAfterViews: 2 })
    const fresh = await storePush(opened)
    for (let i = 0; i < 3; i += 1) await view(opened, old)
    opened.clock.advance(1)
    const until = opened.clock.now()
    expect(await opened.store.expiry.purgeExpired({ of: 'owned', until })).toBe(0)
    expect(await opened.store.expiry.purgeExpired({ of: 'anonymous', until: until - DAY })).toBe(0)
    expect(await opened.store.expiry.purgeExpired({ of: 'anonymous', until })).toBe(1)
    expect(await opened.store.pushes.findPush(old.lookup)).toBeNull()
    expect(await kindsOf(old.id)).toEqual([])
    expect(await kindsOf(fresh.id)).toEqual(['creation'])
    expect(await view(opened, old)).toBeNull()
  })

  describe('a push that is stored', () => {
    test('is found again after a restart, with its secrets, labels and files', async () => {
      const owner = await opened.store.accounts.addAccount(ANN)
      const content = Buffer.from('name')
      const labels = { urlToken: content, name: content, note: null, request: null }
      const files = [{ fileId: 'f1', size: 3, filename: content, contentType: content }]
      await opened.store.files.keepFile('f1', arriving(content))
      const { id, lookup } = await storePush(opened, { ownerId: owner.id }, { labels, files })
      await opened.reopen()
      const { findSealedPush } = opened.store.pushes
      expect(await findSealedPush(lookup)).toMatchObject({
        push: { id, files: 1 },
        sealed: { files: [{ size: 3 }] },
      })
      const listed = await opened.store.lists.listPushes({ ownerId: owner.id, expired: false, pageNumber: 1 })
      expect(listed).toMatchObject([{ push: { id }, fileBytes: 3 }])
      expect(await opened.store.lists.findLabels(id)).toMatchObject({ note: null })
    })

    test('is refused if its owner was disabled meanwhile, and stores nothing', async () => {
      const { id: ownerId } = await opened.store.accounts.addAccount(ANN)
      await opened.store.accounts.setDisabled({ id: ownerId, disabled: true })
      await expect(storePush(opened, { ownerId })).rejects.toMatchObject({ code: 'unauthenticated' })
      expect(await opened.store.health.countPushes()).toEqual({ live: 0, expired: 0 })
    })

    test('keeps its views after a restart', async () => {
      const push = await storePush(opened, { expireAfterViews: 2 })
      await view(opened, push)
      await opened.reopen()
      expect((await view(opened, push))?.push).toMatchObject({ views: 2, expiredOn: opened.clock.now() })
      expect(await view(opened, push)).toMatchObject({ outcome: 'expired' })
    })
  })

  describe('wrong passphrases', () => {
    const refuse = (id: number) => opened.store.pushes.refusePassphrase({ id, visit: VISIT, maxTries: 3 })

    test('with the last allowed one among them expire a deletable push once, even if they are concurrent', async () => {
      const { id, lookup } = await storePush(opened, { passphraseRequired: true })
      const { claimPlain } = opened.store.pushes
      const missing = await claimPlain({ lookup, visit: VISIT, lookBy: null, open: () => null })
      expect(missing?.outcome).toBe('passphrase_required')
      const refused = await Promise.all([1, 2, 3, 4].map(() => refuse(id)))
      expect(refused.map((one) => one?.outcome).sort()).toEqual(['expired', 'refused', 'refused', 'refused'])
      expect((await opened.store.pushes.findSealedPush(lookup))?.sealed).toBeNull()
      expect((await opened.store.pushes.findPush(lookup))?.wrongTriesInAll).toBe(3)
      expect((await kindsOf(id)).at(-1)).toBe('expire')
    })

    test('lock any other push until it is unlocked', async () => {
      const { id, lookup } = await storePush(opened, { deletableByViewer: false })
      for (let n = 0; n < 3; n += 1) await refuse(id)
      expect(await opened.store.pushes.findPush(lookup)).toMatchObject({ triesSpent: true, expiredOn: null })
      await opened.store.pushes.unlockPush({ id, visit: VISIT })
      await opened.store.pushes.unlockPush({ id, visit: VISIT })
      expect(await opened.store.pushes.findPush(lookup)).toMatchObject({
        triesSpent: false,
        wrongTriesInAll: 0,
      })
      expect((await kindsOf(id)).slice(-2)).toEqual(['lock', 'unlock'])
    })
  })
}

async function* arriving(content: Uint8Array) {
  yield content
}

const ANN = { email: 'ann@example.org', passwordHash: 'x', isAdmin: false }
