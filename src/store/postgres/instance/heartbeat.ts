// The heartbeat of a node. It also raises the counter by which a database that was set back is noticed, and carries the clock's
// mark from node to node.

import type { Keyring } from '../../../crypto/keyring.ts'
import type { SavedWitness } from '../../witness/saved-witness.ts'
import type { PostgresDatabase, Session } from '../engine/database.ts'
import type { DatabaseClock } from './clock.ts'
import { haltNodes, type InstanceState } from './instance.ts'
import type { KeyWatch } from './key-watch.ts'
import { keysOf } from './node-keys.ts'
import { removeDeadNodes, removeNode, type SeenNode, seeNode } from './node-rows.ts'
import type { Standing } from './standing.ts'

export type HeartbeatOptions = Omit<SeenNode, 'keys'> & {
  database: Pick<PostgresDatabase, 'transact' | 'renew'>
  standing: Standing
  clock: DatabaseClock
  keyring: Keyring
  keys: Pick<KeyWatch, 'look'>
  /** Whether the address names several servers. */
  hasOtherServers: boolean
  save: (witness: SavedWitness) => Promise<void>
  /** Within the transaction of a heartbeat: what nodes that are gone have left behind. */
  clearUp: (session: Session) => Promise<void>
}

export function createHeartbeat(options: HeartbeatOptions) {
  const { database, standing, clock, keys, node, hasOtherServers, save, clearUp } = options
  const seen: SeenNode = { ...options, keys: keysOf(options.keyring) }
  let beatAt = performance.now()
  let names = ''

  /** Null when nothing may be served: then the other nodes are told. */
  async function beatWithin(session: Session, isLast: boolean) {
    const state = await standing.look(session, { lock: true })
    if (standing.problem() !== null) {
      await haltOthers(session, state)
      return null
    }
    clock.learn(state)
    await session.query(RAISE, [clock.certain(), clock.doubt()?.said ?? null, state.here])
    const foundKeys = await keys.look(session, node)
    await (isLast ? removeNode(session, node) : seeNode(session, seen))
    const left = await removeDeadNodes(session)
    await clearUp(session)
    return {
      foundKeys,
      beats: state.beats + 1,
      savedAt: Math.floor(state.time),
      isFinal: isLast && left === 0,
      isLasting: state.isLasting,
      standbyNames: state.standbyNames,
    }
  }

  async function haltOthers(session: Session, { halted }: InstanceState): Promise<void> {
    const problem = standing.problem()
    if (halted === null && problem?.isRestored) await haltNodes(session, problem.why)
  }

  /** `isLast`: the node is gone for the others. */
  async function beat(isLast: boolean): Promise<void> {
    const done = await database.transact((session) => beatWithin(session, isLast))
    if (done === null) {
      // Another server of the address may have the right database by now.
      if (hasOtherServers) database.renew()
      return
    }
    standing.beat(done.beats)
    done.foundKeys()
    beatAt = performance.now()
    names = done.standbyNames
    const { isFinal, savedAt, isLasting } = done
    // Each new connection is refused, with the reason, until commits are durable again.
    if (!isLasting) database.renew()
    await save({ ...standing.witness(), isFinal, savedAt, node: Buffer.from(node).toString('hex') })
  }

  /** `since`: milliseconds since the last heartbeat that is durable. `names`: of the standbys that it waited for. */
  return { beat, since: () => performance.now() - beatAt, names: () => names }
}

/** While the clock is trusted, an earlier doubt ends. */
const RAISE = `UPDATE instance SET beats = beats + 1, clock_mark = greatest(clock_mark, $1::bigint),
    clock_doubted = $2::bigint, place = $3`
