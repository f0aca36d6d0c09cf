// The rows of the nodes that serve the database.

import { MINUTE } from '../../../domain/time.ts'
import type { NodeReport } from '../../database-face.ts'
import type { Session } from '../engine/database.ts'
import { serverText } from '../engine/server-text.ts'
import { DATABASE_TIME } from './instance.ts'

/** A node that was not seen for so long is taken for dead. */
const DEAD_MS = MINUTE

/** The ids of the nodes that are alive, as a subquery. */
export const LIVE_NODES = `SELECT id FROM nodes WHERE seen_at > ${DATABASE_TIME} - ${DEAD_MS}`

/** Whether any node is alive. */
export async function hasNodes({ query }: Pick<Session, 'query'>): Promise<boolean> {
  const [found] = await query<{ are: boolean }>(
    `SELECT EXISTS (SELECT FROM nodes WHERE id IN (${LIVE_NODES})) AS are`,
  )
  return found?.are ?? false
}

/** `thisNode`: the id of this process; null for one that serves nothing. */
export async function listNodes(
  { query }: Pick<Session, 'query'>,
  thisNode: Uint8Array | null,
): Promise<NodeReport[]> {
  const nodes = await query<Omit<NodeReport, 'lacks'> & { lacks: string[] }>(LIST, [thisNode])
  return nodes.map(({ name, version, lacks, ...rest }) => ({
    ...{ ...rest, name: serverText(name), version: serverText(version) },
    lacks: lacks.map(Number),
  }))
}

const LACKED = "encode(verifier, 'hex') <> ALL (nodes.keys)"
const LIST = `SELECT name, version, started_at::float8 AS "startedAt", seen_at::float8 AS "seenAt",
    (id = $1::bytea) IS TRUE AS "isThis", id IN (${LIVE_NODES}) AS "isAlive",
    ARRAY(SELECT number::text FROM instance_keys WHERE ${LACKED} ORDER BY number) AS lacks,
    EXISTS (SELECT FROM instance_keys WHERE ${LACKED} AND is_unused IS NOT TRUE) AS "cannotOpenAll"
  FROM nodes ORDER BY started_at, id`

export async function removeNode({ query }: Session, node: Uint8Array): Promise<void> {
  await query('DELETE FROM nodes WHERE id = $1', [node])
}

export type SeenNode = {
  node: Uint8Array
  /** Of the machine. */
  name: string
  /** Of the program. */
  version: string
  /** Verifiers of its instance keys in hex, that of the sealing key first. */
  keys: readonly string[]
}

/** Notes that a node is alive. */
export async function seeNode({ query }: Session, { node, name, version, keys }: SeenNode): Promise<void> {
  await query(SEE, [node, name, version, keys])
}

const SEE = `INSERT INTO nodes (id, name, version, keys, started_at, seen_at)
  VALUES ($1, $2, $3, $4::text[], ${DATABASE_TIME}, ${DATABASE_TIME})
  ON CONFLICT (id) DO UPDATE SET seen_at = EXCLUDED.seen_at`

/** Removes dead nodes. Resolves to how many are left. */
export async function removeDeadNodes({ query }: Session): Promise<number> {
  await query(`DELETE FROM nodes WHERE id NOT IN (${LIVE_NODES})`)
  const [left] = await query<{ count: number }>('SELECT count(*)::int AS count FROM nodes')
  return left?.count ?? 0
}
