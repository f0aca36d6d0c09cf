// Guarantees of every engine for requests for secrets: never more answers than allowed, however many are sent
// at once and whatever is aborted.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DAY, MINUTE } from '../../../src/domain/time.ts'
import type { PushToStore } from '../../../src/store/pushes-contract.ts'
import type { RequestToStore, StoredRequest } from '../../../src/store/requests-contract.ts'
import { exampleRequest, storePush } from '../../support/store.ts'
import type { OpenEngine, OpenedEngine } from './engine.ts'

const TOKEN = Buffer.from('token')
const LABELS = { urlToken: TOKEN, name: null, note: null, request: TOKEN }
const NO_LIMITS = { pushes: 0, bytes: 0 }

export function describeRequests(open: OpenEngine): void {
  let opened: OpenedEngine
  let ann = 0
  let made = 0
  beforeEach(async () => {
    opened = await open()
    const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: false }
    ann = (await opened.store.accounts.addAccount(account)).id
  })
  afterEach(() => opened.close())

  const requests = () => opened.store.requests
  function ask(changes: Partial<RequestToStore> = {}, resets = 0): Promise<StoredRequest> {
    made += 1
    const request = { ...exampleRequest(ann, opened.clock.now()), lookup: Buffer.alloc(16, made) }
    return requests().addRequest({ ...request, ...changes }, resets)
  }
  const answer = (
    { id }: { id: number },
    reservation: number | null = null,
    parts: Partial<PushToStore> = {},
  ) =>
    storePush(opened, { ownerId: ann }, { labels: LABELS, answer: { requestId: id, reservation }, ...parts })
  const outcome = (answering: Promise<unknown>) =>
    answering.then(
      () => 'stored',
      (cause) => cause.code,
    )
  const look = ({ lookup }: StoredRequest) => requests().findRequest(lookup)
  const reserve = ({ id }: { id: number }) =>
    requests().reserveAnswer({ id, share: null, fileId: crypto.randomUUID() })
  const reserveOr = (request: { id: number }) => reserve(request).catch((cause) => String(cause.code))
  const countPushes = async () => (await opened.store.health.countPushes()).live

  test('a request is found by its link, and listed by its account, newest first', async () => {
    const [first, second] = [await ask(), await ask({ name: Buffer.from('name'), recipient: 'age1' })]
    expect(await look(first)).toEqual(first)
    expect(await look(second)).toEqual(second)
    expect(await requests().findRequest(Buffer.alloc(16, 200))).toBeNull()
    expect(await opened.store.pushes.findPush(first.lookup)).toBeNull()
    const page = (accountId: number, pageNumber = 1) => requests().listRequests({ accountId, pageNumber })
    expect((await page(ann)).map(({ id }) => id)).toEqual([second.id, first.id])
    expect(await page(ann, 2)).toEqual([])
    expect(await page(ann + 1)).toEqual([])
    await opened.reopen()
    expect(await look(second)).toEqual(second)
  })

  test('an answer is a push of the owner, and queues its event in the same commit', async () => {
    const request = await ask({ maxAnswers: 2 })
    const { ownerId } = await answer(request)
    expect(ownerId).toBe(ann)
    expect(await look(request)).toMatchObject({ answers: 1, closedAt: null })
    await answer(request)
    expect(await look(request)).toMatchObject({ answers: 2, closedAt: opened.clock.now() })
    expect(await outcome(answer(request))).toBe('gone')
    expect(await countPushes()).toBe(2)
    const { events } = await opened.store.events.listEvents({ accountId: ann, after: 0 })
    expect(events.map(({ type }) => type)).toEqual(['request.answered', 'request.answered'])
    const [listed] = await opened.store.lists.listPushes({ ownerId: ann, expired: false, pageNumber: 1 })
    expect(listed?.labels.request).toEqual(TOKEN)
  })

  test('twenty concurrent answers to a request for three create three pushes', async () => {
    const request = await ask({ maxAnswers: 3 })
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => outcome(answer(request))))
    expect(outcomes.filter((one) => one === 'stored')).toHaveLength(3)
    expect(outcomes.filter((one) => one === 'gone')).toHaveLength(17)
    expect(await countPushes()).toBe(3)
  })

  test('a reservation holds an answer until it is stored or freed; of twenty concurrent ones, one succeeds', async () => {
    const request = await ask()
    const reserved = await Promise.all(Array.from({ length: 20 }, () => reserveOr(request)))
    const [reservation = null, ...others] = reserved.filter((one) => typeof one === 'number')
    expect(reservation).not.toBeNull()
    expect(others).toEqual([])
    expect(reserved.filter((one) => one === 'overloaded')).toHaveLength(19)
    expect(await outcome(answer(request))).toBe('overloaded')
    await requests().freeReservation(reservation ?? 0)
    const again = await reserve(request)
    expect(again).not.toBeNull()
    expect(await outcome(answer(request, again))).toBe('stored')
    expect(await look(request)).toMatchObject({ answers: 1 })
    expect(await reserve(request)).toBeNull()
  })

  test('a reservation expires after ten minutes; a late answer is still accepted if there is room', async () => {
    const request = await ask()
    const slow = await reserve(request)
    opened.clock.advance(10 * MINUTE - 1)
    expect(await reserveOr(request)).toBe('overloaded')
    await opened.reopen()
    opened.clock.advance(1)
    const quick = await reserve(request)
    expect(quick).not.toBeNull()
    expect(await outcome(answer(request, slow))).toBe('overloaded')
    expect(await outcome(answer(request, quick))).toBe('stored')
    expect(await outcome(answer(request, slow))).toBe('gone')
  })

  test('a request ends at once when it is closed or expires, even if answers are reserved', async () => {
    const request = await ask({ maxAnswers: 5 })
    const reservation = await reserve(request)
    expect(await requests().closeRequest({ id: request.id, accountId: ann + 1 })).toBeNull()
    expect(await requests().closeRequest({ id: request.id, accountId: ann })).toMatchObject({
      closedAt: opened.clock.now(),
    })
    const closedAt = opened.clock.now()
    opened.clock.advance(MINUTE)
    expect(await requests().closeRequest({ id: request.id, accountId: ann })).toMatchObject({ closedAt })
    expect(await outcome(answer(request, reservation))).toBe('gone')
    const late = await ask({ expiresAt: opened.clock.now() + MINUTE })
    const held = await reserve(late)
    opened.clock.advance(MINUTE)
    expect(await reserve(late)).toBeNull()
    expect(await outcome(answer(late, held))).toBe('gone')
    expect(await countPushes()).toBe(0)
  })

  test('a request created while the clock was ahead accepts nothing', async () => {
    const request = await ask({
      createdAt: opened.clock.now() + 2 * DAY,
      expiresAt: opened.clock.now() + 3 * DAY,
    })
    expect(await reserve(request)).toBeNull()
    expect(await outcome(answer(request))).toBe('gone')
  })

  test('a disabled account gets no answers; an account that was reset or removed has no requests', async () => {
    const request = await ask()
    await opened.store.accounts.setDisabled({ id: ann, disabled: true })
    expect(await look(request)).toMatchObject({ closedAt: expect.any(Number) })
    expect(await outcome(answer(request))).toBe('gone')
    expect(await ask().catch((cause) => cause.code)).toBe('unauthenticated')
    await opened.store.accounts.setDisabled({ id: ann, disabled: false })
    expect(await look(request)).toMatchObject({ closedAt: null })
    const hash = Buffer.alloc(32, 1)
    const link = { hash, mail: null, purpose: 'reset' as const, accountId: ann, email: null, isAdmin: false }
    await opened.store.accountLinks.addLink({ ...link, endsTwoFactor: false, createdBy: null, session: null })
    await opened.store.accountLinks.useLink({ hash, email: '', passwordHash: 'y' })
    expect(await look(request)).toBeNull()
    expect(await outcome(answer(request))).toBe('not_found')
    expect(await ask().catch((cause) => cause.code)).toBe('unauthenticated')
    const other = await ask({}, 1)
    await opened.store.accounts.removeAccount(ann)
    expect(await look(other)).toBeNull()
    expect(await outcome(answer(other))).toBe('not_found')
  })

  test('five wrong passphrases are allowed in a minute, and the last one allowed in total closes the request', async () => {
    const request = await ask()
    const refuse = async (maxTries: number) =>
      (await requests().refusePassphrase({ id: request.id, maxTries }))?.outcome
    const tries = await Promise.all(Array.from({ length: 8 }, () => refuse(7)))
    expect(tries.filter((one) => one === 'refused')).toHaveLength(5)
    expect(tries.filter((one) => one === 'limited')).toHaveLength(3)
    opened.clock.advance(MINUTE)
    expect([await refuse(7), await refuse(7), await refuse(7)]).toEqual(['refused', 'refused', 'closed'])
    expect(await outcome(answer(request))).toBe('gone')
    expect(await requests().refusePassphrase({ id: request.id + 9, maxTries: 0 })).toBeNull()
  })

  test('an address without room cannot reserve an answer', async () => {
    const request = await ask({ maxAnswers: 9 })
    const share = { addresses: [Buffer.alloc(16, 1)], bytes: 10, limits: { pushes: 1, bytes: 0 } } as const
    expect(
      await requests().reserveAnswer({ id: request.id, share, fileId: crypto.randomUUID() }),
    ).not.toBeNull()
    await answer(request, null, { share })
    const refused = await requests()
      .reserveAnswer({ id: request.id, share, fileId: crypto.randomUUID() })
      .catch((cause) => cause.code)
    expect(refused).toBe('too_many')
    expect(await outcome(answer(request, null, { share }))).toBe('too_many')
    expect(await look(request)).toMatchObject({ answers: 1 })
    expect(await outcome(answer(request, null, { share: { ...share, limits: NO_LIMITS } }))).toBe('stored')
  })

  test('a request that ended long ago is purged with its reservations; its answers stay', async () => {
    const [old, young, lapsed] = [await ask(), await ask(), await ask({ expiresAt: opened.clock.now() + 1 })]
    await answer(old)
    await reserve(young)
    opened.clock.advance(DAY / 2)
    expect(await requests().purge(opened.clock.now() - DAY / 2)).toBe(2)
    expect([await look(old), await look(lapsed)]).toEqual([null, expect.anything()])
    expect(await requests().purge(opened.clock.now())).toBe(1)
    expect(await requests().purge(opened.clock.now())).toBe(0)
    expect([await look(lapsed), await look(young)]).toEqual([null, young])
    expect(await countPushes()).toBe(1)
  })
}
