// The code beside a link: two digits that the page asks for before a view is used up. It stops programs that
// press buttons without reading; it is no protection against people.

import { codeOf } from '../crypto/push-secrets.ts'
import type { Viewer } from '../domain/audit.ts'
import { isOwner } from '../domain/push.ts'
import type { Store } from '../store/contract.ts'
import type { FoundPush, PushFinder } from './push-finder.ts'

/**
 * Why the push was not opened: the code is missing or wrong, or no code is accepted for `lockedFor`
 * milliseconds.
 */
export type CodeRefusal = { problem: 'missing' | 'wrong' } | { problem: 'locked'; lockedFor: number }

type CodeOptions = { finder: PushFinder; store: Pick<Store, 'pushes'> }

export function createCodes({ finder, store }: CodeOptions) {
  const read = ({ push, sealed, urlToken }: FoundPush) =>
    push.codeRequired && sealed !== null ? codeOf(urlToken, sealed.secrets.salt) : null

  /** Returns the code of a live push. Show it only to the owner and the browser that created the push. */
  async function findCode(urlToken: string, viewer: Viewer | null): Promise<string | null> {
    return read(await finder.getSealedPush(urlToken, viewer?.visit ?? null))
  }

  /** Returns null if the push may be opened; always for its owner, who needs no code. Counts a wrong code. */
  async function checkCode(urlToken: string, given: string, viewer: Viewer): Promise<CodeRefusal | null> {
    const found = await finder.getSealedPush(urlToken, viewer.visit)
    const code = read(found)
    if (code === null || isOwner(found.push, viewer.account)) return null
    const digits = latinDigits(given.normalize('NFKC').trim())
    if (digits === '') return { problem: 'missing' }
    const isRight = digits === code
    const lockedFor = await store.pushes.tryCode({ id: found.push.id, visit: viewer.visit, isRight })
    if (lockedFor !== null && lockedFor > 0) return { problem: 'locked', lockedFor }
    return isRight ? null : { problem: 'wrong' }
  }

  return { findCode, checkCode }
}

/** The digit zero on Arabic, Persian and Urdu, Hindi, and Thai keyboards. */
const ZEROS = [0x0660, 0x06f0, 0x0966, 0x0e50]

/** Converts digits of these keyboards to 0 to 9. */
function latinDigits(text: string): string {
  return text.replace(/\p{Nd}/gu, (digit) => {
    const value = ZEROS.map((zero) => (digit.codePointAt(0) ?? 0) - zero).find((n) => n >= 0 && n <= 9)
    return value === undefined ? digit : String(value)
  })
}
