// A connection for a few statements, beside or before those of a node.

import type { SQL } from 'bun'
import type { Connect } from './connection.ts'

/** Closes it at the end, which also frees its locks. */
export async function onOwnConnection<T>(connect: Connect, work: (session: SQL) => Promise<T>): Promise<T> {
  const pool = connect(1)
  try {
    return await work(await pool.reserve())
  } finally {
    await pool.close({ timeout: 0 })
  }
}
