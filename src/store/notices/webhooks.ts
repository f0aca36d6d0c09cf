// The webhooks of accounts, and those of administrators for the events of all accounts.

import { type DomainError, invalidFields } from '../../domain/errors.ts'
import type { EventType } from '../../domain/events.ts'
import { type DeliveryFailure, MOST_WAITING, MOST_WAITING_MAILS, MOST_WEBHOOKS } from '../../domain/outbox.ts'
import type { ListedWebhook, StoredWebhook, WebhookToStore } from '../notices-contract.ts'
import { inactiveAccount } from '../refusals.ts'
import { causing, insertInto, locked, namesOf, type RowOf, select, statement } from '../statements.ts'
import { affected, all, first, isThere, type Parts, run, type Step } from '../steps.ts'
import { accounts, webhooks } from '../tables.ts'

type Row = RowOf<typeof webhooks>

const LOCK_ACCOUNT = locked(select(accounts, 'WHERE id = $1'))
const FIND = select(webhooks, 'WHERE id = $1')
const COUNTED = `(SELECT count(*) FROM outbox o WHERE o.webhook_id = w.id AND o.failed_at IS`
const LIST = `SELECT ${namesOf(webhooks, 'w.')}, ${COUNTED} NULL) AS waiting, ${COUNTED} NOT NULL) AS failed FROM webhooks w`
const LIST_OF = statement<Row & { waiting: number; failed: number }>(
  `${LIST} WHERE w.account_id IS NOT DISTINCT FROM $1 ORDER BY w.id`,
)
const insert = insertInto(webhooks)
const REMOVE = statement<{ id: number }>(
  'DELETE FROM webhooks WHERE id = $1 AND account_id IS NOT DISTINCT FROM $2 RETURNING id',
)
const REMOVE_WAITING = statement('DELETE FROM outbox WHERE webhook_id = $1')
const DELIVERED = statement('UPDATE webhooks SET last_delivery = $2, last_error = NULL WHERE id = $1')
const FAILED = statement('UPDATE webhooks SET last_error = $2, last_failure = $3 WHERE id = $1')
const CHANGE = statement(
  'UPDATE webhooks SET events = $3 WHERE id = $1 AND account_id IS NOT DISTINCT FROM $2',
)
const ACTIVE = '(SELECT id FROM accounts WHERE id = $1 AND disabled_at IS NULL)'
const [PUSH_ID, AT, BODY] = ['CAST($2 AS BIGINT)', 'CAST($5 AS BIGINT)', 'CAST($6 AS TEXT)']
const ABOUT_IT = `LIKE '%,' || CAST($4 AS TEXT) || ',%'`
/**
 * Adds the messages of an event for each webhook, and the mail that the account chose. A message waits behind
 * the earlier ones of a failing webhook. The number of waiting messages is limited for each webhook, and for
 * the mail of an account.
 */
const TELL = causing(
  'queued',
  statement(
    `INSERT INTO outbox (kind, account_id, webhook_id, push_id, at, due_at, tries, body)
      SELECT 'webhook', w.account_id, w.id, ${PUSH_ID}, ${AT},
        coalesce((SELECT min(o.due_at) FROM outbox o WHERE o.webhook_id = w.id AND o.failed_at IS NULL), ${AT}), 0, ${BODY}
      FROM webhooks w
      WHERE ((w.account_id IS NULL AND $3) OR w.account_id = ${ACTIVE}) AND w.events ${ABOUT_IT} AND ${COUNTED} NULL) < ${MOST_WAITING}
      UNION ALL SELECT 'event_mail', p.account_id, NULL, ${PUSH_ID}, ${AT}, ${AT}, 0, ${BODY}
      FROM preferences p
      WHERE p.account_id = ${ACTIVE} AND p.mail_events ${ABOUT_IT} AND (SELECT count(*) FROM outbox o
        WHERE o.account_id = p.account_id AND o.kind = 'event_mail' AND o.failed_at IS NULL) < ${MOST_WAITING_MAILS}`,
  ),
)

export type NewEvent = { type: EventType; at: number; data: object }

/**
 * Queues the messages of an event in its transaction, for webhooks and mail. `forEverybody`: also for the
 * webhooks of the administrators.
 */
export function tellWebhooks(
  accountId: number,
  event: NewEvent,
  { pushId, forEverybody }: { pushId: number | null; forEverybody: boolean },
): Step<void> {
  const { type, at, data } = event
  return run(TELL, accountId, pushId, forEverybody, type, at, JSON.stringify({ type, at, data }))
}

export function* noteDelivery(
  id: number,
  { error, now }: { error: DeliveryFailure | null; now: number },
): Step<void> {
  yield* error === null ? run(DELIVERED, id, now) : run(FAILED, id, error, now)
}

export function createWebhooks({ steps: { read, write }, now }: Pick<Parts, 'steps' | 'now'>) {
  /** Adds a webhook. Locks the account, so that concurrent adds do not exceed the limit. */
  function* add({ events, ...webhook }: WebhookToStore): Step<StoredWebhook> {
    const { accountId } = webhook
    if (accountId !== null) {
      const account = yield* first(LOCK_ACCOUNT, accountId)
      if (account === null || account.disabledAt !== null) throw inactiveAccount()
    }
    if ((yield* all(LIST_OF, accountId)).length >= MOST_WEBHOOKS) throw tooMany()
    return present(yield* insert({ ...webhook, events: listed(events), createdAt: now() }))
  }

  function* remove({ id, accountId }: { id: number; accountId: number | null }): Step<boolean> {
    if (!(yield* affected(REMOVE, id, accountId))) return false
    yield* run(REMOVE_WAITING, id)
    return true
  }

  return {
    /** Throws `invalid` above MOST_WEBHOOKS, `unauthenticated` when the account is not active. */
    addWebhook: (webhook: WebhookToStore) => write(() => add(webhook), { grows: true }),
    listWebhooks: async (accountId: number | null): Promise<ListedWebhook[]> =>
      (await read(() => all(LIST_OF, accountId))).map(present),
    async findWebhook(id: number): Promise<StoredWebhook | null> {
      const row = await read(() => first(FIND, id), isThere)
      return row && present(row)
    },
    /**
     * Changes the events of a webhook. Does nothing unless it belongs to this account, or, if null, to the
     * administrators.
     */
    changeEvents: (of: { id: number; accountId: number | null }, events: readonly EventType[]) =>
      write(() => run(CHANGE, of.id, of.accountId, listed(events))),
    /**
     * Removes a webhook and its messages. Returns false unless it belongs to this account, or, if null, to
     * the administrators.
     */
    removeWebhook: (of: { id: number; accountId: number | null }) => write(() => remove(of)),
    /** Records the result of a test. */
    noteTest: (id: number, error: DeliveryFailure | null) =>
      write(() => noteDelivery(id, { error, now: now() })),
  }
}

function present<R extends Row>({ events, ...row }: R) {
  return { ...row, events: events.split(',').filter(Boolean) }
}

function listed(events: readonly string[]): string {
  return `,${events.join()},`
}

function tooMany(): DomainError {
  return invalidFields({ url: [{ code: 'too_many_webhooks', limit: MOST_WEBHOOKS }] })
}

/** Selects the key number of each sealed webhook, its second byte. */
export const WEBHOOK_KEYS = `SELECT 'webhook' AS kind, substr(sealed, 1, 2) AS head, count(*) AS rows FROM webhooks GROUP BY 2`

/** Statements that reseal webhook secrets under a new key. */
export const WEBHOOK_SECRETS = {
  list: select(webhooks, 'ORDER BY id'),
  keep: statement('UPDATE webhooks SET sealed = $2 WHERE id = $1'),
}
