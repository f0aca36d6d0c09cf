// A nonce in a page lets the page's button work once, on any node. Revealing again needs a new page.

import type { Keyring } from '../crypto/keyring.ts'
import { openFromText, sealToText } from '../crypto/sealed-field.ts'
import { rethrowWithoutDoubt } from '../domain/errors.ts'
import { HOUR, type Now } from '../domain/time.ts'
import type { NonceStore } from '../store/shared-face.ts'

export type PageNonces = ReturnType<typeof createPageNonces>

const LIFETIME = 12 * HOUR

/** A nonce is the time of its page, sealed for the page's subject. No two are the same, because sealing is random. */
export function createPageNonces(options: { nonces: NonceStore; keyring: Keyring; now: Now }) {
  const { nonces, keyring, now } = options

  /** good: valid, and used up now. used: the form was sent before. stale: too old, for another push, or of another instance. */
  async function use(nonce: string, subject: string): Promise<'good' | 'used' | 'stale'> {
    const madeAt = openFromText(nonce, keyring, placeOf(subject))
    if (madeAt === null) return 'stale'
    const lapsesAt = Number(madeAt) + LIFETIME
    if (now() > lapsesAt) return 'stale'
    const isNew = await nonces.use({ nonce, lapsesAt }).catch(rethrowWithoutDoubt)
    return isNew ? 'good' : 'used'
  }

  const issue = (subject: string): string => sealToText(String(now()), keyring, placeOf(subject))

  return { issue, use }
}

function placeOf(subject: string) {
  return { subkey: 'pages', subject: Buffer.from(subject), field: 'nonce' } as const
}
