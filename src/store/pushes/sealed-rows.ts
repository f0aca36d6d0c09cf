// Queries of the deep check of the doctor: a push, a file of one, and the location of the files.

import { type RowOf, select, statement } from '../statements.ts'
import { first, type Step } from '../steps.ts'
import { pushes, pushFiles } from '../tables.ts'

const FILE = select(pushFiles, 'WHERE push_id = $1 AND n = $2')
const PUSH = select(pushes, 'WHERE id = $1')
const PAYLOADS = statement<{ n: number }>('SELECT count(*) AS n FROM push_secrets')
const FOLDER = statement<{ tag: string }>('SELECT tag FROM bucket_folder')

export function findFile({ pushId, n }: { pushId: number; n: number }): Step<RowOf<typeof pushFiles> | null> {
  return first(FILE, pushId, n)
}

/** Finds the row that only an edit or the end changes. */
export function findRow(id: number): Step<RowOf<typeof pushes> | null> {
  return first(PUSH, id)
}

export function* countPayloads(): Step<number> {
  return (yield* first(PAYLOADS))?.n ?? 0
}

/** Finds this database's folder in its bucket; null when it has never used one. */
export function* findBucketFolder(): Step<string | null> {
  return (yield* first(FOLDER))?.tag ?? null
}
