// Reads the values by which lists are filtered, sorted and searched, for many pushes at once. Without drizzle, which converts
// every value in JavaScript, and in pieces, so that requests run in between.

import type { PushFacts } from '../../../domain/listing.ts'
import type { FindDoubted } from '../../every-engine/doubted-time.ts'
import type { PushListStore, SealedTexts } from '../../face.ts'
import type { Connection } from '../engine/database.ts'

const PIECE = 500

// Repeats the expression of the index of owners, so that SQLite uses it.
const factsOf = (hasEnded: string) => `
  SELECT id, kind, created_at AS createdAt, expires_at AS expiresAt, expire_after_views AS expireAfterViews, views,
    last_viewed_at AS lastViewedAt, expired_on AS expiredOn, lost,
    (SELECT seen_views FROM push_labels WHERE push_id = id) AS seenViews, 0 AS textsMark
  FROM pushes WHERE owner_id = $ownerId AND (${hasEnded}) = $expired AND id < $before
  ORDER BY id DESC LIMIT ${PIECE}`

const FACTS = factsOf('expired_on IS NOT NULL')
const DOUBTED_FACTS = factsOf('expired_on IS NOT NULL OR expires_at <= $doubted')

const TEXTS = `
  SELECT push_id AS id, name, note, lookup, key_number AS keyNumber
  FROM json_each($ids) JOIN push_labels ON push_id = value JOIN pushes ON pushes.id = push_id`

type FactsRow = Omit<PushFacts, 'lost'> & { lost: number }

export function createPushFacts(
  { database }: Connection,
  findDoubted: FindDoubted,
): Pick<PushListStore, 'readFacts' | 'readTexts'> {
  type Step = { ownerId: number; expired: number; before: number }
  const facts = database.prepare<FactsRow, Step>(FACTS)
  const doubtedFacts = database.prepare<FactsRow, Step & { doubted: number }>(DOUBTED_FACTS)
  const texts = database.prepare<SealedTexts, { ids: string }>(TEXTS)

  async function* readFacts({ ownerId, expired }: Parameters<PushListStore['readFacts']>[0]) {
    let before = Number.MAX_SAFE_INTEGER
    for (;;) {
      const doubted = findDoubted()
      const step = { ownerId, expired: Number(expired), before }
      const piece = doubted === null ? facts.all(step) : doubtedFacts.all({ ...step, doubted })
      const last = piece.at(-1)
      if (last !== undefined) yield piece.map((row) => ({ ...row, lost: row.lost === 1 }))
      if (last === undefined || piece.length < PIECE) return
      before = last.id
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  return { readFacts, readTexts: async (ids) => texts.all({ ids: JSON.stringify(ids) }) }
}
