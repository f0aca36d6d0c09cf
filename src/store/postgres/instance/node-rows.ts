// The rows of the nodes that serve the database.

import { HOUR, MINUTE } from '../../../domain/time.ts'
import type { NodeReport } from '../../database-face.ts'
import type { Session } from '../engine/database.ts'
import { serverText } from '../engine/server-text.ts'
import { DATABASE_TIME } from './instance.ts'

/** A node that was not seen for so long is taken for dead. */
const DEAD_MS = MINUTE
/** For so long operators see that it is. */
const SHOWN_MS = HOUR

/** The ids of the nodes that are alive, as a subquery. */
export const LIVE_NODES = `SELECT id FROM nodes WHERE seen_at > ${DATABASE_TIME} - ${DEAD_MS}`

export function listLiveNodes({ query }: Pick<Session, 'query'>): Promise<{ id: Uint8Array }[]> {
  return query<{ id: Uint8Array }>(LIVE_NODES)
}

/** Those that serve or did so lately. `thisNode`: the id of this one; null for a command. */
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
  FROM nodes WHERE seen_at > ${DATABASE_TIME} - ${SHOWN_MS} ORDER BY started_at, id`

/** The mark of a node's row; null without one. `node` is its id in hex. */
export async function readMark({ query }: Pick<Session, 'query'>, node: string): Promise<string | null> {
  const [row] = await query<{ mark: string }>('SELECT mark FROM nodes WHERE id = $1', [
    Buffer.from(node, 'hex'),
  ])
  return row?.mark ?? null
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

/** Enters the row of a node that starts, with its mark. */
export async function enterNode({ query }: Session, seen: SeenNode, mark: string): Promise<void> {
  await query(ENTER, [seen.node, seen.name, seen.version, seen.keys, mark])
}

const ENTER = `INSERT INTO nodes (id, name, version, keys, mark, started_at, seen_at)
  VALUES ($1, $2, $3, $4::text[], $5, ${DATABASE_TIME}, ${DATABASE_TIME})
  ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, version = EXCLUDED.version, keys = EXCLUDED.keys, mark = EXCLUDED.mark,
    started_at = EXCLUDED.started_at, seen_at = EXCLUDED.seen_at`

/** Notes that a node is alive, and gives its row the next mark. False when the row is missing, or has neither of the marks. */
export async function seeNode(
  { query }: Session,
  node: Uint8Array,
  { last, next }: { last: string; next: string },
): Promise<boolean> {
  return (await query(SEE, [node, last, next])).length > 0
}

const SEE = `UPDATE nodes SET mark = $3, seen_at = ${DATABASE_TIME} WHERE id = $1 AND mark IN ($2, $3) RETURNING 1 AS one`

/** The node is gone for the others. Its row stays, by which it knows the database again. */
export async function endNode({ query }: Session, node: Uint8Array): Promise<void> {
  await query('UPDATE nodes SET seen_at = 0 WHERE id = $1', [node])
}
