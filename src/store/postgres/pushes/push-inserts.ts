// Inserts new pushes with everything that belongs to them, as many as there are, in one statement.

import type { PushToStore } from '../../face.ts'
import type { Statement } from '../engine/database.ts'
import { type GivenFile, type GivenPush, plainValues, wholeValues } from './insert-columns.ts'
import { INSERT_PLAIN, INSERT_WHOLE, REFUSALS, type Refusal } from './insert-statement.ts'
import { EMPTY_LOG, storableText } from './push-log.ts'
import type { PushRow } from './stored-push.ts'

/**
 * What the insert did with a push. It is `inactive` when its owner is, or has begun anew with a reset link since the request
 * came; `used` when its idempotency key was used; and `abandoned` when one of its files is no upload any more, because the other
 * nodes took this one for dead.
 */
export type Inserted = { outcome: 'stored'; row: PushRow } | { outcome: Refusal }

/**
 * A statement that inserts these pushes, no two with the same idempotency key; keys that have lapsed by `now` may be used again.
 * It is a transaction by itself when it gets the id of its operation.
 */
export function insertOf(
  wanted: readonly PushToStore[],
  { now, operationId }: { now: number; operationId: Uint8Array | null },
): Statement {
  const isPlain = wanted.every(hasOnlySecrets)
  const rows = wanted.map(givenOf)
  const values = isPlain
    ? plainValues(rows)
    : wholeValues(rows, { files: filesOf(wanted), owners: ownersOf(wanted), now })
  const { insert, commit } = isPlain ? INSERT_PLAIN : INSERT_WHOLE
  return operationId === null ? { text: insert, values } : { text: commit, values: [...values, operationId] }
}

/** What the result of the statement says of each push. */
export function insertedBy(result: readonly number[], wanted: readonly PushToStore[]): Inserted[] {
  return wanted.map((of, n) => {
    const id = result[n] ?? 0
    return id > 0 ? { outcome: 'stored', row: rowOf(of, id) } : { outcome: REFUSALS[-id] ?? 'used' }
  })
}

function hasOnlySecrets({ push, labels, files, idempotency, share }: PushToStore): boolean {
  return (
    push.ownerId === null && labels === null && files.length === 0 && idempotency === null && share === null
  )
}

const NEW_LOG = { ...EMPTY_LOG, auditDropped: 0, entries: 1, auditEntries: 1 }

function rowOf({ push, lookup, keyNumber, files }: PushToStore, id: number): PushRow {
  return { ...push, id, version: 0, lookup, keyNumber, files: files.length, ...NEW_LOG }
}

function givenOf(of: PushToStore): GivenPush {
  const { secrets, visit } = of
  return {
    ...rowOf(of, 0),
    ...secrets,
    ip: storableText(visit.ip),
    userAgent: storableText(visit.userAgent),
    referrer: storableText(visit.referrer),
    keyLookup: of.idempotency?.lookup ?? null,
    keyLapsesAt: of.idempotency?.lapsesAt ?? null,
    keyAnswer: of.idempotency?.answer ?? null,
    urlToken: of.labels?.urlToken ?? null,
    name: of.labels?.name ?? null,
    note: of.labels?.note ?? null,
    shareAddress: of.share?.addresses[0] ?? null,
    shareBytes: of.share?.bytes ?? null,
    ownerResets: of.ownerResets,
  }
}

function ownersOf(wanted: readonly PushToStore[]): number[] {
  const owners = wanted.flatMap(({ push: { ownerId } }) => (ownerId === null ? [] : [ownerId]))
  return [...new Set(owners)]
}

/** `pushNumber` is the place of the push among those that are wanted, from 1. */
function filesOf(wanted: readonly PushToStore[]): GivenFile[] {
  return wanted.flatMap((of, index) => of.files.map((file, n) => ({ ...file, n, pushNumber: index + 1 })))
}
