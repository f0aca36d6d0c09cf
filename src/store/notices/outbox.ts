// Outgoing messages, stored with the commit that they report, until they are delivered or given up. A node
// leases a message for an attempt. So several nodes never try the same one at once, and if a node dies during
// an attempt, nothing is lost.

import { type DeliveryFailure, FAILED_KEPT, GIVE_UP_AFTER, LEASE, nextTryAt } from '../../domain/outbox.ts'
import type { DueMessage, OutboxCounts } from '../notices-contract.ts'
import { addTo, causing, forSome, locked, type RowOf, select, statement } from '../statements.ts'
import { first, isThere, type Parts, run, type Step } from '../steps.ts'
import { outbox } from '../tables.ts'
import { noteDelivery } from './webhooks.ts'

type Row = RowOf<typeof outbox>

/** How many rows one step removes or gives up before it leases a message. */
const SOME = 100
/** An id that no webhook has. */
const NOBODY = -1

const add = addTo(outbox, 'queued')
const takeFirst = forSome(
  (busy) =>
    locked(
      select(
        outbox,
        `WHERE due_at <= $1 AND ($2 = 0 OR webhook_id IS NULL) AND coalesce(webhook_id, 0) NOT IN (${busy})
          ORDER BY due_at, id LIMIT 1`,
      ),
      'FOR UPDATE SKIP LOCKED',
    ),
  2,
)
const NEXT_DUE = statement<{ at: number }>('SELECT due_at AS at FROM outbox ORDER BY due_at, id LIMIT 1')
const TAKE = statement('UPDATE outbox SET due_at = $2, tries = tries + 1 WHERE id = $1')
const GIVE_UP = statement('UPDATE outbox SET failed_at = $2, due_at = $3, body = $4 WHERE id = $1')
const REMOVE = statement('DELETE FROM outbox WHERE id = $1')
const PLAN = statement('UPDATE outbox SET due_at = $3 WHERE id = $1 AND tries = $2')
/**
 * Postpones the other messages of a webhook together with the failed one, but never beyond the time when each
 * is given up.
 */
const POSTPONE = statement(
  `UPDATE outbox SET tries = CASE WHEN tries < $3 THEN $3 ELSE tries END,
      due_at = CASE WHEN at + ${GIVE_UP_AFTER} < $2 THEN at + ${GIVE_UP_AFTER} ELSE $2 END
    WHERE webhook_id = $1 AND failed_at IS NULL AND due_at < $2`,
)
const HASTEN = statement(
  'UPDATE outbox SET due_at = $2 WHERE webhook_id = $1 AND failed_at IS NULL AND due_at > $2',
)
/** Makes failed messages due. Does not touch leased ones, whose leases end sooner. */
const HASTEN_ALL = statement(
  'UPDATE outbox SET due_at = $1 WHERE failed_at IS NULL AND tries > 0 AND due_at > $2',
)
/** Counts waiting mails by the key that seals them. The first four characters identify the key. */
export const MAIL_KEYS = statement<{ head: string; rows: number }>(
  "SELECT substr(body, 1, 4) AS head, count(*) AS rows FROM outbox WHERE kind IN ('link_mail', 'account_mail') AND body <> '' GROUP BY 1",
)
/** Columns that count the waiting messages and those that were given up. */
export const MESSAGE_COUNTS = `sum(CASE WHEN failed_at IS NULL THEN 1 ELSE 0 END) AS waiting,
  sum(CASE WHEN failed_at IS NULL THEN 0 ELSE 1 END) AS failed`
const COUNT_OF = statement<OutboxCounts>(
  `SELECT ${MESSAGE_COUNTS} FROM outbox WHERE account_id = $1 AND kind <> 'webhook'`,
)
/**
 * Makes messages due that are scheduled more than a day ahead, which happens only after the clock was ahead.
 */
const SET_BACK = causing(
  'queued',
  statement(`UPDATE outbox SET at = CASE WHEN at < $1 THEN at ELSE $1 END, due_at = $1
  WHERE at > $2 OR (due_at > $2 AND failed_at IS NULL)`),
)
const REMOVE_LINKS = statement(`DELETE FROM outbox WHERE push_id = $1 AND kind = 'link_mail'`)

/** Adds a mail, in the transaction of its cause. Events for webhooks are added by `tellWebhooks`. */
export function enqueue(message: Pick<Row, 'kind' | 'accountId' | 'pushId' | 'at' | 'body'>): Step<void> {
  return add({ ...message, dueAt: message.at, tries: 0 })
}

/** Removes the mails with the link of a push that ends. */
export function removeLinks(pushId: number): Step<void> {
  return run(REMOVE_LINKS, pushId)
}

/** Makes the messages due that were queued while the clock was ahead, or behind such messages. */
export function setBackMessages(now: number): Step<void> {
  return run(SET_BACK, now, now + GIVE_UP_AFTER)
}

/** Notifies one listener of queued messages. */
export function createBell() {
  let ring = () => {}
  return {
    ring: () => ring(),
    whenQueued(listener: () => void): void {
      ring = listener
    },
  }
}

export function createOutbox({ steps: { read, write }, trusted }: Pick<Parts, 'steps' | 'trusted'>) {
  function* takeDue(busy: readonly number[], onlyMail: boolean): Step<DueMessage | null> {
    const now = trusted()
    for (let looked = 0; now !== null && looked < SOME; looked += 1) {
      const [row] = yield* takeFirst([NOBODY, ...busy], now, onlyMail ? 1 : 0)
      if (row === undefined) return null
      if (row.failedAt !== null) yield* run(REMOVE, row.id)
      else if (row.at + GIVE_UP_AFTER <= now) yield* run(GIVE_UP, row.id, now, now + FAILED_KEPT, '')
      else {
        yield* run(TAKE, row.id, now + LEASE)
        return { ...row, tries: row.tries + 1 }
      }
    }
    return null
  }

  function* settleTry(message: DueMessage, error: DeliveryFailure | null): Step<void> {
    const now = trusted() ?? message.at
    const { id, webhookId, tries } = message
    const dueAt = error === null ? now : nextTryAt(message, now)
    yield* error === null ? run(REMOVE, id) : run(PLAN, id, tries, dueAt)
    if (webhookId === null) return
    yield* noteDelivery(webhookId, { error, now })
    yield* error === null ? run(HASTEN, webhookId, now) : run(POSTPONE, webhookId, dueAt, tries)
  }

  return {
    /**
     * Leases the message that has been due for longest. Skips receivers in `busy`: ids of webhooks, and 0 for
     * mail. Gives up messages that are too old. Returns null if none is due.
     */
    takeDue: (busy: readonly number[], { onlyMail = false } = {}) => write(() => takeDue(busy, onlyMail)),
    /**
     * Makes failed messages due at once. Called when a node starts, because its settings may have changed.
     */
    async hasten() {
      const now = trusted()
      if (now !== null) await write(() => run(HASTEN_ALL, now, now + LEASE))
    },
    /** Returns when the next message is due, which may be in the past; null if there is none. */
    findNextDue: async () => (await read(() => first(NEXT_DUE), isThere))?.at ?? null,
    /**
     * Removes a delivered message (no `error`), or schedules the next attempt. The other messages for its
     * webhook are postponed equally; a delivery makes them due at once. Does nothing if the message was
     * removed meanwhile.
     */
    settleTry: (message: DueMessage, error: DeliveryFailure | null) => write(() => settleTry(message, error)),
    /** Counts the mails of an account. Messages of webhooks are counted in the list of webhooks. */
    async countOf(accountId: number): Promise<OutboxCounts> {
      const counts = await read(() => first(COUNT_OF, accountId))
      return { waiting: counts?.waiting ?? 0, failed: counts?.failed ?? 0 }
    },
  }
}
