// Passphrases: derived in a bounded queue, tried one after another on one push, over all nodes.

import { type Argon2Cost, derivePassphraseKey, newPassphraseSalt } from '../../crypto/passphrase.ts'
import type { TurnStore } from '../../store/shared-face.ts'
import { type Asker, type ClientOf, createNamedLanes, type Lanes } from '../lanes.ts'

export type Passphrases = ReturnType<typeof createPassphrases>

export type PassphrasesOptions = {
  /** Bounds all argon2 work of the process together. */
  lanes: Lanes
  argon2Cost: Argon2Cost
  /** The clients that take turns at one push. */
  clientOf: ClientOf
  /** Turns among nodes. */
  turns: TurnStore
}

export function createPassphrases({ lanes, argon2Cost, clientOf, turns }: PassphrasesOptions) {
  const inTurnByName = createNamedLanes(clientOf)

  async function derive(passphrase: string, asker: Asker, known?: Uint8Array) {
    const salt = known ?? newPassphraseSalt(argon2Cost)
    return { salt, key: await lanes(asker, () => derivePassphraseKey(passphrase, salt)) }
  }

  return {
    derive,
    /** Works on one push run one after another. `hasWaited`: another one may have run since the call. */
    inTurn: <T>(pushId: number, asker: Asker, work: (hasWaited: boolean) => Promise<T>): Promise<T> => {
      const turn = { name: `passphrase ${pushId}`, since: performance.now() }
      return inTurnByName(turn.name, asker, (hasWaited) =>
        turns.inTurn(turn, (hasWaitedForNode) => work(hasWaited || hasWaitedForNode)),
      )
    },
  }
}
