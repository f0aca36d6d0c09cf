// Guarantees of every engine for events: recorded in the commit that causes them, in order, for the owner
// only, and kept for a week.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Push } from '../../../src/domain/push.ts'
import { DAY, HOUR } from '../../../src/domain/time.ts'
import { drain, storePush, VISIT, view } from '../../support/store.ts'
import type { OpenEngine, OpenedEngine } from './engine.ts'

const LABELS = { urlToken: Buffer.from('token'), name: Buffer.from('a name'), note: null, request: null }

export function describeEvents(open: OpenEngine): void {
  let opened: OpenedEngine
  let [ann, bob] = [0, 0]
  beforeEach(async () => {
    opened = await open()
    const add = async (name: string, isAdmin: boolean) =>
      (
        await opened.store.accounts.addAccount({
          ...{ email: `${name}@example.org`, passwordHash: 'x', isAdmin },
        })
      ).id
    ann = await add('ann', true)
    bob = await add('bob', false)
  })
  afterEach(() => opened.close())

  const push = (changes: Partial<Push> = {}) =>
    storePush(opened, { ownerId: ann, ...changes }, { labels: LABELS })
  const list = async (accountId = ann, after = 0) => {
    const { events } = await opened.store.events.listEvents({ accountId, after })
    return events.map(({ data, ...event }) => ({ ...event, data: JSON.parse(data) }))
  }
  const lastOf = async (...accountIds: number[]) =>
    (await opened.store.events.look({ accountIds, tokenIds: [] })).last
  const typesOf = async (accountId = ann) => (await list(accountId)).map(({ type }) => type)

  test('only the owner gets an event for each view and for the last one, all with the same push id', async () => {
    const { id } = await push({ expireAfterViews: 2 })
    for (let n = 0; n < 2; n += 1) await view(opened, { id })
    const at = opened.clock.now()
    const told = await list()
    expect(told.map(({ n, type }) => [n, type])).toEqual([
      [1, 'push.opened'],
      [2, 'push.opened'],
      [3, 'push.used_up'],
    ])
    expect(told.map(({ data }) => data.views_remaining)).toEqual([1, 0, 0])
    expect(told[2]).toMatchObject({ at, data: { kind: 'text', expired: true } })
    expect(told[0]?.data.push).toMatch(/^[0-9a-z]{20}$/)
    expect(new Set(told.map(({ data }) => data.push)).size).toBe(1)
    expect(await list(bob)).toEqual([])
    const other = await push()
    await view(opened, other)
    expect((await list(ann, 3))[0]).toMatchObject({
      n: 4,
      data: { push: expect.not.stringMatching(told[0]?.data.push) },
    })
  })

  test('an anonymous push causes no event', async () => {
    await view(opened, await storePush(opened, { expireAfterViews: 1 }))
    expect(await lastOf(ann, bob)).toEqual(new Map())
  })

  test('tries on a push that has ended cause one event an hour, however they race', async () => {
    const { id } = await push({ expireAfterViews: 1 })
    const tryThree = () => Promise.all([1, 2, 3].map(() => view(opened, { id })))
    await tryThree()
    await tryThree()
    opened.clock.advance(HOUR)
    await tryThree()
    expect((await typesOf()).filter((type) => type === 'push.tried_after_end')).toHaveLength(2)
  })

  test('events of one account are numbered without a gap, however visits race', async () => {
    const some = await Promise.all(Array.from({ length: 8 }, () => push({ expireAfterViews: 3 })))
    await Promise.all(some.flatMap((one) => [one, one, one, one].map(() => view(opened, one))))
    const told = await list()
    expect(told.map(({ n }) => n)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1))
    expect(told.filter(({ type }) => type === 'push.used_up')).toHaveLength(8)
    expect(await lastOf(ann, bob)).toEqual(new Map([[ann, 40]]))
  })

  test('the last wrong passphrase and an unnoticed expiry by time each cause an event', async () => {
    const tried = await push({ deletableByViewer: false, passphraseRequired: true })
    for (let n = 0; n < 3; n += 1)
      await opened.store.pushes.refusePassphrase({ id: tried.id, visit: VISIT, maxTries: 2 })
    const seen = await push()
    await view(opened, seen)
    await push()
    await storePush(opened, { ownerId: bob }, { labels: LABELS })
    opened.clock.advance(2 * DAY)
    await drain(opened.store.expiry.expireLapsed)
    expect(await typesOf()).toEqual([
      'push.locked',
      'push.opened',
      'push.expired_unopened',
      'push.expired_unopened',
    ])
    expect(await typesOf(bob)).toEqual(['push.expired_unopened'])
  })

  test('an owner gets one event a day before the end of each push that lives longer than that', async () => {
    const days = (days: number) => ({ expiresAt: opened.clock.now() + days * DAY })
    await push({ ...days(1) })
    await Promise.all(Array.from({ length: 205 }, () => push(days(3))))
    await storePush(opened, { ownerId: bob, ...days(3) }, { labels: LABELS })
    const ended = await push({ ...days(3), expireAfterViews: 1 })
    await Promise.all(Array.from({ length: 5 }, () => storePush(opened, days(3))))
    const tell = () => drain(opened.store.events.tellExpiring)
    await tell()
    expect(await typesOf()).toEqual([])
    await view(opened, ended)
    opened.clock.advance(2 * DAY + HOUR)
    await Promise.all([tell(), tell()])
    await tell()
    expect((await typesOf()).slice(0, 2)).toEqual(['push.opened', 'push.used_up'])
    expect((await typesOf()).filter((type) => type === 'push.expires_soon')).toHaveLength(205)
    expect(await typesOf(bob)).toEqual(['push.expires_soon'])
    await push(days(1))
    await tell()
    expect(await typesOf()).toHaveLength(207)
  })

  test('administrators get events of the server', async () => {
    await opened.store.events.tellAdmins({ type: 'backup.failed', data: {} })
    expect(await list()).toMatchObject([{ n: 1, type: 'backup.failed', data: {} }])
    expect(await list(bob)).toEqual([])
  })

  test('events are kept for a week, and later ones continue their numbers', async () => {
    const { id } = await push()
    await view(opened, { id })
    opened.clock.advance(7 * DAY - 1)
    expect(await opened.store.events.removeOld()).toBe(0)
    opened.clock.advance(1)
    expect(await opened.store.events.removeOld()).toBe(1)
    await opened.reopen()
    expect(await opened.store.events.listEvents({ accountId: ann, after: 0 })).toEqual({
      first: 0,
      last: 1,
      events: [],
    })
    await opened.store.events.tellAdmins({ type: 'backup.failed', data: {} })
    expect(await opened.store.events.listEvents({ accountId: ann, after: 1 })).toMatchObject({
      first: 2,
      last: 2,
    })
  })

  test('the lookup of new events returns the valid tokens, not revoked ones or those of disabled accounts', async () => {
    const { store } = opened
    const add = (accountId: number, n: number) =>
      store.apiTokens.addApiToken({
        ...{ accountId, name: `token-${n}`, prefix: '', hash: Buffer.alloc(32, n), session: null },
      })
    const [first, second, third] = [await add(ann, 1), await add(ann, 2), await add(bob, 3)]
    const tokenIds = [first.id, second.id, third.id, 999]
    const validOf = async () => [...(await store.events.look({ accountIds: [], tokenIds })).validTokens]
    expect((await validOf()).sort()).toEqual([first.id, second.id, third.id])
    await store.apiTokens.removeApiToken(first.id)
    await store.accounts.setDisabled({ id: bob, disabled: true })
    expect(await validOf()).toEqual([second.id])
  })

  test('a reset link removes the earlier events of an account, and its webhooks get no more messages', async () => {
    const { accountLinks, webhooks, outbox } = opened.store
    await webhooks.addWebhook({
      ...{ accountId: bob, host: 'hook.example', sealed: Buffer.from('sealed'), format: 'standard' },
      ...{ events: ['push.opened'], withName: false },
    })
    await view(opened, await storePush(opened, { ownerId: bob }, { labels: LABELS }))
    const hash = Buffer.alloc(32, 9)
    await accountLinks.addLink({
      ...{ hash, purpose: 'reset', accountId: bob, email: null, isAdmin: false, endsTwoFactor: false },
      ...{ createdBy: null, session: null, mail: null },
    })
    await accountLinks.useLink({ hash, email: '', passwordHash: 'y' })
    expect(await list(bob)).toEqual([])
    expect(await webhooks.listWebhooks(bob)).toEqual([])
    expect(await outbox.takeDue([])).toBeNull()
    await view(opened, await storePush(opened, { ownerId: bob }, { labels: LABELS, ownerResets: 1 }))
    expect((await list(bob)).map(({ n }) => n)).toEqual([2])
  })

  test('an account that is removed leaves no events', async () => {
    await view(opened, await storePush(opened, { ownerId: bob }, { labels: LABELS }))
    expect(await list(bob)).toHaveLength(1)
    await opened.store.accounts.removeAccount(bob)
    expect(await list(bob)).toEqual([])
    expect(await lastOf(bob)).toEqual(new Map())
  })
}
