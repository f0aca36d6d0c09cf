// A nonce in a page lets the page's button work once. Revealing again needs a new page.

import { createNonceMint } from '../../crypto/page-nonce.ts'
import { HOUR, type Now } from '../../domain/time.ts'

/** good: valid, and used up now. used: the form was sent before. stale: too old, for another push, or from another process. */
export type NonceState = 'good' | 'used' | 'stale'

export type PageNonces = ReturnType<typeof createPageNonces>

const LIFETIME = 12 * HOUR
/** Used nonces that are remembered, some hundred bytes each. The oldest are forgotten first. */
const MAX_REMEMBERED = 100_000

export function createPageNonces(now: Now) {
  const mint = createNonceMint()
  const used = new Set<string>()

  function use(nonce: string, subject: string): NonceState {
    const madeAt = mint.read(nonce, subject)
    if (madeAt === null || now() - madeAt > LIFETIME) return 'stale'
    if (used.has(nonce)) return 'used'
    used.add(nonce)
    const [oldest] = used
    if (used.size > MAX_REMEMBERED && oldest !== undefined) used.delete(oldest)
    return 'good'
  }

  return { issue: (subject: string): string => mint.make(subject, now()), use }
}
