// What a page carries so that its button works once: revealing again takes another look at the page.

import { createNonceMint } from '../../crypto/page-nonce.ts'
import { HOUR, type Now } from '../../domain/time.ts'

/** good: used up by this. used: the page was sent before. stale: of another process, push or day. */
export type NonceState = 'good' | 'used' | 'stale'

export type PageNonces = ReturnType<typeof createPageNonces>

const LIFETIME = 12 * HOUR
/** Those that were used, each some hundred bytes; the oldest are forgotten first. */
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
