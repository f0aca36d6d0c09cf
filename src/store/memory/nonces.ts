// Used nonces of a process that serves alone. Their key ends with the process, as the memory of the used ones does.

import { randomKey } from '../../crypto/random.ts'
import type { NonceStore } from '../shared-face.ts'

/** Used nonces that are remembered, some hundred bytes each. The oldest are forgotten first. */
const MAX_REMEMBERED = 100_000
const KEY_BYTES = 32

export function createMemoryNonces(): NonceStore {
  const used = new Set<string>()

  async function use({ nonce }: { nonce: string }): Promise<boolean> {
    if (used.has(nonce)) return false
    used.add(nonce)
    const [oldest] = used
    if (used.size > MAX_REMEMBERED && oldest !== undefined) used.delete(oldest)
    return true
  }

  return { keys: [randomKey(KEY_BYTES)], use }
}
