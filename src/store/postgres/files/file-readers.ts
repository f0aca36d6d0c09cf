// Which files in a bucket are being read on which node. A bucket keeps nothing for readers, so that a node that removes files
// leaves those to be removed later.

import type { FileRecords } from '../../files/file-records.ts'
import type { PostgresDatabase, Session } from '../engine/database.ts'
import { LIVE_NODES } from '../instance/node-rows.ts'

const BEGIN = 'INSERT INTO files_read (id, node) VALUES ($1, $2) ON CONFLICT DO NOTHING'
const END = 'DELETE FROM files_read WHERE id = $1 AND node = $2'
const READ_ELSEWHERE = 'SELECT id FROM files_read WHERE id = ANY($1::text[]) AND node <> $2'
const FORGET_DEAD = `
  DELETE FROM files_read WHERE node = ANY(ARRAY(
    SELECT DISTINCT node FROM files_read WHERE NOT EXISTS (SELECT FROM (${LIVE_NODES}) AS live WHERE live.id = files_read.node)
  ))`

type Reading = { times: number; told: Promise<unknown> }

const WITHIN_MS = 2_000
const NOTHING_TO_TELL = async () => undefined

export type FileReadersOptions = {
  database: Pick<PostgresDatabase, 'read' | 'transact'>
  /** The id of this process among the nodes. */
  node: Uint8Array
  /** Whether other nodes may remove the files. */
  isShared: boolean
}

export type FileReaders = Pick<FileRecords, 'noteReading' | 'findReadElsewhere'>

export function createFileReaders({ database, node, isShared }: FileReadersOptions): FileReaders {
  /** The files that are open here, and how often. Each has its row from the first time to the last one. */
  const readers = new Map<string, Reading>()

  /**
   * The writes of a row follow one another, so that the last one leaves the latest state. A download goes on without its row
   * when the database does not answer: then no node can remove anything either.
   */
  function tell(reading: Reading, id: string): Promise<unknown> {
    reading.told = reading.told.then(async () => {
      const text = reading.times > 0 ? BEGIN : END
      await database
        .transact(({ query }) => query(text, [id, node]), { within: WITHIN_MS })
        .catch(() => undefined)
      if (reading.times === 0 && readers.get(id) === reading) readers.delete(id)
    })
    return reading.told
  }

  async function noteReading(id: string): Promise<() => Promise<void>> {
    if (!isShared) return NOTHING_TO_TELL
    const reading = readers.get(id) ?? { times: 0, told: Promise.resolve() }
    readers.set(id, reading)
    reading.times += 1
    await (reading.times === 1 ? tell(reading, id) : reading.told)
    return async () => {
      reading.times -= 1
      if (reading.times === 0) void tell(reading, id)
    }
  }

  async function findReadElsewhere(ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (!isShared || ids.length === 0) return new Set()
    const rows = await database.read(({ query }) => query<{ id: string }>(READ_ELSEWHERE, [ids, node]))
    return new Set(rows.map(({ id }) => id))
  }

  return { noteReading, findReadElsewhere }
}

/** Within a transaction. */
export async function forgetDeadReaders({ query }: Session): Promise<void> {
  await query(FORGET_DEAD)
}
