// The names and notes of an account's pushes, folded for search. They are sealed on the disk, so a search opens them, a piece at a
// time.

import { keepIntact } from '../domain/damage.ts'
import { foldForSearch } from '../domain/fold.ts'
import type { SealedTexts, Store } from '../store/face.ts'

/** Folded; '' for what is not there. */
export type FoldedTexts = { id: number; name: string; note: string }

/** Pushes that are read at once. */
const PIECE = 200
/** Bytes that are opened, folded and searched before other requests get their turn, in however many notes: at most 10 ms. */
const SLICE = 50_000
/** Reading a push takes as long as folding so many bytes. */
const READING = 200

type Options = {
  store: Pick<Store, 'lists' | 'damage'>
  /** Throws DamageError. */
  open: (sealed: SealedTexts) => { name: string; note: string }
}

/** The texts of these pushes. Reports damaged ones and leaves them out. */
export async function* readFolded(
  ids: readonly number[],
  { store, open }: Options,
): AsyncGenerator<FoldedTexts> {
  let left = SLICE

  async function fold(sealed: SealedTexts): Promise<FoldedTexts> {
    const { name, note } = open(sealed)
    left -= READING + (sealed.name?.length ?? 0) + (sealed.note?.length ?? 0)
    if (left <= 0) {
      await new Promise((resolve) => setImmediate(resolve))
      left = SLICE
    }
    return { id: sealed.id, name: foldForSearch(name), note: foldForSearch(note) }
  }

  for (let from = 0; from < ids.length; from += PIECE) {
    const sealed = await store.lists.readTexts(ids.slice(from, from + PIECE))
    yield* await keepIntact(sealed, { open: fold, report: store.damage.report })
  }
}
