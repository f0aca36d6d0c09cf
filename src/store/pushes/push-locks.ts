// Finds one push with all that belongs to it, or locks it for a change. The lock is that of its row in
// `push_state`; all its other rows are read after the lock.

import { DamageError } from '../../domain/errors.ts'
import { lockCounts } from '../notices/events.ts'
import type { SealedContent, StoredPush } from '../pushes-contract.ts'
import type { SealedSecrets } from '../sealed-contract.ts'
import { forSome, locked, namesOf, type RowOf, select, statement } from '../statements.ts'
import { first, type Step, together } from '../steps.ts'
import { pushes, pushState } from '../tables.ts'
import { lockShares } from './address-shares.ts'
import { listFiles } from './file-rows.ts'
import { lockKeys } from './idempotency-keys.ts'
import { NOT_VIEWED, presentPush } from './stored-push.ts'

const FIND = select(pushes, 'WHERE id = $1')
const LINKED = '(SELECT push_id FROM links WHERE lookup = $1)'
/** Finds a push by one statement, because outside a transaction SQLite locks the database for each. */
const FIND_WHOLE = statement<RowOf<typeof pushes> & RowOf<typeof pushState>>(
  `SELECT ${namesOf(pushes, 'p.')}, ${namesOf(pushState, 's.')}
    FROM pushes p JOIN push_state s ON s.push_id = p.id WHERE p.id = ${LINKED}`,
)
const LOCK = locked(select(pushState, 'WHERE push_id = $1'))
const FIND_LINKED = select(pushes, `WHERE id = ${LINKED}`)
const LOCK_LINKED = locked(select(pushState, `WHERE push_id = ${LINKED}`))
const LOCK_SOME = forSome((ids) => locked(select(pushState, `WHERE push_id IN (${ids}) ORDER BY push_id`)))
const LOCK_FREE = forSome((ids) =>
  locked(select(pushState, `WHERE push_id IN (${ids}) ORDER BY push_id`), 'FOR UPDATE SKIP LOCKED'),
)
const FIND_SOME = forSome((ids) => select(pushes, `WHERE id IN (${ids}) ORDER BY id`))
/** Selects secrets with subqueries, because in SQLite each join takes longer than a separate statement. */
const secretsOf = (id: string) =>
  statement<SealedSecrets>(
    `SELECT salt, passphrase_salt AS "passphraseSalt", payload,
      (SELECT wrapped_key FROM push_keys WHERE slot = key_slot) AS "wrappedKey"
    FROM push_secrets WHERE push_id = ${id}`,
  )
const SECRETS = secretsOf('$1')
const SECRETS_LINKED = secretsOf(LINKED)

export function* findPush(lookup: Uint8Array): Step<StoredPush | null> {
  const found = yield* first(FIND_WHOLE, lookup)
  if (found?.lastViewedAt === NOT_VIEWED) found.lastViewedAt = 0
  return found
}

/** Locks the push, with all that belongs to it, until the transaction ends. */
export function* lockPush(id: number): Step<StoredPush | null> {
  const [state, push] = yield* together(first(LOCK, id), first(FIND, id))
  return push && state && presentPush(push, state)
}

/** `secrets` are null once they were destroyed. */
type LinkedRows = { push: StoredPush; secrets: SealedSecrets | null }

/** Locks a push by its link. */
export function* lockLinked(lookup: Uint8Array, isRemote: boolean): Step<LinkedRows | null> {
  if (isRemote) return yield* lockAtOnce(lookup)
  const push = yield* findPush(lookup)
  return push && { push, secrets: yield* first(SECRETS, push.id) }
}

/** Locks in one round trip, which takes longer than three lookups of the link. */
function* lockAtOnce(lookup: Uint8Array): Step<LinkedRows | null> {
  const [state, row, secrets] = yield* together(
    first(LOCK_LINKED, lookup),
    first(FIND_LINKED, lookup),
    first(SECRETS_LINKED, lookup),
  )
  return state && row && { push: presentPush(row, state), secrets }
}

/**
 * Locks several pushes, and returns those that exist, by id. `skips`: leaves out pushes that another
 * transaction has locked.
 */
export function* lockPushes(ids: readonly number[], { skips = false } = {}): Step<StoredPush[]> {
  const states = yield* skips ? LOCK_FREE(ids) : LOCK_SOME(ids)
  const held = states.map(({ id }) => id)
  yield* lockShares(held)
  yield* lockKeys(held)
  const found = yield* FIND_SOME(held)
  yield* lockCounts(found.map(({ ownerId }) => ownerId))
  const byId = new Map(states.map((state) => [state.id, state]))
  return found.flatMap((push) => {
    const state = byId.get(push.id)
    return state === undefined ? [] : [presentPush(push, state)]
  })
}

/**
 * Returns null when the push was purged meanwhile. Throws DamageError when a part of a live push is missing.
 */
export function* findContent(push: StoredPush): Step<SealedContent | null> {
  return yield* withFiles(push, yield* first(SECRETS, push.id))
}

/** Adds the rows of its files to the secrets of a push, as `findContent` does. */
export function* withFiles(
  { id, files: number }: StoredPush,
  secrets: SealedSecrets | null,
): Step<SealedContent | null> {
  const files = number === 0 ? [] : yield* listFiles(id)
  if (secrets !== null && files.length === number)
    return { secrets, files: files.map(({ pushId: _, n: __, ...file }) => file) }
  // The push may have ended between these reads.
  const push = yield* first(FIND, id)
  if (push !== null && push.expiredOn === null) throw new DamageError(`push ${id}`)
  return null
}
