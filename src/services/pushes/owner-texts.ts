// The names and notes of an account's pushes, folded for search. They are sealed on the disk, and opening ten thousand takes
// too long for each search, so those of the accounts that search are kept in memory: within bounds, and not for long.

import { DamageError } from '../../domain/errors.ts'
import { foldForSearch } from '../../domain/fold.ts'
import type { PushFacts } from '../../domain/listing.ts'
import { MINUTE } from '../../domain/time.ts'
import type { SealedTexts, Store } from '../../store/face.ts'

/** Folded; '' for what is not there. */
export type FoldedTexts = { name: string; note: string }

/** The push, and the mark of its texts when it was listed. */
export type Marked = Pick<PushFacts, 'id' | 'textsMark'>

type KeptTexts = FoldedTexts & { mark: number }

type Kept = { texts: Map<number, KeptTexts>; characters: number; timer: Timer | null }

/** Characters of all accounts together, each of two bytes. What does not fit is opened again for each search. */
const MAX_CHARACTERS = 16 * 1024 * 1024
const KEEP_MS = 5 * MINUTE
const STEP = 200
/** Milliseconds of the event loop that are used before other requests get their turn. */
const SLICE_MS = 8

type Options = {
  store: Pick<Store, 'lists' | 'damage'>
  /** Throws DamageError. */
  open: (sealed: SealedTexts) => { name: string; note: string }
  maxCharacters?: number
  keepMs?: number
}

export function createOwnerTexts(options: Options) {
  const { store, open, maxCharacters = MAX_CHARACTERS, keepMs = KEEP_MS } = options
  const accounts = new Map<number, Kept>()
  let characters = 0

  /** The texts of these pushes of an account. Reports damaged ones and leaves them out. */
  async function read(accountId: number, pushes: readonly Marked[]): Promise<Map<number, FoldedTexts>> {
    const kept = use(accountId)
    const found = new Map<number, FoldedTexts>()
    const missing = new Map<number, number>()
    for (const { id, textsMark } of pushes) {
      const texts = kept.texts.get(id)
      if (texts?.mark === textsMark) found.set(id, texts)
      else missing.set(id, textsMark)
    }
    const ids = [...missing.keys()]
    let started = performance.now()
    for (let from = 0; from < ids.length; from += STEP) {
      for (const sealed of await store.lists.readTexts(ids.slice(from, from + STEP))) {
        const texts = openFolded(sealed)
        if (texts === null) continue
        found.set(sealed.id, texts)
        keep(accountId, kept, { id: sealed.id, texts: { ...texts, mark: missing.get(sealed.id) ?? 0 } })
        if (performance.now() - started < SLICE_MS) continue
        await new Promise((resolve) => setImmediate(resolve))
        started = performance.now()
      }
    }
    return found
  }

  function openFolded(sealed: SealedTexts): FoldedTexts | null {
    try {
      const { name, note } = open(sealed)
      return { name: foldForSearch(name), note: foldForSearch(note) }
    } catch (cause) {
      if (!(cause instanceof DamageError)) throw cause
      store.damage.report(cause)
      return null
    }
  }

  /** Moves the account to the end of the map, so that the least recently used one is first. */
  function use(accountId: number): Kept {
    const kept = accounts.get(accountId) ?? { texts: new Map(), characters: 0, timer: null }
    if (kept.timer !== null) clearTimeout(kept.timer)
    kept.timer = setTimeout(forget, keepMs, accountId)
    kept.timer.unref()
    accounts.delete(accountId)
    accounts.set(accountId, kept)
    return kept
  }

  /** Makes room by forgetting the accounts that searched longest ago. */
  function keep(accountId: number, kept: Kept, { id, texts }: { id: number; texts: KeptTexts }): void {
    // The account was forgotten while its texts were read, so this text may be older than an edit.
    if (accounts.get(accountId) !== kept || kept.texts.get(id)?.mark === texts.mark) return
    drop(kept, id)
    const size = sizeOf(texts)
    for (const other of accounts.keys()) {
      if (characters + size <= maxCharacters || other === accountId) break
      forget(other)
    }
    if (characters + size > maxCharacters) return
    kept.texts.set(id, texts)
    kept.characters += size
    characters += size
  }

  /** The text of another mark. */
  function drop(kept: Kept, id: number): void {
    const before = kept.texts.get(id)
    if (before === undefined) return
    kept.texts.delete(id)
    kept.characters -= sizeOf(before)
    characters -= sizeOf(before)
  }

  /** After a name or note of the account has changed. */
  function forget(accountId: number): void {
    const kept = accounts.get(accountId)
    if (kept === undefined) return
    if (kept.timer !== null) clearTimeout(kept.timer)
    accounts.delete(accountId)
    characters -= kept.characters
  }

  return { read, forget, countCharacters: () => characters }
}

const sizeOf = ({ name, note }: FoldedTexts) => name.length + note.length
