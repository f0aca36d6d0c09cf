// Nodes of which only the rows came along with a restored copy of a database. Until those rows go, they count as alive.

import { SECOND } from '../../../domain/time.ts'
import type { PostgresDatabase } from '../engine/database.ts'
import { LIVE_NODES } from '../instance/node-rows.ts'

export type CopiedNodes = {
  /** Waits until nodes that live must have written, if any row has not changed yet. */
  wait(): Promise<void>
  /**
   * Removes the rows that have not changed since the beginning. A node that serves nothing, because the database was set back, may
   * be among them: it enters its row again once it serves.
   */
  remove(): Promise<void>
}

export type CopiedNodesOptions = {
  /** A node that lives writes at least this often, in milliseconds. */
  writtenEvery: number
  /** Told again and again: milliseconds that are left to wait. */
  onWait: (left: number) => void
}

type NodeRow = { id: Uint8Array; seenAt: string }

const LOOK_MS = SECOND

export async function watchCopiedNodes(
  { read, transact }: Pick<PostgresDatabase, 'read' | 'transact'>,
  { writtenEvery, onWait }: CopiedNodesOptions,
): Promise<CopiedNodes> {
  const rows = await read(({ query }) => query<NodeRow>(ALL))
  const before = [rows.map(({ id }) => id), rows.map(({ seenAt }) => seenAt)]
  const until = performance.now() + writtenEvery

  async function wait(): Promise<void> {
    for (;;) {
      const left = until - performance.now()
      const silent = await read(({ query }) => query(SILENT, before))
      if (left <= 0 || silent.length === 0) return
      onWait(left)
      await Bun.sleep(Math.min(LOOK_MS, left))
    }
  }

  return { wait, remove: async () => void (await transact(({ query }) => query(REMOVE, before))) }
}

const ALL = 'SELECT id, seen_at::text AS "seenAt" FROM nodes'
const UNCHANGED = '(id, seen_at) IN (SELECT * FROM unnest($1::bytea[], $2::bigint[]))'
const SILENT = `SELECT 1 FROM nodes WHERE ${UNCHANGED} AND id IN (${LIVE_NODES}) LIMIT 1`
const REMOVE = `DELETE FROM nodes WHERE ${UNCHANGED}`
