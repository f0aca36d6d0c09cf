// Pages of an owner's pushes, read through the index of the owner's live pushes or that of the ended ones.

import { PAGE_SIZE } from '../../../domain/audit.ts'
import type { Now } from '../../../domain/time.ts'
import type { Damage } from '../../every-engine/damage.ts'
import { createFindDoubted } from '../../every-engine/doubted-time.ts'
import type { ListedPush, PageOfPushes, PushCounts, PushListStore, SealedLabels } from '../../face.ts'
import type { Read, Transact } from '../engine/database.ts'
import { type PushRow, presentPush } from '../pushes/stored-push.ts'
import { columnsTo } from '../schema/rows.ts'
import { pushes } from '../schema/schema.ts'
import { isInList, ownedValues } from './owned.ts'
import { createPushCounts } from './push-counts.ts'
import { createPushFacts } from './push-facts.ts'

export type PushListsOptions = {
  read: Read
  transact: Transact
  now: Now
  /** The time by which expiry is recorded; behind `now` while the clock is in doubt. */
  certain: Now
  damage: Pick<Damage, 'presentIntact'>
}

type LabelsRow = SealedLabels & { seenViews: number }
type ListedRow = PushRow & LabelsRow

const LABEL_COLUMNS = 'l.url_token AS "urlToken", l.name, l.note, l.seen_views AS "seenViews"'

const LISTED = `
  SELECT ${columnsTo(pushes, 'p.')}, ${LABEL_COLUMNS} FROM pushes p JOIN push_labels l ON l.push_id = p.id`

const BY_IDS = `${LISTED} WHERE p.id = ANY($1::bigint[]) AND p.owner_id = $2`

const LABELS = `SELECT ${LABEL_COLUMNS} FROM push_labels l WHERE l.push_id = $1`

// In the order of ids, so that two looks at the same pushes do not wait for each other in a circle.
const MARK_SEEN = `
  WITH seen AS (
    SELECT l.push_id, p.views FROM push_labels l JOIN pushes p ON p.id = l.push_id
    WHERE l.push_id = ANY($1::bigint[]) AND p.owner_id = $2 AND l.seen_views <> p.views
    ORDER BY l.push_id FOR UPDATE OF l
  )
  UPDATE push_labels l SET seen_views = seen.views FROM seen WHERE l.push_id = seen.push_id`

export function createPushLists(options: PushListsOptions): PushListStore {
  const { read, transact, damage } = options
  const findDoubted = createFindDoubted(options)

  async function listPushes(
    of: Parameters<PushListStore['listPushes']>[0],
  ): Promise<PageOfPushes<ListedPush>> {
    const { text, values, pageSize } = pageOf(of, findDoubted())
    const rows = await read((session) => session.query<ListedRow>(text, values))
    const pushes = damage.presentIntact(rows, presentListed)
    return { pushes, damaged: rows.length - pushes.length, isFull: rows.length === pageSize }
  }

  async function listByIds({ ownerId, ids }: Parameters<PushListStore['listByIds']>[0]) {
    const rows = await read((session) => session.query<ListedRow>(BY_IDS, [ids, ownerId]))
    const found = new Map(damage.presentIntact(rows, presentListed).map((listed) => [listed.push.id, listed]))
    const pushes = ids.map((id) => found.get(id)).filter((push) => push !== undefined)
    return { pushes, damaged: rows.length - found.size, isFull: false }
  }

  async function findLabels(id: number): Promise<LabelsRow | null> {
    const [found] = await read((session) => session.query<LabelsRow>(LABELS, [id]))
    return found ?? null
  }

  function countOwned(ownerId: number): Promise<PushCounts> {
    const doubted = findDoubted()
    return read(async ({ query }) => {
      const countOf = async (expired: boolean) => {
        const list = { expired, doubted }
        const text = `SELECT count(*)::float8 AS n FROM pushes p WHERE ${isInList(list)}`
        const [counted] = await query<{ n: number }>(text, ownedValues(ownerId, list))
        return counted?.n ?? 0
      }
      return { live: await countOf(false), expired: await countOf(true) }
    })
  }

  async function markSeen({ ownerId, ids }: Parameters<PushListStore['markSeen']>[0]): Promise<void> {
    await transact((session) => session.query(MARK_SEEN, [ids, ownerId]))
  }

  return {
    listPushes,
    listByIds,
    ...createPushFacts({ read, findDoubted }),
    findLabels,
    countOwned,
    markSeen,
    ...createPushCounts(read),
  }
}

/** The inner query reads only the index, unless it has `until`, so that a late page reads no more rows than an early one. */
function pageOf(
  {
    ownerId,
    expired,
    pageNumber,
    pageSize = PAGE_SIZE,
    until = null,
    beforeId = null,
  }: Parameters<PushListStore['listPushes']>[0],
  doubted: number | null,
) {
  const list = { expired, doubted }
  const values = ownedValues(ownerId, list)
  const next = (value: number) => `$${values.push(value)}`
  const isMadeUntil = until === null ? '' : ` AND p.created_at <= ${next(until)}`
  const isBefore = beforeId === null ? '' : ` AND p.id < ${next(beforeId)}`
  const page = `LIMIT ${next(pageSize)} OFFSET ${next((pageNumber - 1) * pageSize)}`
  const ids = `SELECT p.id FROM pushes p WHERE ${isInList(list)}${isMadeUntil}${isBefore} ORDER BY p.id DESC ${page}`
  return { text: `${LISTED} WHERE p.id IN (${ids}) ORDER BY p.id DESC`, values, pageSize }
}

function presentListed({ urlToken, name, note, seenViews, ...push }: ListedRow): ListedPush {
  return { push: presentPush(push), labels: { urlToken, name, note }, seenViews }
}
