// The names and notes of an account's pushes, folded for search. They are sealed on the disk, and opening ten thousand takes
// too long for each search, so those of the accounts that search are kept in memory: within bounds, and not for long.

import { DamageError } from '../domain/errors.ts'
import { foldForSearch } from '../domain/fold.ts'
import type { PushFacts } from '../domain/listing.ts'
import { MINUTE } from '../domain/time.ts'
import type { SealedTexts, Store } from '../store/face.ts'

/** Folded; '' for what is not there. */
export type FoldedTexts = { name: string; note: string }

export type FoundTexts = FoldedTexts & { id: number }

/** The push, and the mark of its texts when it was listed. */
export type Marked = Pick<PushFacts, 'id' | 'textsMark'>

type KeptTexts = FoldedTexts & { mark: number }

type Kept = { texts: Map<number, KeptTexts>; characters: number; timer: Timer | null }

/** Characters of all accounts together, each of two bytes. What does not fit is opened again for each search. */
const MAX_CHARACTERS = 16 * 1024 * 1024
const KEEP_MS = 5 * MINUTE
const STEP = 200
/** Characters that are folded and searched before other requests get their turn: at most 10 ms. */
const SLICE = 50_000
/** Reading a push takes as long as folding so many characters. */
const READING = 200

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

  /** The texts of these pushes of an account, one by one. Reports damaged ones and leaves them out. */
  async function* read(accountId: number, pushes: readonly Marked[]): AsyncGenerator<FoundTexts> {
    const kept = use(accountId)
    const rest = createPauses()
    const missing = new Map<number, number>()
    for (const { id, textsMark } of pushes) {
      const texts = kept.texts.get(id)
      if (texts?.mark !== textsMark) {
        missing.set(id, textsMark)
        continue
      }
      yield { id, ...texts }
      if (rest.isDue(sizeOf(texts))) await rest.pause()
    }
    const ids = [...missing.keys()]
    for (let from = 0; from < ids.length; from += STEP) {
      for (const sealed of await store.lists.readTexts(ids.slice(from, from + STEP))) {
        const texts = openFolded(sealed)
        if (texts === null) continue
        keep(accountId, kept, { id: sealed.id, texts: { ...texts, mark: missing.get(sealed.id) ?? 0 } })
        yield { id: sealed.id, ...texts }
        const unfolded = (sealed.name?.length ?? 0) + (sealed.note?.length ?? 0)
        if (rest.isDue(unfolded + sizeOf(texts))) await rest.pause()
      }
    }
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

/** Lets other requests run after so many characters, in however many notes they are. */
function createPauses() {
  let left = SLICE
  return {
    isDue: (characters: number) => {
      left -= READING + characters
      return left <= 0
    },
    pause: () => {
      left = SLICE
      return new Promise((resolve) => setImmediate(resolve))
    },
  }
}

const sizeOf = ({ name, note }: FoldedTexts) => name.length + note.length
