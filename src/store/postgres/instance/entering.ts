// What a node looks at before it serves a database: whether it is the right one, whether it was set back, and the keys.

import { findKey, type Keyring } from '../../../crypto/keyring.ts'
import { DomainError, isDomainError } from '../../../domain/errors.ts'
import { findNewerPlace } from '../../../domain/restoration.ts'
import { MINUTE, SECOND } from '../../../domain/time.ts'
import type { SavedWitness } from '../../witness/saved-witness.ts'
import type { PostgresDatabase, Session } from '../engine/database.ts'
import { haltNodes, type InstanceState, readInstance } from './instance.ts'
import { type KnownKey, readKeys, verifyKeys } from './instance-keys.ts'
import {
  judgeEntered,
  operationsOf,
  type Remembered,
  refuseForeign,
  refuseRestored,
  remedied,
  retry,
} from './judging.ts'
import { listNodeKeys } from './node-keys.ts'
import { removeNode } from './node-rows.ts'
import { foundOf } from './standing.ts'

/** A node that serves tells within this time that a standby took over. */
const SETTLE_MS = 15 * SECOND
/** Looking for what a removed key has sealed reads all pushes. */
const WITHIN_MS = 10 * MINUTE
/** How long a start waits for a database that answers and commits nothing: as long as for one that does not answer. */
const COMMITS_MS = MINUTE

export type EnterOptions = Remembered & {
  keyring: Keyring
  keyFile: string
  onWarning: (warning: string) => void
  /** Whether the address names several servers. */
  hasOtherServers: boolean
  /** Milliseconds to wait for another node to tell that a standby took over, or for the server that took over. */
  patience?: number | undefined
}

type Entered = Pick<PostgresDatabase, 'read' | 'transact' | 'renew'>

/** Throws `conflict` when the database may not be served, or with another key. */
export async function enterInstance(database: Entered, options: EnterOptions): Promise<InstanceState> {
  const until = performance.now() + (options.patience ?? SETTLE_MS)
  const { tag } = await database.read((session) => readInstance(session))
  const elsewhere = await options.readOthers(tag)
  const witnesses = [options.inFolder, elsewhere].flatMap((witness) => witness ?? [])
  await requireLatestPlace(database, { ...options, witnesses, until })
  return retry({ until, onWarning: options.onWarning }, async (isOver) => {
    const { state, judgement } = await enterOnce(database, { ...options, witnesses })
    if (judgement.is === 'intact') return { value: state }
    if (judgement.is === 'foreign') throw refuseForeign(options.witnessPath)
    if (judgement.is === 'restored' || isOver()) throw refuseRestored(judgement.why)
    return { waiting: `${judgement.why} Waiting for a node that knows.` }
  })
}

type Waiting = EnterOptions & { witnesses: readonly SavedWitness[]; until: number }

/**
 * Refuses a server that a failover left behind, before anything is written there: the commit might wait for its standby for ever.
 * Where the address names others, the one that took over may answer soon.
 */
async function requireLatestPlace(database: Entered, options: Waiting): Promise<void> {
  const { witnesses, hasOtherServers } = options
  return retry(options, async (isOver) => {
    const found = foundOf(await database.read((session) => readInstance(session)))
    const why = findNewerPlace(found, witnesses)
    if (why === null) return { value: undefined }
    if (!hasOtherServers || isOver()) {
      // Nodes that know less stop as well.
      await database.transact((session) => haltNodes(session, remedied(why))).catch(() => undefined)
      throw refuseRestored(why)
    }
    database.renew()
    return { waiting: `${why} Waiting for another server of the address.` }
  })
}

type Entering = EnterOptions & { witnesses: readonly SavedWitness[] }

/** Waits while nothing can be committed: the synchronous standby is missing, or has just become the primary. */
async function enterOnce(database: Entered, options: Entering) {
  const until = performance.now() + (options.patience ?? COMMITS_MS)
  const hasAllKeys = await database.read(async (session) => knowsAllKeys(await readKeys(session), options))
  return retry({ until, onWarning: options.onWarning }, async (isOver) => {
    const entering = database.transact(
      (session) => enterWithin(session, options),
      hasAllKeys ? {} : { within: WITHIN_MS },
    )
    return entering.then(
      (value) => ({ value }),
      (cause: unknown) => {
        if (!isDomainError(cause, 'overloaded')) throw cause
        if (isOver()) throw new DomainError('conflict', COMMITS_NOTHING)
        return { waiting: `${COMMITS_NOTHING} Waiting for that.` }
      },
    )
  })
}

const COMMITS_NOTHING =
  'PostgreSQL answers, and commits nothing: the standby of synchronous_standby_names does not answer, or the disk hangs. ' +
  '"oncebox doctor" tells more.'

const knowsAllKeys = (known: readonly KnownKey[], { keyring }: Entering) =>
  known.every(({ number }) => findKey(keyring, number) !== null)

async function enterWithin(session: Session, options: Entering) {
  const { witnesses, keyring, inFolder } = options
  const state = await readInstance(session, { operations: operationsOf(witnesses), lock: true })
  if (state.halted !== null) throw new DomainError('conflict', state.halted)
  const judgement = judgeEntered(state, witnesses)
  if (judgement.is === 'restored') await haltNodes(session, remedied(judgement.why))
  if (judgement.is === 'intact') {
    // The last process that served this folder has ended, because this one holds its lock.
    if (inFolder?.node) await removeNode(session, Buffer.from(inFolder.node, 'hex'))
    await verifyKeys(session, keyring, { ...options, others: await listNodeKeys(session, null) })
  }
  return { state, judgement }
}
