// Stores, changes and removes a push with all that belongs to it. Every change holds the lock of its row in
// `push_state` (push-locks.ts), so that visits to one push run one after another.

import type { NewEntry } from '../../domain/audit.ts'
import { eventsOf, TRIED } from '../../domain/events.ts'
import type { Change } from '../../domain/visits.ts'
import { holdAccount, newEventId, tell } from '../notices/events.ts'
import { removeLinks } from '../notices/outbox.ts'
import type { PushToStore, StoredPush } from '../pushes-contract.ts'
import type { SealedSecrets } from '../sealed-contract.ts'
import { isFirstTry } from '../shared-state.ts'
import { addTo, causing, insertForId, statement, updateOf } from '../statements.ts'
import { first, LAST_ID, run, type Step, together } from '../steps.ts'
import { pushes, pushLabels, pushSecrets, pushState } from '../tables.ts'
import { lowerShare, removingShare } from './address-shares.ts'
import { appending, type Room, removeLog } from './audit-log.ts'
import { attachFiles, endGrants, releaseFiles } from './file-rows.ts'
import { forgetAnswer, lockingKey } from './idempotency-keys.ts'
import { createSlots } from './slots.ts'
import { NOT_VIEWED } from './stored-push.ts'

const REMOVE_SECRETS = causing(
  'destroyed',
  statement<{ keySlot: number }>(
    'DELETE FROM push_secrets WHERE push_id = $1 RETURNING key_slot AS "keySlot"',
  ),
)
const REMOVE = ['push_labels', 'push_state'].map((table) =>
  statement(`DELETE FROM ${table} WHERE push_id = $1`),
)
const REMOVE_PUSH = causing('destroyed', statement('DELETE FROM pushes WHERE id = $1'))
const insert = insertForId(pushes)
/** `added` follows the insert of a slot, and names it. */
const addSecrets = { found: addTo(pushSecrets), added: addTo(pushSecrets, null, { key_slot: LAST_ID }) }
const addLabels = addTo(pushLabels)
const CHANGING = [
  ...(['updatedAt', 'views', 'lastViewedAt', 'wrongTries', 'wrongTriesSince', 'wrongTriesInAll'] as const),
  ...(['triesSpent', 'auditEntries', 'failures', 'ownerViews', 'edits'] as const),
  ...(['countedFailures', 'countedAt', 'countedFrom'] as const),
]
/**
 * Statements that write the state. `logged` follows the insert of an entry, and sets that as the last one.
 */
type StateWriter = Record<'plain' | 'logged', (push: StoredPush) => Step<void>>
const LAST_ENTRY = { last_entry: LAST_ID }
const addState: StateWriter = { plain: addTo(pushState), logged: addTo(pushState, null, LAST_ENTRY) }
const updateState: StateWriter = {
  plain: updateOf(pushState, CHANGING),
  logged: updateOf(pushState, CHANGING, LAST_ENTRY),
}
/** Columns that edits and ends change. */
const MUTABLE = [
  ...(['expiresAt', 'expireAfterDays', 'expireAfterViews', 'expiredOn', 'deleted', 'lost'] as const),
  'isNew' as const,
]
const updatePush = updateOf(pushes, MUTABLE)

const keys = createSlots({ table: 'push_keys', column: 'wrapped_key', bytes: 62 })

export type PushToInsert = Pick<PushToStore, 'push' | 'lookup' | 'keyNumber' | 'labels' | 'files'> & {
  /** The sealed secrets; null for an expired push. */
  secrets: SealedSecrets | null
}

/** Stores a push with the rows that belong to it alone. */
export function* insertPush(
  of: PushToInsert,
  past: Room & { entries: readonly NewEntry[]; seenViews: number; requestId: number | null },
): Step<StoredPush> {
  const { lookup, keyNumber, files } = of
  let stored: StoredPush = {
    ...of.push,
    lastViewedAt: of.push.lastViewedAt || NOT_VIEWED,
    id: 0,
    lookup,
    keyNumber,
    files: files.length,
    auditEntries: 0,
    failures: 0,
    ownerViews: 0,
    edits: 0,
    countedFailures: 0,
    countedAt: 0,
    countedFrom: '',
  }
  const [{ id }, found] = yield* together(insert(stored), keys.find())
  stored.id = id
  stored = yield* writeState(addState, stored, past.entries[0] ?? null, past)
  for (const entry of past.entries.slice(1)) stored = yield* writeState(updateState, stored, entry, past)
  if (of.secrets !== null) {
    const { salt, wrappedKey, passphraseSalt, payload } = of.secrets
    yield* keys.store(found, wrappedKey)
    const add = found === null ? addSecrets.added : addSecrets.found
    yield* add({ pushId: id, keySlot: found?.slot ?? 0, salt, passphraseSalt, payload })
  }
  const { labels } = of
  if (labels) {
    const { seenViews, requestId } = past
    const own = { namesRecipient: labels.namesRecipient ?? false, eventId: newEventId() }
    yield* addLabels({ pushId: id, ...labels, ...own, seenViews, requestId })
  }
  if (files.length > 0) yield* attachFiles(id, files)
  stored.lastViewedAt = of.push.lastViewedAt
  return stored
}

/**
 * Writes a change of a locked push, and destroys its secrets if it ends. Writes nothing if the change is
 * null.
 */
export function* write(before: StoredPush, change: Change<StoredPush> | null, room: Room): Step<StoredPush> {
  if (change === null) return before
  const { after, now, entry } = change
  const push = yield* writeState(
    updateState,
    after,
    entry && { kind: entry.kind, at: now, visit: entry.visit },
    room,
  )
  if (MUTABLE.some((name) => before[name] !== push[name])) {
    if (push.ownerId !== null) yield* holdAccount(push.ownerId)
    yield* updatePush(push)
  }
  if (before.expiredOn === null && push.expiredOn !== null) {
    const isLastView = entry?.kind === 'view'
    yield* destroy(push, isLastView ? { viewedAt: now, until: push.expiresAt } : { at: now })
  } else if (before.deleted !== push.deleted) yield* endGrants(push.id, now)
  if (push.ownerId !== null) {
    const types = eventsOf(before, change)
    if (types !== TRIED || (yield* isFirstTry(push.id, now))) yield* tell(push, types, now)
  }
  return push
}

/** Writes the state after a visit, and its log entry unless it is only counted. */
function* writeState(
  how: StateWriter,
  push: StoredPush,
  entry: NewEntry | null,
  room: Room,
): Step<StoredPush> {
  const { push: counted, add } = entry === null ? { push, add: null } : appending(push, entry, room)
  if (add !== null) yield* add
  yield* (add === null ? how.plain : how.logged)(counted)
  return counted
}

function* destroy({ id, ownerId, files }: StoredPush, when: Parameters<typeof releaseFiles>[1]): Step<void> {
  const [secrets, share] = yield* together(first(REMOVE_SECRETS, id), removingShare(id))
  if (secrets !== null) yield* keys.destroy(secrets.keySlot)
  if (share !== null) yield* lowerShare(share)
  // Lock this after the sum of the address, in the same order as creates do.
  const key = yield* lockingKey(id)
  if (key !== null) yield* forgetAnswer(key)
  if (files > 0) yield* releaseFiles(id, when)
  // Links of anonymous pushes are never mailed.
  if (ownerId !== null) yield* removeLinks(id)
}

/** Removes every trace of a push that is locked. */
export function* removePush(push: StoredPush, now: number): Step<void> {
  if (push.expiredOn === null) yield* destroy(push, { at: now })
  else if (push.files > 0) yield* endGrants(push.id, now)
  yield* removeLog(push.id)
  for (const statement of REMOVE) yield* run(statement, push.id)
  yield* run(REMOVE_PUSH, push.id)
}
