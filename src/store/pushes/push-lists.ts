// Pages, facts and numbers of pushes, read through an index.

import { PAGE_SIZE } from '../../domain/audit.ts'
import { type ListTab, MOST_UNSEEN, type PushFacts, type TabCounts } from '../../domain/listing.ts'
import { MAX_ANSWERS } from '../../domain/requests.ts'
import type { ListedPush, SealedTexts } from '../pushes-contract.ts'
import { forSome, namesOf, type RowOf, select, statement } from '../statements.ts'
import { all, breathe, first, isThere, type Parts, run, type Statement, type Step } from '../steps.ts'
import { pushes, pushLabels, pushState } from '../tables.ts'
import { lockPushes } from './push-locks.ts'
import { NOT_VIEWED, presentPush } from './stored-push.ts'

/** Pushes in one piece of `readFacts`. */
const PIECE = 500
/** The newest live pushes that `countUnseen` examines: 0.1 ms for each page of an account. */
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
 * Makes the statements of an owner's lists. If the clock is in doubt, its time is the parameter after the
 * `others` other ones.
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
 * Selects one page. Unless it has `until`, the inner query reads only the index, so that a late page reads no
 * more rows than an early one.
 */
const page = (others: number, more: string) =>
  forLists(others, (isIn) =>
    listed(
      `p.id IN (SELECT id FROM pushes WHERE ${isIn} AND id < $2 ${more} ORDER BY id DESC LIMIT $3 OFFSET $4)
      ORDER BY p.id DESC`,
    ),
  )
const UNTIL = 'AND created_at <= $5'
const PAGE = page(4, '')
const SEEN_PAGE = page(4, 'AND NOT is_new')
const SEEN_PAGE_UNTIL = page(5, `AND NOT is_new ${UNTIL}`)
const NEW = 'owner_id = $1 AND is_new'
const newPage = (until: string) =>
  listed(
    `p.id IN (SELECT id FROM pushes WHERE ${NEW} AND id < $2 ${until} ORDER BY id DESC LIMIT $3 OFFSET $4)
    ORDER BY p.id DESC`,
  )
const NEW_PAGE = newPage('')
const NEW_PAGE_UNTIL = newPage(UNTIL)
const COUNT_NEW = statement<{ n: number }>(`SELECT count(*) AS n FROM pushes WHERE ${NEW}`)
const COUNT = forLists(1, (isIn) =>
  statement<{ n: number }>(`SELECT count(*) AS n FROM pushes WHERE ${isIn} AND NOT is_new`),
)
const FACTS = forLists(2, (isIn) =>
  statement<PushFacts>(
    `SELECT id, kind, created_at AS "createdAt", expires_at AS "expiresAt", expire_after_views AS "expireAfterViews",
      views, expired_on AS "expiredOn", lost, is_new AS "isNew",
      CASE last_viewed_at WHEN ${NOT_VIEWED} THEN 0 ELSE last_viewed_at END AS "lastViewedAt",
      l.seen_views AS "seenViews", l.request IS NOT NULL AS "isReceived"
    FROM pushes JOIN push_state s ON s.push_id = id JOIN push_labels l ON l.push_id = id WHERE ${isIn} AND id < $2 ORDER BY id DESC LIMIT ${PIECE}`,
  ),
)
/** Pushes that have arrived or ended, then the newest live ones that were opened since their owner looked. */
const UNSEEN = statement<{ n: number }>(
  `SELECT count(*) AS n FROM (
    SELECT id FROM (SELECT id FROM pushes WHERE ${NEW} LIMIT ${MOST_UNSEEN}) AS fresh
    UNION ALL
    SELECT newest.id FROM (
      SELECT id FROM pushes WHERE ${isInList(false, null)} AND NOT is_new
      ORDER BY id DESC LIMIT ${LOOKED_THROUGH_BY_PAGES}
    ) AS newest JOIN push_state s ON s.push_id = newest.id JOIN push_labels l ON l.push_id = newest.id
    WHERE s.views > l.seen_views LIMIT ${MOST_UNSEEN}
  ) AS unseen`,
)
/** Compare the owner too, because the id may have belonged to another request before. */
const ANSWERS = listed(
  `p.id IN (SELECT push_id FROM push_labels WHERE request_id = $1) AND p.owner_id = $2
  ORDER BY p.id DESC LIMIT ${MAX_ANSWERS}`,
)
const BY_IDS = forSome((ids) => listed(`p.owner_id = $1 AND p.id IN (${ids})`), 1)
const TEXTS = forSome((ids) =>
  statement<SealedTexts>(
    `SELECT id, lookup, key_number AS "keyNumber", owner_id AS "ownerId", name, note
    FROM pushes JOIN push_labels ON push_id = id WHERE id IN (${ids})`,
  ),
)
const LABELS = select(pushLabels, 'WHERE push_id = $1')
const MARK_SEEN = statement('UPDATE push_labels SET seen_views = $2 WHERE push_id = $1')
const UNMARK = statement('UPDATE pushes SET is_new = FALSE WHERE id = $1')

type OwnerList = { ownerId: number; expired: boolean }
type OwnedIds = { ownerId: number; ids: readonly number[] }
type PageOfList = OwnerList & { pageNumber: number; beforeId?: number | null }
type PageOfTab = {
  ownerId: number
  list: ListTab
  pageNumber: number
  pageSize: number
  until: number | null
}

export function createPushLists(parts: Pick<Parts, 'steps' | 'now' | 'trusted'>) {
  const { steps, now, trusted } = parts
  const { read, write } = steps
  const findDoubted = () => (trusted() === null ? now() : null)

  /** Lists newest first, 50 a page, from page 1. `beforeId`: stored before that push. */
  async function listPushes({ ownerId, expired, pageNumber, beforeId = null }: PageOfList) {
    const list = { expired, doubted: findDoubted() }
    const values = [ownerId, beforeId ?? Number.MAX_SAFE_INTEGER, PAGE_SIZE, (pageNumber - 1) * PAGE_SIZE]
    return (await read(() => PAGE(list, ...values))).map(presentListed)
  }

  /**
   * Lists the pushes under a tab, newest first. Pages begin at 1. `until`: only those created by that time.
   */
  async function listTab({ ownerId, list, pageNumber, pageSize, until }: PageOfTab) {
    const values = [ownerId, Number.MAX_SAFE_INTEGER, pageSize, (pageNumber - 1) * pageSize]
    const which = { expired: list === 'expired', doubted: findDoubted() }
    const rows = await read(() => {
      if (list === 'new')
        return until === null ? all(NEW_PAGE, ...values) : all(NEW_PAGE_UNTIL, ...values, until)
      return until === null ? SEEN_PAGE(which, ...values) : SEEN_PAGE_UNTIL(which, ...values, until)
    })
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

  function countOwned(ownerId: number): Promise<TabCounts> {
    const doubted = findDoubted()
    const countOf = function* (expired: boolean): Step<number> {
      return (yield* COUNT({ expired, doubted }, ownerId))[0]?.n ?? 0
    }
    return read(function* () {
      const fresh = (yield* first(COUNT_NEW, ownerId))?.n ?? 0
      return { active: yield* countOf(false), new: fresh, expired: yield* countOf(true) }
    })
  }

  function* markSeen({ ownerId, ids }: OwnedIds): Step<void> {
    for (const push of yield* lockPushes(ids)) {
      if (push.ownerId !== ownerId) continue
      yield* run(MARK_SEEN, push.id, push.views)
      if (push.isNew) yield* run(UNMARK, push.id)
    }
  }

  return {
    listPushes,
    readFacts,
    listTab,
    /**
     * Lists the answers to a request of this owner, newest first, and those to an earlier request with its
     * id.
     */
    listAnswers: async ({ id, ownerId }: { id: number; ownerId: number }) =>
      (await read(() => all(ANSWERS, id, ownerId))).map(presentListed),
    /**
     * Counts pushes that arrived, ended or were opened since their owner looked; at most `MOST_UNSEEN`. Reads
     * a bounded number of rows.
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
    /** Records that the owner has seen these pushes in their current state. Ignores other owners' pushes. */
    markSeen: (which: OwnedIds) => write(() => markSeen(which)),
    findLabels: (id: number): Promise<RowOf<typeof pushLabels> | null> =>
      read(() => first(LABELS, id), isThere),
  }
}

function presentListed({ pushId: _, fileBytes, ...row }: ListedRow): ListedPush {
  const { urlToken, name, note, request, seenViews, readAt } = row
  const labels = { urlToken, name, note, request }
  return { push: presentPush(row, row), labels, seenViews, readAt, fileBytes }
}
