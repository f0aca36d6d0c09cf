// Everything in the rows that a look at a whole database reads or opens, in pages.

import { type RowOf, select, statement } from '../statements.ts'
import { all, first, type Step } from '../steps.ts'
import { accounts, type pushes, pushFiles, type pushLabels } from '../tables.ts'

const PAGE = 500

export type LabelledRow = Omit<RowOf<typeof pushLabels>, 'seenViews'> &
  Pick<RowOf<typeof pushes>, 'lookup' | 'keyNumber' | 'ownerId'>

const FILES = select(pushFiles, `WHERE (push_id, n) > ($1, $2) ORDER BY push_id, n LIMIT ${PAGE}`)
const FILE = select(pushFiles, 'WHERE push_id = $1 AND n = $2')
const LABELS = statement<LabelledRow>(
  `SELECT push_id AS "pushId", url_token AS "urlToken", name, note, request, lookup, key_number AS "keyNumber", owner_id AS "ownerId"
  FROM push_labels JOIN pushes ON id = push_id WHERE push_id > $1 ORDER BY push_id LIMIT ${PAGE}`,
)
const SECOND_FACTORS = select(accounts, `WHERE totp_secret IS NOT NULL AND id > $1 ORDER BY id LIMIT ${PAGE}`)
const PAYLOADS = statement<{ n: number }>('SELECT count(*) AS n FROM push_secrets')
const FOLDER = statement<{ tag: string }>('SELECT tag FROM bucket_folder')

/** The files of live pushes after this one. */
export function listFilesAfter(after: { pushId: number; n: number }): Step<RowOf<typeof pushFiles>[]> {
  return all(FILES, after.pushId, after.n)
}

export function findFile({ pushId, n }: { pushId: number; n: number }): Step<RowOf<typeof pushFiles> | null> {
  return first(FILE, pushId, n)
}

export function listLabelsAfter(pushId: number): Step<LabelledRow[]> {
  return all(LABELS, pushId)
}

export function listSecondFactorsAfter(id: number): Step<RowOf<typeof accounts>[]> {
  return all(SECOND_FACTORS, id)
}

export function* countPayloads(): Step<number> {
  return (yield* first(PAYLOADS))?.n ?? 0
}

/** The name of this database's folder in its bucket; null when it has never used one. */
export function* findBucketFolder(): Step<string | null> {
  return (yield* first(FOLDER))?.tag ?? null
}
