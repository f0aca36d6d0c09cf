// Whether a command beside the nodes may use a database: by the same rules, and in the same words, as a node that starts. It changes
// nothing, and does not wait for long.

import { DomainError } from '../../../domain/errors.ts'
import { findNewerPlace } from '../../../domain/restoration.ts'
import { SECOND } from '../../../domain/time.ts'
import type { SavedWitness } from '../../witness/saved-witness.ts'
import type { Session } from '../engine/database.ts'
import { readInstance } from './instance.ts'
import {
  judgeEntered,
  operationsOf,
  type Remembered,
  refuseForeign,
  refuseRestored,
  retry,
} from './judging.ts'
import { hasNodes } from './node-rows.ts'
import { foundOf } from './standing.ts'

/** A node that serves tells within a heartbeat, which it writes every five seconds, that a standby took over. */
const SETTLE_MS = 6 * SECOND

type Looked = Pick<Session, 'query'>

export type ServableOptions = Remembered & {
  read: <T>(work: (session: Looked) => Promise<T>) => Promise<T>
  /** Looks for another server of the address; null when it names one. */
  renew: (() => void) | null
  onWarning: (warning: string) => void
  /** Milliseconds to wait for a node, or for the server that took over. */
  patience?: number | undefined
}

/** Throws `conflict` when a node would refuse to serve the database. */
export async function requireServable(options: ServableOptions): Promise<void> {
  const { read, renew, inFolder, readOthers, onWarning, patience = SETTLE_MS } = options
  const until = performance.now() + patience
  // What is remembered is read first: the database may only be ahead of it.
  const { tag } = await read((session) => readInstance(session))
  const witnesses = [inFolder, await readOthers(tag)].flatMap((witness) => witness ?? [])
  await retry({ until, onWarning }, async (isOver) => {
    const { state, areNodes } = await read((session) => look(session, witnesses))
    const newer = findNewerPlace(foundOf(state), witnesses)
    if (newer !== null) {
      if (renew === null || isOver()) throw refuseRestored(newer)
      renew()
      return { waiting: `${newer} Waiting for another server of the address.` }
    }
    if (state.halted !== null) throw new DomainError('conflict', state.halted)
    const judgement = judgeEntered(state, witnesses)
    if (judgement.is === 'intact') return { value: undefined }
    if (judgement.is === 'foreign') throw refuseForeign(options.witnessPath)
    if (judgement.is === 'restored' || !areNodes || isOver()) throw refuseRestored(judgement.why)
    return { waiting: `${judgement.why} Waiting for a node that knows.` }
  })
}

async function look(session: Looked, witnesses: readonly SavedWitness[]) {
  const state = await readInstance(session, { operations: operationsOf(witnesses) })
  return { state, areNodes: await hasNodes(session) }
}
