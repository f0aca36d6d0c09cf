// Long polling of events: answers at once if there are some, else when the next one is recorded. All waiting
// requests of a node share four polls a second, which find the events of every node and end the waits whose
// token or account is no longer valid.

import { DomainError } from '../domain/errors.ts'
import { SECOND } from '../domain/time.ts'
import type { Store } from '../store/contract.ts'
import type { AccountEvent } from '../store/notices-contract.ts'

/** Concurrent waits per account and node. */
const MOST_AT_ONCE = 3
const LOOK_EVERY_MS = SECOND / 4

type Poll = {
  accountId: number
  /** The id of the presented API token. */
  tokenId: number
  /** The number of the last event that the client knows; null or 0 for all stored events. */
  after: number | null
  /** Milliseconds. */
  wait: number
  /** Aborted when the client disconnects. */
  signal: AbortSignal
}

export type EventPage = { events: AccountEvent[]; next: number }

type End = 'told' | 'refused' | 'over'
type WaitingPoll = Pick<Poll, 'accountId' | 'tokenId'> & { after: number; end: (how: End) => void }

export type Events = ReturnType<typeof createEvents>

export function createEvents({ store }: { store: Store['events'] }) {
  const running = new Set<Poll>()
  const waiting = new Set<WaitingPoll>()
  let timer: Timer | undefined
  let isStopped = false

  /**
   * Resolves to the next events. Throws `too_many`; `gone` for a number before the oldest event or after the
   * newest; and `unauthenticated` if the token is revoked while the client waits.
   */
  async function poll(asked: Poll): Promise<EventPage> {
    const own = [...running].filter(({ accountId }) => accountId === asked.accountId)
    if (own.length >= MOST_AT_ONCE) throw tooMany()
    running.add(asked)
    return pollOnce(asked).finally(() => running.delete(asked))
  }

  async function pollOnce(asked: Poll): Promise<EventPage> {
    const page = await read(asked)
    if (page.events.length > 0 || asked.wait === 0) return page
    const end = await waitFor(asked, page.next)
    if (end === 'refused') throw new DomainError('unauthenticated', 'The API token is not valid any more.')
    return end === 'told' ? read({ ...asked, after: page.next }) : page
  }

  async function read(asked: Pick<Poll, 'accountId' | 'after'>): Promise<EventPage> {
    const after = asked.after ?? 0
    const { events, first, last } = await store.listEvents({ accountId: asked.accountId, after })
    if (after > last) throw gone(NEVER_GIVEN)
    const kept = first === 0 ? last : first - 1
    if (after !== 0 && after < kept) throw gone(NOT_KEPT)
    return { events, next: events.at(-1)?.n ?? (after || kept) }
  }

  async function waitFor({ accountId, tokenId, wait, signal }: Poll, after: number): Promise<End> {
    if (isStopped || signal.aborted) return 'over'
    const { promise, resolve: end } = Promise.withResolvers<End>()
    const one = { accountId, tokenId, after, end }
    const onOver = () => end('over')
    const over = setTimeout(onOver, wait)
    signal.addEventListener('abort', onOver)
    waiting.add(one)
    timer ??= setInterval(look, LOOK_EVERY_MS)
    try {
      return await promise
    } finally {
      clearTimeout(over)
      signal.removeEventListener('abort', onOver)
      waiting.delete(one)
      if (waiting.size === 0) timer = void clearInterval(timer)
    }
  }

  /** Polls the store. A failed poll ends no wait, because the next one may succeed. */
  async function look(): Promise<void> {
    const some = [...waiting]
    const accountIds = [...new Set(some.map(({ accountId }) => accountId))]
    const tokenIds = [...new Set(some.map(({ tokenId }) => tokenId))]
    const found = await store.look({ accountIds, tokenIds }).catch(() => null)
    if (found === null) return
    for (const { accountId, tokenId, after, end } of some) {
      if (!found.validTokens.has(tokenId)) end('refused')
      else if ((found.last.get(accountId) ?? 0) > after) end('told')
    }
  }

  /** Ends all waits. Later requests are answered at once. */
  function stop(): void {
    isStopped = true
    for (const { end } of waiting) end('over')
  }

  return { poll, stop }
}

function tooMany(): DomainError {
  const message = `This account waits for events ${MOST_AT_ONCE} times already: end one of them first.`
  return new DomainError('too_many', message, { retryAfter: 1 })
}

const NOT_KEPT = 'The events after this number are not kept any more: ask without it for all that are.'
const NEVER_GIVEN =
  'No event of this account was ever given this number: ask without it for all events that are kept.'

function gone(message: string): DomainError {
  return new DomainError('gone', message)
}
