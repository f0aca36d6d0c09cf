// Passphrases: derived in a bounded queue, tried one after another on one push.

import { type Argon2Cost, derivePassphraseKey, newPassphraseSalt } from '../../crypto/passphrase.ts'
import { type Asker, type ClientOf, createNamedLanes, type Lanes } from '../lanes.ts'

export type Passphrases = ReturnType<typeof createPassphrases>

export type PassphrasesOptions = {
  /** Bounds all argon2 work of the process together. */
  lanes: Lanes
  argon2Cost: Argon2Cost
  /** The clients that take turns at one push. */
  clientOf: ClientOf
}

export function createPassphrases({ lanes, argon2Cost, clientOf }: PassphrasesOptions) {
  const inTurnByName = createNamedLanes(clientOf)

  async function derive(passphrase: string, asker: Asker, known?: Uint8Array) {
    const salt = known ?? newPassphraseSalt(argon2Cost)
    return { salt, key: await lanes(asker, () => derivePassphraseKey(passphrase, salt)) }
  }

  return {
    derive,
    /** Works on one push run one after another. */
    inTurn: <T>(pushId: number, asker: Asker, work: (hasWaited: boolean) => Promise<T>): Promise<T> =>
      inTurnByName(String(pushId), asker, work),
  }
}
