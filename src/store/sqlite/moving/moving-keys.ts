// Idempotency keys of a move: their answers lie in slots of another table.

import type { Database } from 'bun:sqlite'
import { MOVED_TABLES, pick, STEP } from '../../moving/tables.ts'
import { prepareInsert } from '../engine/prepared.ts'
import { idempotencyKeys } from '../engine/schema.ts'
import { requireIntactRow } from '../integrity/row-checksum.ts'
import { checksumOfKey } from '../pushes/idempotency-keys.ts'
import { batchOf, type RowReader, type RowWriter } from './simple-tables.ts'

type KeyRow = typeof idempotencyKeys.$inferSelect & { answer: Uint8Array | null }

const { columns, key } = MOVED_TABLES.idempotencyKeys

export function readKeys(database: Database): RowReader {
  const first = database.prepare<KeyRow, []>(`${SELECT} ORDER BY lookup LIMIT ${STEP}`)
  const next = database.prepare<KeyRow, [Uint8Array]>(
    `${SELECT} WHERE lookup > ? ORDER BY lookup LIMIT ${STEP}`,
  )
  return (after) => {
    const [last = null] = after ?? []
    const rows = last instanceof Uint8Array ? next.all(last) : first.all()
    return batchOf(rows, { key, present })
  }
}

function present(row: KeyRow) {
  requireIntactRow(row, checksumOfKey(row), 'an idempotency key')
  return pick(row, columns)
}

export function writeKeys(database: Database): RowWriter {
  const insert = prepareInsert(database, idempotencyKeys)
  const append = database.prepare<unknown, [Uint8Array]>(
    'INSERT INTO idempotency_answers (answer) VALUES (?)',
  )
  return ({ lookup, lapsesAt, pushId, answer }) => {
    const isEnded = !(answer instanceof Uint8Array)
    const slot = isEnded ? null : Number(append.run(answer).lastInsertRowid)
    const row = { lookup, lapsesAt, pushId: isEnded ? null : pushId, slot } as Omit<
      KeyRow,
      'answer' | 'checksum'
    >
    insert({ ...row, checksum: checksumOfKey(row) })
  }
}

const SELECT = `
  SELECT lookup, lapses_at AS lapsesAt, push_id AS pushId, slot, checksum,
    (SELECT answer FROM idempotency_answers WHERE idempotency_answers.slot = idempotency_keys.slot) AS answer
  FROM idempotency_keys`
