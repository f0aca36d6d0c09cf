// Which address a new push counts against: the sender's if they have no account, and none for loopback.

import { hashAddress } from '../crypto/digest.ts'
import type { Keyring } from '../crypto/keyring.ts'
import type { Viewer } from '../domain/audit.ts'
import type { ShareLimits, ShareToTake } from '../domain/shares.ts'

export type SharesOptions = {
  keyring: Keyring
  limits: ShareLimits
  /** The client that the address is counted with; null for an address that is not counted. */
  clientOf: (address: string) => string | null
}

/** Null for a push that is not counted; `bytes` are those of `shareBytes`. */
export type ShareOf = (viewer: Viewer, bytes: number) => ShareToTake | null

export function createShareOf({ keyring, limits, clientOf }: SharesOptions): ShareOf {
  const isUnlimited = limits.pushes === 0 && limits.bytes === 0
  const others = keyring.keys.filter((key) => key !== keyring.sealing)

  return ({ account, visit }, bytes) => {
    const client = account === null && !isUnlimited ? clientOf(visit.ip) : null
    if (client === null) return null
    const hashOf = (key: Keyring['sealing']) => hashAddress(client, key.addresses)
    return { addresses: [hashOf(keyring.sealing), ...others.map(hashOf)], bytes, limits }
  }
}
