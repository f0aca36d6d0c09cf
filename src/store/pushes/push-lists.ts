// Pages, facts and numbers of pushes, read through an index.

import { PAGE_SIZE } from '../../domain/audit.ts'
import { MOST_OPENED, MOST_UNSEEN, type PushCounts, type PushFacts } from '../../domain/listing.ts'
import type { ListedPush, SealedTexts } from '../pushes-contract.ts'
import type { SealedLabels } from '../sealed-contract.ts'
import { forSome, namesOf, type RowOf, select, statement } from '../statements.ts'
import { all, breathe, first, isThere, type Parts, run, type Statement, type Step } from '../steps.ts'
import { pushes, pushLabels, pushState } from '../tables.ts'
import { NOT_VIEWED, presentPush } from './stored-push.ts'

/** Pushes in one piece of `readFacts`. */
const PIECE = 500
/** How many ended pushes `listOpened` examines: about a millisecond. */
const LOOKED_THROUGH = 500
/** How many live and how many ended pushes `countUnseen` examines: 0.1 ms for each page of an account. */
const LOOKED_THROUGH_BY_PAGES = 100
type ListedRow = RowOf<typeof pushes> &
  RowOf<typeof pushState> &
  RowOf<typeof pushLabels> & { fileBytes: number }

const FILE_BYTES = `CAST((SELECT coalesce(sum(size), 0) FROM push_files f WHERE f.push_id = p.id) AS BIGINT) AS "fileBytes"`
const COLUMNS = [namesOf(pushes, 'p.'), namesOf(pushState, 's.'), namesOf(pushLabels, 'l.'), FILE_BYTES].join(
  ', ',
)
const LISTED = `FROM pushes p JOIN push_state s ON s.push_id = p.id JOIN push_labels l ON l.push_id = p.id`

function listed(where: string): Statement<ListedRow> {
  return statement(`SELECT ${COLUMNS} ${LISTED} WHERE ${where}`)
}

/**
 * The condition for a list of owner $1. `doubted`: the time of a clock in doubt, by which pushes are over
 * although no expiry is recorded.
 */
function isInList(expired: boolean, doubted: string | null): string {
  if (doubted === null) return `owner_id = $1 AND expired_on IS ${expired ? 'NOT NULL' : 'NULL'}`
  const hasEnded = `expired_on IS NOT NULL OR expires_at <= ${doubted}`
  return `owner_id = $1 AND ${expired ? `(${hasEnded})` : `NOT (${hasEnded})`}`
}

type List = { expired: boolean; doubted: number | null }

/**
 * Makes the statements of an owner's lists. The time of a clock in doubt follows the other values, of which
 * there are `others`.
 */
function forLists<Row>(others: number, make: (isIn: string) => Statement<Row>) {
  const of = (doubted: string | null) => ({
    live: make(isInList(false, doubted)),
    ended: make(isInList(true, doubted)),
  })
  const [sure, inDoubt] = [of(null), of(`$${others + 1}`)]
  return function* ({ expired, doubted }: List, ...values: number[]): Step<Row[]> {
    const { live, ended } = doubted === null ? sure : inDoubt
    const more = doubted === null ? [] : [doubted]
    return yield* all(expired ? ended : live, ...values, ...more)
  }
}

/**
 * Selects one page. The inner query reads only the index, unless it has `until`, so that a late page reads no
 * more rows than an early one.
 */
const page = (others: number, until: string) =>
  forLists(others, (isIn) =>
    listed(
      `p.id IN (SELECT id FROM pushes WHERE ${isIn} AND id < $2 ${until} ORDER BY id DESC LIMIT $3 OFFSET $4)
      ORDER BY p.id DESC`,
    ),
  )
const PAGE = page(4, '')
const PAGE_UNTIL = page(5, 'AND created_at <= $5')
const COUNT = forLists(1, (isIn) =>
  statement<{ n: number }>(`SELECT count(*) AS n FROM pushes WHERE ${isIn}`),
)
const FACTS = forLists(2, (isIn) =>
  statement<PushFacts>(
    `SELECT id, kind, created_at AS "createdAt", expires_at AS "expiresAt", expire_after_views AS "expireAfterViews",
      views, expired_on AS "expiredOn", lost,
      CASE last_viewed_at WHEN ${NOT_VIEWED} THEN 0 ELSE last_viewed_at END AS "lastViewedAt",
      coalesce((SELECT seen_views FROM push_labels l WHERE l.push_id = id), 0) AS "seenViews"
    FROM pushes JOIN push_state s ON s.push_id = id WHERE ${isIn} AND id < $2 ORDER BY id DESC LIMIT ${PIECE}`,
  ),
)
const OPENED = listed(
  `p.id IN (SELECT id FROM pushes WHERE ${isInList(true, null)} ORDER BY id DESC LIMIT ${LOOKED_THROUGH})
    AND NOT p.lost AND s.views >= p.expire_after_views AND s.views > l.seen_views
  ORDER BY p.id DESC LIMIT ${MOST_OPENED}`,
)
const newest = (expired: boolean) =>
  `SELECT * FROM (
    SELECT id FROM pushes WHERE ${isInList(expired, null)} ORDER BY id DESC LIMIT ${LOOKED_THROUGH_BY_PAGES}
  ) AS newest`
const UNSEEN = statement<{ n: number }>(
  `SELECT count(*) AS n FROM (
    SELECT 1 FROM (${newest(false)} UNION ALL ${newest(true)}) AS p
    JOIN push_state s ON s.push_id = p.id JOIN push_labels l ON l.push_id = p.id
    WHERE s.views > l.seen_views LIMIT ${MOST_UNSEEN}
  ) AS unseen`,
)
const BY_IDS = forSome((ids) => listed(`p.owner_id = $1 AND p.id IN (${ids})`), 1)
const TEXTS = forSome((ids) =>
  statement<SealedTexts>(
    `SELECT id, lookup, key_number AS "keyNumber", owner_id AS "ownerId", name, note
    FROM pushes JOIN push_labels ON push_id = id WHERE id IN (${ids})`,
  ),
)
const LABELS = select(pushLabels, 'WHERE push_id = $1')
const MARK_SEEN = statement(
  `UPDATE push_labels SET seen_views = (SELECT views FROM push_state s WHERE s.push_id = $2)
  WHERE push_id = $2 AND EXISTS (SELECT 1 FROM pushes WHERE id = $2 AND owner_id = $1)`,
)

type OwnerList = { ownerId: number; expired: boolean }
type OwnedIds = { ownerId: number; ids: readonly number[] }
type PageOfList = OwnerList & {
  pageNumber: number
  pageSize?: number
  until?: number | null
  beforeId?: number | null
  skip?: number
}

export function createPushLists({
  steps: { read, write },
  now,
  trusted,
}: Pick<Parts, 'steps' | 'now' | 'trusted'>) {
  const findDoubted = () => (trusted() === null ? now() : null)

  /**
   * Lists newest first, 50 a page by default, from page 1. `until`: created by that time; `beforeId`: stored
   * before that push; `skip`: how many are left out, in place of whole pages.
   */
  async function listPushes({
    ownerId,
    expired,
    pageNumber,
    pageSize = PAGE_SIZE,
    until = null,
    beforeId = null,
    skip = (pageNumber - 1) * pageSize,
  }: PageOfList): Promise<ListedPush[]> {
    const list = { expired, doubted: findDoubted() }
    const values = [ownerId, beforeId ?? Number.MAX_SAFE_INTEGER, pageSize, skip]
    const rows = await read(() =>
      until === null ? PAGE(list, ...values) : PAGE_UNTIL(list, ...values, until),
    )
    return rows.map(presentListed)
  }

  /** Lists these pushes in this order, without those that are not this owner's. */
  async function listByIds({ ownerId, ids }: OwnedIds) {
    const rows = new Map((await read(() => BY_IDS(ids, ownerId))).map((row) => [row.id, row]))
    return ids.flatMap((id) => rows.get(id) ?? []).map(presentListed)
  }

  /** Yields the facts of all pushes of a list, newest first, a piece at a time. */
  async function* readFacts({ ownerId, expired }: OwnerList): AsyncGenerator<PushFacts[]> {
    for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null; ) {
      const [list, last] = [{ expired, doubted: findDoubted() }, before]
      const piece: PushFacts[] = await read(() => FACTS(list, ownerId, last))
      if (piece.length > 0) yield piece
      before = piece.length < PIECE ? null : (piece.at(-1)?.id ?? null)
      await breathe()
    }
  }

  function countOwned(ownerId: number): Promise<PushCounts> {
    const doubted = findDoubted()
    const countOf = function* (expired: boolean): Step<number> {
      return (yield* COUNT({ expired, doubted }, ownerId))[0]?.n ?? 0
    }
    return read(function* () {
      return { live: yield* countOf(false), expired: yield* countOf(true) }
    })
  }

  function* markSeen({ ownerId, ids }: OwnedIds): Step<void> {
    for (const id of [...ids].sort((one, other) => one - other)) yield* run(MARK_SEEN, ownerId, id)
  }

  return {
    listPushes,
    readFacts,
    /**
     * Lists, newest first, pushes that ended by their last view and that their owner has not looked at since.
     * Examines only a bounded number of the newest ended pushes.
     */
    listOpened: async (ownerId: number) => (await read(() => all(OPENED, ownerId))).map(presentListed),
    /**
     * Counts pushes that were opened since their owner looked, at most `MOST_UNSEEN`. Examines only a bounded
     * number of the newest live and ended pushes.
     */
    countUnseen: async (ownerId: number) =>
      (
        await read(
          () => first(UNSEEN, ownerId),
          (found) => found?.n === 0,
        )
      )?.n ?? 0,
    /**
     * Reads name and note of the existing ones of these pushes, in any order; at most a few hundred at once.
     */
    readTexts: (ids: readonly number[]) =>
      read(
        () => TEXTS(ids),
        (texts) => texts.length === ids.length,
      ),
    listByIds,
    countOwned,
    /** Records that the owner has seen all views of these pushes so far. Ignores other owners' pushes. */
    markSeen: (which: OwnedIds) => write(() => markSeen(which)),
    findLabels: (id: number): Promise<(SealedLabels & { seenViews: number }) | null> =>
      read(() => first(LABELS, id), isThere),
  }
}

function presentListed({
  pushId: _,
  urlToken,
  name,
  note,
  request,
  seenViews,
  fileBytes,
  ...row
}: ListedRow): ListedPush {
  return { push: presentPush(row, row), labels: { urlToken, name, note, request }, seenViews, fileBytes }
}
