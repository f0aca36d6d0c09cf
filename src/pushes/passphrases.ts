// Derives keys from passphrases in a bounded queue, and tries them sequentially on one push.

import { type Argon2Cost, derivePassphraseKey, newPassphraseSalt } from '../crypto/passphrase.ts'
import type { ClientOf } from '../domain/client.ts'
import { createNamedLines, type InLine } from './waiting-line.ts'

export type Passphrases = ReturnType<typeof createPassphrases>

export type PassphrasesOptions = {
  /** Bounds all argon2 hashing of the process. */
  inLine: InLine
  argon2Cost: Argon2Cost
  clientOf: ClientOf
}

export function createPassphrases({ inLine, argon2Cost, clientOf }: PassphrasesOptions) {
  async function derive(passphrase: string, address: string, known?: Uint8Array) {
    const salt = known ?? newPassphraseSalt(argon2Cost)
    return { salt, key: await inLine(address, () => derivePassphraseKey(passphrase, salt)) }
  }

  return {
    derive,
    /**
     * Runs tasks on one push or request sequentially on this node. `hasWaited`: another task may have run
     * since the call.
     */
    inTurn: createNamedLines(clientOf),
  }
}
