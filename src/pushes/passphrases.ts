// Passphrases: derived in a bounded queue, tried one after another on one push, over all nodes.

import { type Argon2Cost, derivePassphraseKey, newPassphraseSalt } from '../crypto/passphrase.ts'
import type { ClientOf } from '../domain/client.ts'
import { createNamedLines, type InLine } from '../domain/waiting-line.ts'
import type { TurnStore } from '../store/shared-face.ts'

export type Passphrases = ReturnType<typeof createPassphrases>

export type PassphrasesOptions = {
  /** Bounds all argon2 work of the process together. */
  inLine: InLine
  argon2Cost: Argon2Cost
  clientOf: ClientOf
  /** Turns among nodes. */
  turns: TurnStore
}

export function createPassphrases({ inLine, argon2Cost, clientOf, turns }: PassphrasesOptions) {
  const inTurnByName = createNamedLines(clientOf)

  async function derive(passphrase: string, address: string, known?: Uint8Array) {
    const salt = known ?? newPassphraseSalt(argon2Cost)
    return { salt, key: await inLine(address, () => derivePassphraseKey(passphrase, salt)) }
  }

  return {
    derive,
    /** Works on one push run one after another. `hasWaited`: another one may have run since the call. */
    inTurn: <T>(pushId: number, address: string, work: (hasWaited: boolean) => Promise<T>): Promise<T> => {
      const turn = { name: `passphrase ${pushId}`, since: performance.now() }
      return inTurnByName(turn.name, address, (hasWaited) =>
        turns.inTurn(turn, (hasWaitedForNode) => work(hasWaited || hasWaitedForNode)),
      )
    },
  }
}
