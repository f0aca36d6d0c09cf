// A nonce in a page lets the page's button work once, on any node. Revealing again needs a new page.

import { createNonceMint } from '../../crypto/page-nonce.ts'
import { addToOutage, rethrowWithoutDoubt } from '../../domain/errors.ts'
import { HOUR, type Now } from '../../domain/time.ts'
import type { NonceStore } from '../../store/shared-face.ts'

export type PageNonces = ReturnType<typeof createPageNonces>

const LIFETIME = 12 * HOUR

export function createPageNonces({ nonces, now }: { nonces: NonceStore; now: Now }) {
  const mint = createNonceMint(nonces.keys)

  /** good: valid, and used up now. used: the form was sent before. stale: too old, for another push, or of another instance. */
  async function use(nonce: string, subject: string): Promise<'good' | 'used' | 'stale'> {
    const madeAt = mint.read(nonce, subject)
    if (madeAt === null || now() - madeAt > LIFETIME) return 'stale'
    return (await nonces.use({ nonce, lapsesAt: madeAt + LIFETIME })) ? 'good' : 'used'
  }

  const issue = (subject: string): string => mint.make(subject, now())

  /** Uses the nonce up, then works. If the store is away during the work, the error has a fresh nonce for the next try. */
  async function spend<T>(
    { nonce, subject }: { nonce: string; subject: string },
    work: () => Promise<T>,
  ): Promise<T | 'used' | 'stale'> {
    const state = await use(nonce, subject).catch(rethrowWithoutDoubt)
    if (state !== 'good') return state
    return work().catch((cause) => {
      throw addToOutage(cause, { nonce: issue(subject) })
    })
  }

  return { issue, spend }
}
