// A nonce in a page lets the page's button work once, on any node. Revealing again needs a new page.

import { createNonceMint } from '../crypto/page-nonce.ts'
import { rethrowWithoutDoubt } from '../domain/errors.ts'
import { HOUR, type Now } from '../domain/time.ts'
import type { NonceStore } from '../store/shared-face.ts'

export type PageNonces = ReturnType<typeof createPageNonces>

const LIFETIME = 12 * HOUR

export function createPageNonces({ nonces, now }: { nonces: NonceStore; now: Now }) {
  const mint = createNonceMint(nonces.keys)

  /** good: valid, and used up now. used: the form was sent before. stale: too old, for another push, or of another instance. */
  async function use(nonce: string, subject: string): Promise<'good' | 'used' | 'stale'> {
    const madeAt = mint.read(nonce, subject)
    if (madeAt === null || now() - madeAt > LIFETIME) return 'stale'
    const isNew = await nonces.use({ nonce, lapsesAt: madeAt + LIFETIME }).catch(rethrowWithoutDoubt)
    return isNew ? 'good' : 'used'
  }

  const issue = (subject: string): string => mint.make(subject, now())

  return { issue, use }
}
