// The instance keys of each node that serves, by which others see what it can open.

import type { InstanceKey, Keyring } from '../../../crypto/keyring.ts'
import type { Session } from '../engine/database.ts'
import { LIVE_NODES } from './node-rows.ts'

/** `keys` are verifiers in hex, that of the sealing key first. */
export type KeysOfNode = { name: string; keys: readonly string[] }

export const verifierOf = ({ verifier }: Pick<InstanceKey, 'verifier'>): string =>
  Buffer.from(verifier).toString('hex')

/** As a node writes them down. */
export function keysOf({ sealing, keys }: Keyring): string[] {
  return [sealing, ...keys.filter((key) => key !== sealing)].map(verifierOf)
}

/** Those of the nodes that are alive. `except`: the id of a node to leave out. */
export function listNodeKeys(
  { query }: Pick<Session, 'query'>,
  except: Uint8Array | null,
): Promise<KeysOfNode[]> {
  return query<KeysOfNode>(KEYS, [except])
}

const KEYS = `SELECT name, keys FROM nodes
  WHERE id IN (${LIVE_NODES}) AND (id = $1::bytea) IS NOT TRUE ORDER BY started_at, id`
