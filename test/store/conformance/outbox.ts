// Guarantees of every engine for outgoing messages: added in the commit that they report, leased by one node
// at a time, retried, and removed.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { MOST_WAITING, MOST_WAITING_MAILS, MOST_WEBHOOKS } from '../../../src/domain/outbox.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/domain/time.ts'
import type { DueMessage, WebhookToStore } from '../../../src/store/notices-contract.ts'
import { storePush, VISIT, view } from '../../support/store.ts'
import { waitUntil } from '../../support/waiting.ts'
import type { OpenEngine, OpenedEngine } from './engine.ts'

const LABELS = { urlToken: Buffer.from('token'), name: Buffer.from('a name'), note: null }
const FAILED = 'refused'
const DELIVERED = null

export function describeOutbox(open: OpenEngine): void {
  let opened: OpenedEngine
  let [ann, bob] = [0, 0]
  beforeEach(async () => {
    opened = await open()
    const add = async (name: string) =>
      (
        await opened.store.accounts.addAccount({
          email: `${name}@example.org`,
          passwordHash: 'x',
          isAdmin: false,
        })
      ).id
    ;[ann, bob] = [await add('ann'), await add('bob')]
  })
  afterEach(() => opened.close())

  const hook = (changes: Partial<WebhookToStore> = {}) =>
    opened.store.webhooks.addWebhook({
      ...{ accountId: ann, host: 'hook.example', sealed: Buffer.from('sealed'), format: 'standard' },
      ...{ events: ['push.opened'], withName: false, ...changes },
    })
  /** Counts the messages to all webhooks of the account. */
  const hooked = async () => {
    const listed = await opened.store.webhooks.listWebhooks(ann)
    const sum = (name: 'waiting' | 'failed') => listed.reduce((all, webhook) => all + webhook[name], 0)
    return { waiting: sum('waiting'), failed: sum('failed') }
  }
  const push = (ownerId: number | null = ann) =>
    storePush(opened, { ownerId }, ownerId === null ? {} : { labels: LABELS })
  const open1 = async (ownerId: number | null = ann) => view(opened, await push(ownerId))
  const take = (busy: number[] = []) => opened.store.outbox.takeDue(busy)
  const taken = async () => {
    const message = await take()
    if (message === null) throw new Error('nothing is due')
    return message
  }
  const settle = (message: DueMessage, error: typeof FAILED | typeof DELIVERED) =>
    opened.store.outbox.settleTry(message, error)

  test('a mail with the link of a push waits until it was sent', async () => {
    const { id } = await push()
    await opened.store.pushes.mailLink({ id, visit: VISIT, ownerId: ann, mails: ['sealed'] })
    const mail = await taken()
    expect(mail).toMatchObject({
      kind: 'link_mail',
      accountId: ann,
      pushId: id,
      webhookId: null,
      body: 'sealed',
    })
    await settle(mail, DELIVERED)
    expect(await opened.store.outbox.countOf(ann)).toEqual({ waiting: 0, failed: 0 })
  })

  test('an event is sent to the owner’s webhooks that subscribe to it, and to those of the administrators', async () => {
    const asked = await hook()
    await hook({ events: ['push.locked', 'push.used_up'] })
    await hook({ accountId: bob })
    const forAll = await hook({ accountId: null })
    const opening = await push()
    await view(opened, opening)
    await open1(null)
    const found = [await taken(), await taken()]
    expect(found.map(({ webhookId }) => webhookId).toSorted()).toEqual([asked.id, forAll.id].toSorted())
    expect(found.map(({ pushId, tries, kind }) => [pushId, tries, kind])).toEqual([
      [opening.id, 1, 'webhook'],
      [opening.id, 1, 'webhook'],
    ])
    expect(JSON.parse(found[0]?.body ?? '')).toMatchObject({
      ...{ type: 'push.opened', at: opened.clock.now(), data: { kind: 'text', views_remaining: 4 } },
    })
    expect(await take()).toBeNull()
  })

  test('a start makes failed messages due, except those that are being tried', async () => {
    await hook()
    await open1()
    const tried = await taken()
    for (let n = 0; n < 4; n += 1) {
      await settle(tried, FAILED)
      opened.clock.advance(2 * HOUR)
      Object.assign(tried, await taken())
    }
    await opened.store.outbox.hasten()
    expect(await take()).toBeNull()
    await settle(tried, FAILED)
    expect(await take()).toBeNull()
    await opened.store.outbox.hasten()
    expect((await taken()).id).toBe(tried.id)
  })

  test('failing webhooks are counted by host and reason, until a delivery succeeds or they are removed', async () => {
    const { webhooks, health } = opened.store
    const [one, two, three] = [
      await hook(),
      await hook({ accountId: bob }),
      await hook({ host: 'b.example' }),
    ]
    expect(await health.listFailingWebhooks()).toEqual([])
    for (const { id } of [one, two, three]) await webhooks.noteTest(id, FAILED)
    expect(await health.listFailingWebhooks()).toEqual([
      { host: 'hook.example', error: FAILED, count: 2 },
      { host: 'b.example', error: FAILED, count: 1 },
    ])
    await webhooks.noteTest(one.id, DELIVERED)
    await webhooks.removeWebhook({ id: three.id, accountId: ann })
    expect(await health.listFailingWebhooks()).toEqual([{ host: 'hook.example', error: FAILED, count: 1 }])
  })

  test('messages queued while the clock was ahead, and later ones, are sent once it is corrected', async () => {
    const { clock } = opened
    await hook()
    clock.set(clock.now() + 30 * DAY)
    await open1()
    expect(await take()).toBeNull()
    clock.set(clock.now() - 30 * DAY)
    await open1()
    const due: DueMessage[] = []
    await waitUntil(async () => {
      const message = await take()
      if (message !== null) due.push(message)
      return due.length === 2
    })
    expect(due.map(({ at }) => at)).toEqual([clock.now(), clock.now()])
  })

  test('an account gets mail about the events that it chose, up to a limit', async () => {
    const { preferences, accounts } = opened.store
    await preferences.keep({ accountId: ann, mailEvents: ',push.opened,push.locked,' })
    await preferences.keep({ accountId: bob, mailEvents: ',push.used_up,' })
    const opening = await push()
    await view(opened, opening)
    const mail = await taken()
    expect([mail.kind, mail.accountId, mail.webhookId, mail.pushId]).toEqual([
      'event_mail',
      ann,
      null,
      opening.id,
    ])
    expect(JSON.parse(mail.body)).toMatchObject({ type: 'push.opened', at: opened.clock.now() })
    expect(await take()).toBeNull()
    await settle(mail, DELIVERED)
    await accounts.setDisabled({ id: ann, disabled: true })
    await view(opened, opening)
    await accounts.setDisabled({ id: ann, disabled: false })
    expect(await take()).toBeNull()
    const many = await push()
    for (let n = 0; n < MOST_WAITING_MAILS + 1; n += 1) {
      await view(opened, many.views + n < 4 ? many : await push())
    }
    expect((await opened.store.outbox.countOf(ann)).waiting).toBe(MOST_WAITING_MAILS)
  })

  test('a disabled account gets no messages', async () => {
    await hook()
    const one = await push()
    await opened.store.accounts.setDisabled({ id: ann, disabled: true })
    await view(opened, one)
    expect(await take()).toBeNull()
  })

  test('a leased message, or one for a busy receiver, is not leased again before the lease ends', async () => {
    const { id } = await hook()
    await open1()
    expect(await take([id])).toBeNull()
    const all = await Promise.all(Array.from({ length: 8 }, () => take()))
    const [first] = all.filter((message) => message !== null)
    expect(all.filter((message) => message !== null)).toHaveLength(1)
    await opened.reopen()
    expect(await take()).toBeNull()
    opened.clock.advance(MINUTE)
    expect(await taken()).toMatchObject({ id: first?.id, at: first?.at, body: first?.body, tries: 2 })
  })

  test('a delivered message is deleted, and the webhook shows the time of the delivery', async () => {
    const { id } = await hook()
    await open1()
    await settle(await taken(), FAILED)
    expect(await opened.store.webhooks.findWebhook(id)).toMatchObject({
      lastError: 'refused',
      lastDelivery: null,
    })
    expect((await opened.store.webhooks.findWebhook(id))?.lastFailure).toBe(opened.clock.now())
    opened.clock.advance(MINUTE)
    await settle(await taken(), DELIVERED)
    expect(await opened.store.outbox.countOf(ann)).toEqual({ waiting: 0, failed: 0 })
    expect(await opened.store.webhooks.listWebhooks(ann)).toMatchObject([
      { lastError: null, lastDelivery: opened.clock.now(), waiting: 0, failed: 0 },
    ])
    opened.clock.advance(DAY)
    expect(await opened.store.outbox.findNextDue()).toBeNull()
  })

  test('a failing receiver is retried with backoff for all of its messages, which are all due once one arrives', async () => {
    await hook()
    await open1()
    const other = await hook({ accountId: bob })
    const pauses: number[] = []
    for (let n = 0; n < 8; n += 1) {
      const message = await taken()
      await settle(message, FAILED)
      const due = (await opened.store.outbox.findNextDue()) ?? 0
      pauses.push((due - opened.clock.now()) / SECOND)
      await open1()
      expect(await take()).toBeNull()
      opened.clock.set(due)
    }
    expect(pauses).toEqual([10, 30, 90, 270, 810, 2430, 7200, 7200])
    await open1(bob)
    expect((await taken()).webhookId).not.toBe(other.id)
    expect((await taken()).webhookId).not.toBe(other.id)
    await opened.store.webhooks.removeWebhook({ id: other.id, accountId: bob })
  })

  test('once a receiver answers again, all its waiting messages are due', async () => {
    const { id } = await hook()
    for (let n = 0; n < 3; n += 1) await open1()
    await settle(await taken(), FAILED)
    expect(await take()).toBeNull()
    opened.clock.set((await opened.store.outbox.findNextDue()) ?? 0)
    await settle(await taken(), DELIVERED)
    for (let n = 0; n < 2; n += 1) await settle(await taken(), DELIVERED)
    expect((await opened.store.webhooks.listWebhooks(ann))[0]).toMatchObject({ id, waiting: 0 })
  })

  test('a message is given up after a day, loses its body, and counts as failed for a week', async () => {
    await hook()
    await open1()
    await settle(await taken(), FAILED)
    opened.clock.advance(DAY)
    expect(await take()).toBeNull()
    const counts = hooked
    expect(await counts()).toEqual({ waiting: 0, failed: 1 })
    expect(await opened.store.health.countMessages()).toEqual({ webhook: { waiting: 0, failed: 1 } })
    opened.clock.advance(7 * DAY)
    expect(await take()).toBeNull()
    expect(await counts()).toEqual({ waiting: 0, failed: 0 })
  })

  test('the number of messages that wait for one webhook is limited', async () => {
    await hook({ events: ['push.opened', 'push.used_up'] })
    const one = await storePush(
      opened,
      { ownerId: ann, expireAfterViews: MOST_WAITING + 5 },
      { labels: LABELS },
    )
    for (let n = 0; n < MOST_WAITING / 50 + 1; n += 1)
      await Promise.all(Array.from({ length: 50 }, () => view(opened, one)))
    expect(await hooked()).toEqual({ waiting: MOST_WAITING, failed: 0 })
  })

  test('the number of webhooks of an account is limited, and only their owner removes them', async () => {
    const made = await Promise.allSettled(Array.from({ length: MOST_WEBHOOKS + 3 }, () => hook()))
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(MOST_WEBHOOKS)
    const [one] = await opened.store.webhooks.listWebhooks(ann)
    const id = one?.id ?? 0
    expect(await opened.store.webhooks.removeWebhook({ id, accountId: bob })).toBe(false)
    expect(await opened.store.webhooks.removeWebhook({ id, accountId: null })).toBe(false)
    await open1()
    expect(await opened.store.webhooks.removeWebhook({ id, accountId: ann })).toBe(true)
    expect(await hooked()).toEqual({ waiting: MOST_WEBHOOKS - 1, failed: 0 })
  })

  test('removing an account removes its webhooks and messages', async () => {
    await hook()
    const forAll = await hook({ accountId: null })
    await open1()
    await opened.store.accounts.removePushesOf(ann)
    await opened.store.accounts.removeAccount(ann)
    expect(await opened.store.webhooks.listWebhooks(ann)).toEqual([])
    expect(await taken()).toMatchObject({ webhookId: forAll.id })
    expect(await take()).toBeNull()
  })

  test('committed messages wait across a restart', async () => {
    await hook()
    await open1()
    await opened.reopen()
    expect(await taken()).toMatchObject({ kind: 'webhook', tries: 1 })
    expect(opened.clock.now() + HOUR).toBeGreaterThan(0)
  })

  test('the events of a push stay in the outbox after the push has ended', async () => {
    await hook()
    const one = await push()
    await view(opened, one)
    await opened.store.pushes.expirePush({ id: one.id, visit: VISIT })
    expect(await taken()).toMatchObject({ pushId: one.id })
  })
}
