// Whether this node has the instance keys of the other nodes, as each heartbeat finds it. A node that was silent for so long that the
// others took it for dead may have missed a new key.

import { findKey, type InstanceKey, type Keyring } from '../../../crypto/keyring.ts'
import { DomainError } from '../../../domain/errors.ts'
import { SECOND } from '../../../domain/time.ts'
import type { KeyLack } from '../../database-face.ts'
import type { SharedKeys } from '../../shared-face.ts'
import type { Session } from '../engine/database.ts'
import { type KnownKey, readKeys, verifyKeys } from './instance-keys.ts'
import { listNodeKeys } from './node-keys.ts'

/** Less than the time after which a silent node is taken for dead: from then on, others may seal under keys that it lacks. */
const SILENT_MS = 45 * SECOND

export type KeyWatchOptions = {
  keyring: Keyring
  keyFile: string
  /** Milliseconds of a clock that only goes on, also while the machine sleeps. */
  elapsed: () => number
  /** Is given a sentence for the operator. */
  onWarning: (warning: string) => void
}

export type KeyWatch = SharedKeys & {
  findLack(): KeyLack | null
  /**
   * Within the transaction of a heartbeat, which holds the row of the instance. Resolves to a function to call once it is durable.
   * The first time, throws `conflict` when this node may not join the others with its keys.
   */
  look(session: Pick<Session, 'query'>, node: Uint8Array): Promise<() => void>
}

export function createKeyWatch({ keyring, keyFile, elapsed, onWarning }: KeyWatchOptions): KeyWatch {
  let seenAt: number | null = null
  let found: Lacks = NONE

  async function look(session: Pick<Session, 'query'>, node: Uint8Array): Promise<() => void> {
    const begun = elapsed()
    if (seenAt === null)
      await verifyKeys(session, keyring, { keyFile, others: await listNodeKeys(session, node) })
    const lacks = compare(keyring, await readKeys(session))
    return () => {
      seenAt = begun
      const before = explain(found, keyFile)?.why
      found = lacks
      const now = explain(found, keyFile)?.why
      if (now !== before) onWarning(now ?? 'This node has the instance keys of the other nodes again.')
    }
  }

  function requireAll(): void {
    const isSilent = seenAt === null || elapsed() - seenAt > SILENT_MS
    if (isSilent || found.sealed.length > 0 || found.isForgotten) throw refuse()
  }

  function requireShared(): void {
    if (found.isForgotten) throw refuse()
  }

  return { look, requireAll, requireShared, findLack: () => explain(found, keyFile) }
}

/** Numbers of keys that the others have and this node lacks, and whether they have lost its own sealing key. */
type Lacks = { sealed: readonly number[]; unused: readonly number[]; isForgotten: boolean; sealing: number }

const NONE: Lacks = { sealed: [], unused: [], isForgotten: false, sealing: 0 }

function compare(keyring: Keyring, known: readonly KnownKey[]): Lacks {
  const lacked = known.filter((key) => !isSame(findKey(keyring, key.number), key))
  const numbersOf = (keys: readonly KnownKey[]) => keys.map(({ number }) => number)
  return {
    sealed: numbersOf(lacked.filter(({ hasSealed }) => hasSealed)),
    unused: numbersOf(lacked.filter(({ hasSealed }) => !hasSealed)),
    isForgotten: !known.some((key) => isSame(keyring.sealing, key)),
    sealing: keyring.sealing.number,
  }
}

function isSame(own: InstanceKey | null, { number, verifier }: KnownKey): boolean {
  return own !== null && own.number === number && verifier.equals(own.verifier)
}

function explain({ sealed, unused, isForgotten, sealing }: Lacks, keyFile: string): KeyLack | null {
  const remedy = `Give this node the key file of the others (${keyFile}), and restart it.`
  if (isForgotten)
    return {
      why: `Other nodes lack key ${sealing}, under which this node seals, so new pushes are refused here. ${remedy}`,
      isBlocking: true,
    }
  if (sealed.length > 0)
    return {
      why: `This node lacks ${nameKeys(sealed)}, under which other nodes seal: what it cannot find or open gets 503 here. ${remedy}`,
      isBlocking: true,
    }
  return unused.length === 0
    ? null
    : {
        why: `This node lacks ${nameKeys(unused)}, which other nodes have. Nothing is sealed under it yet. ${remedy}`,
        isBlocking: false,
      }
}

/** Such as `keys 2, 3`. */
export const nameKeys = (numbers: readonly number[]): string =>
  `${numbers.length === 1 ? 'key' : 'keys'} ${numbers.join(', ')}`

function refuse(): DomainError {
  return new DomainError(
    'overloaded',
    'This server lacks a key that another server of the same service has; nothing was stored or counted. Try again in a moment.',
    { retryAfter: 5 },
  )
}
