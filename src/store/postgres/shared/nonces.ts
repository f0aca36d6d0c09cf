// Used nonces as rows, until they lapse. Their keys are derived from the instance keys, so that each node reads those of others.

import type { Keyring } from '../../../crypto/keyring.ts'
import type { NonceStore } from '../../shared-face.ts'
import type { Transact } from '../engine/database.ts'

export function createNonceRows({ transact, keyring }: { transact: Transact; keyring: Keyring }): NonceStore {
  const others = keyring.keys.filter((key) => key !== keyring.sealing)

  async function use({ nonce, lapsesAt }: { nonce: string; lapsesAt: number }): Promise<boolean> {
    const inserted = await transact((session) => session.query(USE, [nonce, lapsesAt]))
    return inserted.length > 0
  }

  return { keys: [keyring.sealing.nonces, ...others.map((key) => key.nonces)], use }
}

const USE = `
  INSERT INTO used_nonces (nonce, lapses_at) VALUES ($1, $2) ON CONFLICT (nonce) DO NOTHING RETURNING 1 AS used`
