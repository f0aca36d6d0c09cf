// Which rows are sealed under which instance key, and how to reseal the data of accounts under another key or
// link.

import { MAIL_KEYS } from '../notices/outbox.ts'
import { WEBHOOK_KEYS, WEBHOOK_SECRETS } from '../notices/webhooks.ts'
import { REQUEST_KEYS } from '../requests.ts'
import { type RowOf, statement } from '../statements.ts'
import { all, run, type Step } from '../steps.ts'
import type { pushes, pushLabels } from '../tables.ts'
import { keyNumberOf } from './idempotency-keys.ts'

/** The number of rows of a kind that need a key. */
export type KeyUse = { number: number; kind: string; rows: number }

/** Counts rows by their key number. Marks of imported rows need no key. */
const BY_NUMBER = statement<KeyUse>(
  `SELECT CASE WHEN expired_on IS NULL THEN 'live push' ELSE 'ended push' END AS kind, key_number AS number, count(*) AS rows
    FROM pushes GROUP BY 1, 2
  UNION ALL SELECT 'idempotency key', key_number, count(*) FROM idempotency_keys GROUP BY 2`,
)
/** Counts rows by the key number in a sealed value, its second byte. */
const BY_VALUE = statement<{ kind: string; head: Uint8Array; rows: number }>(
  `SELECT 'second factor' AS kind, substr(totp_secret, 1, 2) AS head, count(*) AS rows FROM accounts
    WHERE totp_secret IS NOT NULL GROUP BY 2
  UNION ALL SELECT 'name and link', substr(url_token, 1, 2), count(*) FROM push_labels GROUP BY 2
  UNION ALL ${WEBHOOK_KEYS} UNION ALL ${REQUEST_KEYS}`,
)

/** Reads all pushes. Ordered here, because PostgreSQL groups rows in any order. */
export function* listKeyUses(): Step<KeyUse[]> {
  const byValue = yield* all(BY_VALUE)
  const byText = yield* all(MAIL_KEYS)
  const uses = [
    ...(yield* all(BY_NUMBER)),
    ...byValue.map(({ kind, head, rows }) => ({ kind, number: keyNumberOf(head), rows })),
    ...byText.map(({ head, rows }) => ({
      ...{ kind: 'mail that waits', number: keyNumberOf(Buffer.from(head, 'base64url')), rows },
    })),
  ]
  return uses.toSorted((one, other) => one.kind.localeCompare(other.kind) || one.number - other.number)
}

export function* isKeyNeeded(number: number): Step<boolean> {
  return (yield* listKeyUses()).some((use) => use.number === number)
}

const SECOND_FACTORS = {
  list: statement<Secret & { id: number }>(
    'SELECT id, id AS "accountId", totp_secret AS sealed FROM accounts WHERE totp_secret IS NOT NULL',
  ),
  keep: statement('UPDATE accounts SET totp_secret = $2 WHERE id = $1'),
}
const SECRETS = { totp: SECOND_FACTORS, webhook: WEBHOOK_SECRETS }

/** A sealed field of an account, or of the administrators (null). */
type Secret = { accountId: number | null; sealed: Uint8Array }
type Seal = (field: keyof typeof SECRETS, secret: Secret) => Uint8Array | null

/** Reseals secrets. `seal` returns null for a damaged one, which stays unchanged. */
export function* resealSecrets(seal: Seal): Step<void> {
  for (const field of ['totp', 'webhook'] as const)
    for (const secret of yield* all<Secret & { id: number }>(SECRETS[field].list)) {
      const resealed = seal(field, secret)
      if (resealed !== null) yield* run(SECRETS[field].keep, secret.id, resealed)
    }
}

type Labels = Pick<RowOf<typeof pushLabels>, 'urlToken' | 'name' | 'note' | 'request'>
/** The lookup of a push by its link, and its owner's sealed labels. */
export type Linked = Pick<RowOf<typeof pushes>, 'lookup' | 'keyNumber'> & Labels
/** `isOver`: it has ended, and has no valid download grant. */
export type OwnedPush = Linked & { id: number; ownerId: number; isOver: boolean }

const SOME = 500
const OWNED = statement<Omit<OwnedPush, 'isOver'> & { isOver: number }>(
  `SELECT p.id, p.lookup, p.key_number AS "keyNumber", p.owner_id AS "ownerId", l.url_token AS "urlToken", l.name, l.note, l.request,
      CASE WHEN p.expired_on IS NOT NULL AND NOT EXISTS (SELECT 1 FROM files_due d WHERE d.push_id = p.id) THEN 1 ELSE 0 END AS "isOver"
    FROM pushes p JOIN push_labels l ON l.push_id = p.id
    WHERE p.owner_id IS NOT NULL AND p.id > $1 ORDER BY p.id LIMIT ${SOME}`,
)
const FIND_BY = statement('UPDATE pushes SET lookup = $2, key_number = $3 WHERE id = $1')
const LABEL = statement(
  'UPDATE push_labels SET url_token = $2, name = $3, note = $4, request = $5 WHERE push_id = $1',
)

/**
 * Changes the links and labels of some pushes after `id`. Resolves to the id of the last one; null after the
 * last push.
 */
export function* relinkSome(after: number, change: (push: OwnedPush) => Linked | null): Step<number | null> {
  const some = yield* all(OWNED, after)
  for (const { isOver, ...push } of some) {
    const linked = change({ ...push, isOver: isOver === 1 })
    if (linked === null) continue
    yield* run(FIND_BY, push.id, linked.lookup, linked.keyNumber)
    yield* run(LABEL, push.id, linked.urlToken, linked.name, linked.note, linked.request)
  }
  return some.at(-1)?.id ?? null
}
