// The statements on one push that the operations share: find it, write its progress, destroy its secrets.

import { eq, getTableColumns, type Placeholder, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type AuditKind, hasRoom, type Visit } from '../domain/audit.ts'
import type { Push } from '../domain/push.ts'
import type { Connection } from './database.ts'
import { auditEntries, pushes, pushLabels, pushSecrets } from './schema.ts'

export type PushRow = typeof pushes.$inferSelect
export type SecretsRow = typeof pushSecrets.$inferSelect
export type LabelsRow = typeof pushLabels.$inferSelect

/** A push before and after something happened to it, and the entry that this leaves in its audit log. */
export type Change = {
  before: PushRow
  after: Push
  now: number
  kind: AuditKind | null
  visit: Visit | null
}

export type PushRows = ReturnType<typeof createPushRows>

/** `onDestroyed` is told when secrets are deleted, so that the write-ahead log gets emptied after the commit. */
export function createPushRows({ orm }: Connection, onDestroyed: () => void) {
  const id = sql.placeholder('id')
  const insertPush = orm
    .insert(pushes)
    .values(placeholdersOf(pushes, 'id'))
    .returning({ id: pushes.id })
    .prepare()
  const insertSecrets = orm.insert(pushSecrets).values(placeholdersOf(pushSecrets)).prepare()
  const insertLabels = orm.insert(pushLabels).values(placeholdersOf(pushLabels)).prepare()
  const insertEntry = orm.insert(auditEntries).values(placeholdersOf(auditEntries)).prepare()
  const byId = orm.select().from(pushes).where(eq(pushes.id, id)).prepare()
  const byLookup = orm
    .select()
    .from(pushes)
    .where(eq(pushes.lookup, sql.placeholder('lookup')))
    .prepare()
  const secretsById = orm.select().from(pushSecrets).where(eq(pushSecrets.pushId, id)).prepare()
  const deleteSecrets = orm.delete(pushSecrets).where(eq(pushSecrets.pushId, id)).prepare()
  // An update that names expired_on rewrites three indexes, and most visits do not expire a push: hence two.
  const progress = {
    views: given('views'),
    updatedAt: given('updatedAt'),
    wrongTries: given('wrongTries'),
    wrongTriesSince: given('wrongTriesSince'),
    auditEntries: given('auditEntries'),
    auditDropped: given('auditDropped'),
  }
  const end = { ...progress, expiredOn: given('expiredOn'), deleted: given('deleted') }
  const updateProgress = orm.update(pushes).set(progress).where(eq(pushes.id, id)).prepare()
  const updateEnd = orm.update(pushes).set(end).where(eq(pushes.id, id)).prepare()

  function insert(push: Omit<PushRow, 'id'>, secrets: Omit<SecretsRow, 'pushId'>, visit: Visit): PushRow {
    const row = { ...push, id: insertPush.get(push).id }
    insertSecrets.run({ pushId: row.id, ...secrets })
    insertEntry.run({ pushId: row.id, n: 0, kind: 'creation', at: push.createdAt, ...visit })
    return row
  }

  /** Writes the change down, and destroys the secrets when the push has expired with it. */
  function write({ before, after, now, kind, visit }: Change): PushRow {
    const fits = kind !== null && hasRoom(kind, before.auditEntries)
    const row = {
      ...before,
      ...after,
      auditEntries: before.auditEntries + (fits ? 1 : 0),
      auditDropped: before.auditDropped + (kind === null || fits ? 0 : 1),
    }
    if (fits && visit !== null)
      insertEntry.run({ pushId: row.id, n: before.auditEntries, kind, at: now, ...visit })
    if (before.expiredOn === row.expiredOn) updateProgress.run(row)
    else {
      updateEnd.run({ ...row, deleted: Number(row.deleted) })
      deleteSecrets.run({ id: row.id })
      onDestroyed()
    }
    return row
  }

  return {
    insert,
    insertLabels: (labels: LabelsRow) => insertLabels.run(labels),
    findById: (id: number): PushRow | undefined => byId.get({ id }),
    findByLookup: (lookup: Uint8Array): PushRow | undefined => byLookup.get({ lookup }),
    findSecrets: (id: number): SecretsRow | undefined => secretsById.get({ id }),
    write,
  }
}

function given(name: string) {
  return sql`${sql.placeholder(name)}`
}

/** A placeholder for each column, named as the column's property. */
function placeholdersOf<T extends SQLiteTable>(table: T, ...except: string[]) {
  const names = Object.keys(getTableColumns(table)).filter((name) => !except.includes(name))
  return Object.fromEntries(names.map((name) => [name, sql.placeholder(name)])) as Record<
    keyof T['$inferInsert'],
    Placeholder
  >
}
