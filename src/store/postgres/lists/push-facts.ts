// Reads the values by which lists are filtered, sorted and searched, for many pushes at once, in pieces.

import type { PushFacts } from '../../../domain/listing.ts'
import type { FindDoubted } from '../../every-engine/doubted-time.ts'
import type { PushListStore, SealedTexts } from '../../face.ts'
import type { Read } from '../engine/database.ts'
import { isInList, type OwnedList, ownedValues } from './owned.ts'

const PIECE = 1_000

/** `xmin` is the transaction that wrote the row of labels last. */
const FACTS = `
  SELECT p.id::float8 AS id, p.kind, p.created_at::float8 AS "createdAt", p.expires_at::float8 AS "expiresAt",
    p.expire_after_views AS "expireAfterViews", p.views, p.last_viewed_at::float8 AS "lastViewedAt",
    p.expired_on::float8 AS "expiredOn", p.lost, coalesce(l.seen_views, 0) AS "seenViews",
    coalesce(l.xmin::text::float8, 0) AS "textsMark"
  FROM pushes p LEFT JOIN push_labels l ON l.push_id = p.id`

const TEXTS = `
  SELECT p.id::float8 AS id, l.name, l.note, p.lookup, p.key_number AS "keyNumber"
  FROM pushes p JOIN push_labels l ON l.push_id = p.id WHERE p.id = ANY($1::bigint[])`

export function createPushFacts({
  read,
  findDoubted,
}: {
  read: Read
  findDoubted: FindDoubted
}): Pick<PushListStore, 'readFacts' | 'readTexts'> {
  async function* readFacts({ ownerId, expired }: Parameters<PushListStore['readFacts']>[0]) {
    for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null; ) {
      const piece: PushFacts[] = await readPiece(ownerId, { expired, doubted: findDoubted() }, before)
      if (piece.length > 0) yield piece
      before = piece.length < PIECE ? null : (piece.at(-1)?.id ?? null)
    }
  }

  function readPiece(ownerId: number, list: OwnedList, before: number): Promise<PushFacts[]> {
    const values = [...ownedValues(ownerId, list), before]
    const isNext = `${isInList(list)} AND p.id < $${values.length}`
    return read(({ query }) => query(`${FACTS} WHERE ${isNext} ORDER BY p.id DESC LIMIT ${PIECE}`, values))
  }

  return {
    readFacts,
    readTexts: (ids) => read(({ query }) => query<SealedTexts>(TEXTS, [ids])),
  }
}
