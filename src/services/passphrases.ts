// Passphrases: derived in a bounded queue, tried one after another on one push.

import { derivePassphraseKey, newPassphraseSalt } from '../crypto/passphrase.ts'
import { createNamedLanes, type Lanes } from './lanes.ts'

const MAX_WAITING_ON_ONE_PUSH = 32

export type Passphrases = ReturnType<typeof createPassphrases>

/** `lanes` bounds all argon2 work of the process together. */
export function createPassphrases(lanes: Lanes) {
  const inTurnByName = createNamedLanes({ maxWaiting: MAX_WAITING_ON_ONE_PUSH })

  async function derive(passphrase: string, salt: Uint8Array = newPassphraseSalt()) {
    return { salt, key: await lanes(() => derivePassphraseKey(passphrase, salt)) }
  }

  return {
    derive,
    /** Works on one push follow each other. */
    inTurn: <T>(pushId: number, work: () => Promise<T>): Promise<T> => inTurnByName(String(pushId), work),
  }
}
