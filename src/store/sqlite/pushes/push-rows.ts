// The statements about one push that several operations use: find it, write a change, destroy its secrets.

import { eq, max, sql } from 'drizzle-orm'
import type { Visit } from '../../../domain/audit.ts'
import { DamageError } from '../../../domain/errors.ts'
import type { Step } from '../../../domain/visits.ts'
import type { SealedSecrets } from '../../face.ts'
import type { Connection } from '../engine/database.ts'
import { placeholdersOf } from '../engine/placeholders.ts'
import { prepareFind, prepareInsert, prepareUpdate } from '../engine/prepared.ts'
import { pushes, pushLabels, pushSecrets } from '../engine/schema.ts'
import type { FileRows } from '../files/file-rows.ts'
import { checksumOf, isIntact, requireIntactRow } from '../integrity/row-checksum.ts'
import type { NewEntry } from './audit-chains.ts'
import { type AuditRows, EMPTY_LOG, type Log } from './audit-rows.ts'
import type { DoubtfulKeys } from './doubtful-keys.ts'
import type { IdempotencyRows } from './idempotency-keys.ts'
import { checksumOfPush, checksumWithoutOwner, type PushRow, requireIntactPush } from './push-checksum.ts'
import type { PushKeys } from './push-keys.ts'

type StoredSecrets = Omit<typeof pushSecrets.$inferSelect, 'pushId'> & { wrappedKey: Uint8Array }
export type LabelsRow = typeof pushLabels.$inferSelect

export type NewPushRow = Omit<PushRow, 'id' | 'auditDropped' | 'checksum' | keyof Log>

/** The columns that most visits change. Without expired_on, because an update that names it rewrites three indexes. */
const PROGRESS = [
  ...([
    'views',
    'lastViewedAt',
    'updatedAt',
    'wrongTries',
    'wrongTriesSince',
    'wrongTriesInAll',
    'triesSpent',
  ] as const),
  ...(['lastEntry', 'auditEntries', 'failures', 'ownerViews', 'edits'] as const),
  ...(['countedFailures', 'countedAt', 'countedFrom'] as const),
  'checksum' as const,
]

export type PushRows = ReturnType<typeof createPushRows>

export type PushRowsOptions = {
  connection: Connection
  audit: AuditRows
  keys: PushKeys
  doubtfulKeys: Pick<DoubtfulKeys, 'note'>
  files: FileRows
  idempotency: Pick<IdempotencyRows, 'forgetAnswerOf'>
  /** Called when something is destroyed, so that the write-ahead log gets emptied after the commit. */
  onDestroyed: () => void
}

export function createPushRows(options: PushRowsOptions) {
  const { connection, audit, keys, doubtfulKeys, files, idempotency, onDestroyed } = options
  const { orm, database } = connection
  const id = sql.placeholder('id')
  const insertPush = prepareInsert(database, pushes)
  const insertSecrets = prepareInsert(database, pushSecrets)
  const insertLabels = orm.insert(pushLabels).values(placeholdersOf(pushLabels)).prepare()
  const findById = prepareFind(database, pushes, 'id')
  const findByLookup = prepareFind(database, pushes, 'lookup')
  const findSecrets = database.prepare<StoredSecrets, { id: number }>(FIND_SECRETS)
  const findKey = database.prepare<Omit<StoredSecrets, 'payload'>, { id: number }>(FIND_KEY)
  const deleteSecrets = orm.delete(pushSecrets).where(eq(pushSecrets.pushId, id)).prepare()
  const deletePush = orm.delete(pushes).where(eq(pushes.id, id)).prepare()
  // Several statements, because an update that names expired_on rewrites three indexes, and most visits expire nothing.
  const updateProgress = prepareUpdate(database, pushes, PROGRESS)
  const updateLimits = prepareUpdate(database, pushes, [
    ...PROGRESS,
    ...(['expiresAt', 'expireAfterDays', 'expireAfterViews'] as const),
  ])
  const updateEnd = prepareUpdate(database, pushes, [...PROGRESS, 'expiredOn', 'deleted', 'lost'])
  let lastId =
    orm
      .select({ id: max(pushes.id) })
      .from(pushes)
      .get()?.id ?? 0

  function insert(push: NewPushRow, secrets: SealedSecrets, visit: Visit): PushRow {
    return insertWithLog(push, secrets, [{ kind: 'creation', at: push.createdAt, visit }])
  }

  /** Only the serving process inserts, so it can keep the next id in memory. An expired push has no secrets. */
  function insertWithLog(
    push: NewPushRow,
    secrets: SealedSecrets | null,
    entries: readonly NewEntry[],
  ): PushRow {
    lastId += 1
    let row: PushRow = { ...push, ...EMPTY_LOG, id: lastId, auditDropped: 0, checksum: 0 }
    for (const entry of entries) row = audit.append(row, entry)
    row.checksum = checksumOfPush(row)
    insertPush(row)
    if (secrets !== null) storeSecrets(row, secrets)
    return row
  }

  function storeSecrets(row: PushRow, secrets: SealedSecrets): void {
    const { salt, wrappedKey, payload, passphraseSalt } = secrets
    const stored = { pushId: row.id, keySlot: keys.store(wrappedKey), salt, passphraseSalt, payload }
    const checksum = checksumOfSecrets(row.id, { ...stored, wrappedKey })
    insertSecrets({ ...stored, checksum })
  }

  /** Writes a step of the push `before`, and destroys the secrets if it expires the push. */
  function write(before: PushRow, { after, now, entry }: Step<PushRow>): PushRow {
    const row =
      entry === null ? { ...after } : audit.append(after, { kind: entry.kind, at: now, visit: entry.visit })
    row.checksum = checksumOfPush(row)
    if (before.expiredOn !== row.expiredOn || before.deleted !== row.deleted) {
      updateEnd(row)
      if (before.expiredOn === null) destroy(row, now, entry?.kind === 'view')
      else files.endGrants({ pushId: row.id, now })
    } else if (hasOtherLimits(before, row)) updateLimits(row)
    else updateProgress(row)
    return row
  }

  /** Keeps the files of a last view for its grants, at most until `expiresAt`; otherwise they are due at once. */
  function destroy(row: PushRow, now: number, isLastView: boolean): void {
    destroyKey(row.id)
    deleteSecrets.run({ id: row.id })
    idempotency.forgetAnswerOf(row.id)
    const when = isLastView ? { afterGrantsUntil: row.expiresAt } : 'at-once'
    if (row.files > 0) files.release({ pushId: row.id, now, when })
    onDestroyed()
  }

  /** For an expired push whose log is deleted in steps. */
  function writeLog(push: PushRow, log: Log): void {
    const content = { ...push, ...log }
    updateProgress({ ...content, checksum: checksumOfPush(content) })
  }

  /** Removes every trace of a push except its log. */
  function remove(pushId: number, now: number): void {
    destroyKey(pushId)
    idempotency.forgetAnswerOf(pushId)
    files.release({ pushId, now, when: 'at-once' })
    files.endGrants({ pushId, now })
    deletePush.run({ id: pushId })
    onDestroyed()
  }

  /** Makes the pushes of an account anonymous. */
  function disown(ownerId: number): void {
    const checksum = checksumWithoutOwner(ownerId)
    orm.update(pushes).set({ ownerId: null, checksum }).where(eq(pushes.ownerId, ownerId)).run()
  }

  /** Leaves a slot whose number was altered on disk to `doubtfulKeys`, because it may be another push's. */
  function destroyKey(pushId: number): void {
    const row = findKey.get({ id: pushId })
    if (row === null) return
    if (isIntact(row, checksumOfSecrets(pushId, row))) keys.destroy(row.keySlot)
    else doubtfulKeys.note(row.keySlot)
  }

  function getSecrets(pushId: number): SealedSecrets | null {
    const row = findSecrets.get({ id: pushId })
    if (row === null) return null
    requireIntactRow(row, checksumOfSecrets(pushId, row), `push ${pushId}`)
    return row
  }

  /**
   * Throws DamageError when a push or its secrets were altered on disk, as far as that can be seen without the link. Reads
   * both again, because the push may have expired since.
   */
  function requireIntactSecrets({ id }: Pick<PushRow, 'id'>): void {
    const push = findById(id)
    if (push === undefined) return
    requireIntactPush(push)
    if (push.expiredOn !== null) return
    const row = findKey.get({ id })
    const hasItsFiles = push.files === 0 || files.listOfPush(id).length === push.files
    // A command may have removed it between these reads.
    if ((row === null || !hasItsFiles) && findById(id)?.expiredOn === null)
      throw new DamageError(`push ${id}`)
    if (row === null) return
    requireIntactRow(row, checksumOfSecrets(id, row), `push ${id}`)
  }

  return {
    insert,
    insertWithLog,
    insertLabels: (labels: LabelsRow) => insertLabels.run(labels),
    findById: (pushId: number): PushRow | undefined => intact(findById(pushId)),
    /** Throws DamageError when a damaged index leads to another push, whose checksum does not match this lookup. */
    findByLookup: (lookup: Uint8Array): PushRow | undefined => intact(findByLookup(lookup)),
    disown,
    /** Null once the push has expired. */
    findSecrets: getSecrets,
    requireIntactSecrets,
    write,
    writeLog,
    remove,
    /** Without checking its checksum. */
    findRaw: findById,
  }
}

function intact(row: PushRow | undefined): PushRow | undefined {
  if (row !== undefined) requireIntactPush(row)
  return row
}

/** Limits change only while a push is live. */
function hasOtherLimits(before: PushRow, { expiresAt, expireAfterViews }: PushRow): boolean {
  return before.expiresAt !== expiresAt || before.expireAfterViews !== expireAfterViews
}

/** Omits the payload, which is authenticated. Covers the wrapped key, because a damaged one looks like a wrong passphrase. */
function checksumOfSecrets(pushId: number, secrets: Omit<StoredSecrets, 'checksum' | 'payload'>): number {
  const { keySlot, salt, wrappedKey, passphraseSalt } = secrets
  return checksumOf([pushId, keySlot, salt, wrappedKey, passphraseSalt])
}

// A subquery, because a join takes ten times as long here.
const KEY_COLUMNS = `
  key_slot AS keySlot, salt, passphrase_salt AS passphraseSalt, checksum,
  (SELECT wrapped_key FROM push_keys WHERE slot = key_slot) AS wrappedKey`
const FIND_KEY = `SELECT ${KEY_COLUMNS} FROM push_secrets WHERE push_id = $id`
const FIND_SECRETS = `SELECT ${KEY_COLUMNS}, payload FROM push_secrets WHERE push_id = $id`
