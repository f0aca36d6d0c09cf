// The heartbeat of a node. It also changes the mark by which a database that was set back is noticed, and carries the clock's
// mark from node to node.

import type { Keyring } from '../../../crypto/keyring.ts'
import type { NodeNote } from '../../folder/notes.ts'
import type { PostgresDatabase, Session } from '../engine/database.ts'
import type { DatabaseClock } from './clock.ts'
import { readInstance } from './instance.ts'
import type { KeyWatch } from './key-watch.ts'
import { keysOf } from './node-keys.ts'
import { endNode, enterNode, type SeenNode, seeNode } from './node-rows.ts'
import { SET_BACK, type Standing } from './standing.ts'

export type HeartbeatOptions = Omit<SeenNode, 'keys' | 'node'> & {
  database: Pick<PostgresDatabase, 'transact'>
  standing: Standing
  clock: DatabaseClock
  keyring: Keyring
  keys: Pick<KeyWatch, 'look'>
  /** Called after each heartbeat that is durable. */
  onDurable: () => Promise<void>
  /** Within the transaction of a heartbeat: what nodes that are gone have left behind. */
  clearUp: (session: Session) => Promise<void>
}

export function createHeartbeat(options: HeartbeatOptions) {
  const { database, standing, clock, keys, onDurable, clearUp } = options
  const { node } = standing
  const seen: SeenNode = { ...options, node, keys: keysOf(options.keyring) }
  let beatAt = performance.now()

  /** Returns why nothing may be served, or what to do once the heartbeat is durable. */
  async function beatWithin(
    session: Session,
    { note, isLast }: { note: NodeNote; isLast: boolean },
  ): Promise<string | (() => void)> {
    const state = await readInstance(session, { lock: true })
    const problem = standing.findProblem(state)
    if (problem !== null) return problem
    const isFirst = !standing.hasRow()
    if (!isFirst && !(await seeNode(session, node, note))) return SET_BACK
    clock.observe(state.time)
    clock.learn(state)
    const doubt = clock.doubt()
    await session.query(RAISE, [doubt?.expected ?? clock.now(), doubt?.said ?? null])
    const foundKeys = await keys.look(session, node)
    // What an earlier process of this node has left behind counts as that of a node that is gone.
    if (isFirst || isLast) await endNode(session, node)
    await clearUp(session)
    if (isFirst) await enterNode(session, seen, note.next)
    return foundKeys
  }

  /** `isLast`: the node is gone for the others. */
  async function beat(isLast: boolean): Promise<void> {
    const note = await standing.prepare()
    const done = await database.transact((session) => beatWithin(session, { note, isLast }))
    if (typeof done === 'string') return standing.change(done)
    standing.wrote(note)
    done()
    beatAt = performance.now()
    await (isLast ? standing.close() : onDurable())
  }

  /** `since`: milliseconds since the last heartbeat that is durable. */
  return { beat, since: () => performance.now() - beatAt }
}

/** While the clock is trusted, an earlier doubt ends. */
const RAISE = 'UPDATE instance SET clock_mark = greatest(clock_mark, $1::bigint), clock_doubted = $2::bigint'
