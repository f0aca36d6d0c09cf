// Pages of an owner's pushes, read through an index.

import { and, count, desc, eq, inArray, isNotNull, isNull, lt, lte, type SQL, sql } from 'drizzle-orm'
import { PAGE_SIZE } from '../../../domain/audit.ts'
import { DamageError } from '../../../domain/errors.ts'
import type { Now } from '../../../domain/time.ts'
import type { Damage } from '../../every-engine/damage.ts'
import { createFindDoubted } from '../../every-engine/doubted-time.ts'
import type { ListedPush, LivePlace, PageOfPushes, PushCounts, PushListStore } from '../../face.ts'
import type { Connection } from '../engine/database.ts'
import type { Transact } from '../engine/group-commit.ts'
import { pushes, pushLabels } from '../engine/schema.ts'
import { type PushRow, requireIntactPush } from './push-checksum.ts'
import { createPushFacts } from './push-facts.ts'

/** Index entries that one step of counting reads: it blocks the event loop for about a millisecond. */
const COUNT_STEP = 10_000

export type PushListsOptions = {
  connection: Connection
  transact: Transact
  damage: Pick<Damage, 'presentIntact'>
  now: Now
  /** The time by which expiry is recorded; behind `now` while the clock is in doubt. */
  certain: Now
}

type ListedRow = { push: PushRow; labels: typeof pushLabels.$inferSelect }

export function createPushLists(options: PushListsOptions): PushListStore {
  const { connection, transact, damage } = options
  const { orm } = connection
  const findDoubted = createFindDoubted(options)
  const owner = eq(pushes.ownerId, sql.placeholder('ownerId'))
  const isInList = and(owner, sql`(${pushes.expiredOn} IS NOT NULL) = ${sql.placeholder('expired')}`)
  /** For a clock in doubt, by which expiry is not recorded. No index helps: reads every push of the owner. */
  const hasEnded = sql`${pushes.expiredOn} IS NOT NULL OR ${pushes.expiresAt} <= ${sql.placeholder('doubted')}`
  const isInDoubtedList = and(owner, sql`(${hasEnded}) = ${sql.placeholder('expired')}`)
  const listed = () =>
    orm
      .select({ push: pushes, labels: pushLabels })
      .from(pushes)
      .innerJoin(pushLabels, eq(pushLabels.pushId, pushes.id))

  /** The inner query reads only the index, so that a late page reads no more rows than an early one. */
  function preparePage(where: SQL | undefined) {
    const ids = orm
      .select({ id: pushes.id })
      .from(pushes)
      .where(where)
      .orderBy(desc(pushes.id))
      .limit(sql.placeholder('pageSize'))
      .offset(sql.placeholder('offset'))
    return listed().where(inArray(pushes.id, ids)).orderBy(desc(pushes.id)).prepare()
  }

  const isMadeUntil = lte(pushes.createdAt, sql.placeholder('until'))
  const page = preparePage(isInList)
  const pageUntil = preparePage(and(isInList, isMadeUntil))
  const isBefore = lt(pushes.id, sql.placeholder('beforeId'))
  const pageBefore = preparePage(and(isInList, isBefore))
  const doubtedPage = preparePage(and(isInDoubtedList, isMadeUntil, isBefore))

  type Which = { ownerId: number; expired: number; pageSize: number; offset: number }

  type Bounds = { until: number | null; beforeId: number | null; doubted: number | null }

  function readPage(of: Which, { until, beforeId, doubted }: Bounds) {
    const end = Number.MAX_SAFE_INTEGER
    if (doubted !== null)
      return doubtedPage.all({ ...of, doubted, until: until ?? end, beforeId: beforeId ?? end })
    if (beforeId !== null) return pageBefore.all({ ...of, beforeId })
    return until === null ? page.all(of) : pageUntil.all({ ...of, until })
  }

  async function listPushes({
    ownerId,
    expired,
    pageNumber,
    pageSize = PAGE_SIZE,
    until = null,
    beforeId = null,
  }: Parameters<PushListStore['listPushes']>[0]): Promise<PageOfPushes<ListedPush>> {
    const of = { ownerId, expired: Number(expired), pageSize, offset: (pageNumber - 1) * pageSize }
    const doubted = findDoubted()
    const rows = readPage(of, { until, beforeId, doubted })
    const hasEnded = (push: PushRow) => push.expiredOn !== null || push.expiresAt <= (doubted ?? 0)
    const isInIt = (push: PushRow) => push.ownerId === ownerId && hasEnded(push) === expired
    return { ...present(rows, isInIt), isFull: rows.length === pageSize }
  }

  /** Checks the owner too, because an index that was altered on disk may lead to another owner's push. */
  function present(rows: ListedRow[], isInIt: (push: PushRow) => boolean): PageOfPushes<ListedPush> {
    const pushes = damage.presentIntact(rows, ({ push, labels: { seenViews, ...labels } }) => {
      requireIntactPush(push)
      if (!isInIt(push)) throw new DamageError('the index of owners')
      return { push, labels, seenViews }
    })
    return { pushes, damaged: rows.length - pushes.length, isFull: false }
  }

  const labelsOf = orm
    .select()
    .from(pushLabels)
    .where(eq(pushLabels.pushId, sql.placeholder('id')))
    .prepare()

  async function listByIds({ ownerId, ids }: Parameters<PushListStore['listByIds']>[0]) {
    const rows = listed()
      .where(and(inArray(pushes.id, [...ids]), eq(pushes.ownerId, ownerId)))
      .all()
    const found = new Map(rows.map((row) => [row.push.id, row]))
    const ordered = ids.map((id) => found.get(id)).filter((row) => row !== undefined)
    return present(ordered, () => true)
  }

  const isLive = isNull(pushes.expiredOn)
  const countOf = (which: SQL | undefined) =>
    orm.select({ n: count() }).from(pushes).where(which).get()?.n ?? 0

  async function countPushes(): Promise<PushCounts> {
    const owned = and(isNotNull(pushes.expiredOn), isNotNull(pushes.ownerId))
    const anonymous = and(isNotNull(pushes.expiredOn), isNull(pushes.ownerId))
    return { live: countOf(isLive), expired: countOf(owned) + countOf(anonymous) }
  }

  const countIn = (where: SQL | undefined) => orm.select({ n: count() }).from(pushes).where(where).prepare()
  const [countList, countDoubted] = [countIn(isInList), countIn(isInDoubtedList)]

  async function countOwned(ownerId: number): Promise<PushCounts> {
    const doubted = findDoubted()
    const counted = doubted === null ? countList : countDoubted
    const of = (expired: number) => counted.get({ ownerId, expired, doubted })?.n ?? 0
    return { live: of(0), expired: of(1) }
  }

  function markSeen({ ownerId, ids }: Parameters<PushListStore['markSeen']>[0]): Promise<void> {
    const isOwn = sql`(SELECT ${pushes.ownerId} FROM ${pushes} WHERE ${pushes.id} = ${pushLabels.pushId}) = ${ownerId}`
    const views = sql`(SELECT ${pushes.views} FROM ${pushes} WHERE ${pushes.id} = ${pushLabels.pushId})`
    return transact(() => {
      orm
        .update(pushLabels)
        .set({ seenViews: views })
        .where(and(inArray(pushLabels.pushId, [...ids]), isOwn))
        .run()
    })
  }

  // Both read only the index of live pushes, whose entries contain the id of the row.
  const isAfter = sql`(${pushes.expiresAt}, ${pushes.id}) > (${sql.placeholder('expiresAt')}, ${sql.placeholder('id')})`
  const lastOfStep = orm
    .select({ expiresAt: pushes.expiresAt, id: pushes.id })
    .from(pushes)
    .where(and(isNull(pushes.expiredOn), isAfter))
    .orderBy(pushes.expiresAt, pushes.id)
    .limit(1)
    .offset(COUNT_STEP - 1)
    .prepare()
  const restOfLive = orm
    .select({ n: count() })
    .from(pushes)
    .where(and(isNull(pushes.expiredOn), isAfter))
    .prepare()

  async function countSomeLive(after: LivePlace | null): ReturnType<PushListStore['countSomeLive']> {
    const from = after ?? { expiresAt: Number.MIN_SAFE_INTEGER, id: 0 }
    const next = lastOfStep.get(from) ?? null
    return { counted: next === null ? (restOfLive.get(from)?.n ?? 0) : COUNT_STEP, next }
  }

  return {
    countSomeLive,
    listPushes,
    listByIds,
    ...createPushFacts(connection, findDoubted),
    findLabels: async (id) => labelsOf.get({ id }) ?? null,
    countPushes,
    countOwned,
    markSeen,
  }
}
