// The pushes and marks of an import, gathered and written many in one statement.

import type { Mark, PushToImport } from '../../import-face.ts'
import type { Session } from '../engine/database.ts'
import { appendEntry, EMPTY_LOG, type EntryRow } from '../pushes/push-log.ts'
import type { PushRow } from '../pushes/stored-push.ts'
import { insertInto } from '../schema/rows.ts'
import { auditEntries, imported, pushes, pushFiles, pushLabels, pushSecrets } from '../schema/schema.ts'

/** What goes in one statement. */
const MOST_PUSHES = 200
const MOST_BYTES = 4 * 1024 * 1024
const MOST_ENTRIES = 5_000

const IDS = "SELECT nextval('pushes_id_seq')::float8 AS id FROM generate_series(1, $1::int)"
const IS_KNOWN = 'SELECT EXISTS (SELECT FROM imported WHERE mark = ANY($1::bytea[])) AS known'
const KEEP_FILES = 'DELETE FROM files_due WHERE id = ANY($1::text[]) AND at IS NULL RETURNING id'

/** Within the transaction of the import. */
export function createImportedPushes(session: Session) {
  const marked = new Set<string>()
  let marks: Mark[] = []
  let waiting: PushToImport[] = []
  let bytes = 0

  async function remember(mark: Mark): Promise<void> {
    if (marked.has(nameOf(mark.mark))) return
    marked.add(nameOf(mark.mark))
    marks.push(mark)
  }

  async function isKnown(some: readonly Uint8Array[]): Promise<boolean> {
    if (some.some((mark) => marked.has(nameOf(mark)))) return true
    return isImported(session, some)
  }

  async function addPush(push: PushToImport): Promise<void> {
    waiting.push(push)
    bytes += push.secrets?.payload.length ?? 0
    if (waiting.length >= MOST_PUSHES || bytes >= MOST_BYTES) await flush()
  }

  /** Writes what waits. Call it at the end. */
  async function flush(): Promise<void> {
    const [some, of] = [waiting, marks]
    ;[waiting, marks, bytes] = [[], [], 0]
    await insert(session, imported, of)
    if (some.length > 0) await insertPushes(session, some)
  }

  return { isKnown, remember, addPush, flush }
}

/** Whether one of these marks is stored. */
export async function isImported({ query }: Session, marks: readonly Uint8Array[]): Promise<boolean> {
  const [found] = await query<{ known: boolean }>(IS_KNOWN, [marks])
  return found?.known ?? false
}

async function insertPushes(session: Session, some: readonly PushToImport[]): Promise<void> {
  const ids = await session.query<{ id: number }>(IDS, [some.length])
  const all = some.map((of, n) => rowsOf(of, ids[n]?.id ?? 0))
  const pushRows = all.map(({ push }) => push)
  const files = all.flatMap((rows) => rows.files)
  const fileIds = files.map(({ fileId }) => fileId)
  await insert(session, pushes, pushRows)
  await insert(
    session,
    pushSecrets,
    all.flatMap(({ secrets }) => secrets),
  )
  await insert(
    session,
    pushLabels,
    all.flatMap(({ labels }) => labels),
  )
  await insert(session, pushFiles, files)
  await keepFiles(session, fileIds)
  const entries = all.flatMap((rows) => rows.entries)
  for (let from = 0; from < entries.length; from += MOST_ENTRIES)
    await insert(session, auditEntries, entries.slice(from, from + MOST_ENTRIES))
}

/** The rows of one push. The owner has seen the views that the other server counted. */
function rowsOf(of: PushToImport, id: number) {
  const { row: push, entries } = logOf(of, id)
  return {
    push,
    secrets: of.secrets === null ? [] : [{ pushId: id, ...of.secrets }],
    labels: of.labels === null ? [] : [{ pushId: id, ...of.labels, seenViews: push.views }],
    files: of.files.map((file, n) => ({ pushId: id, n, ...file })),
    entries,
  }
}

/** A push never names a file that another node takes for abandoned. */
async function keepFiles({ query }: Session, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const kept = await query(KEEP_FILES, [ids])
  if (kept.length !== ids.length) throw new Error('files of the import were removed before it was complete')
}

/** The row of a push and the entries of its log that are kept. */
function logOf({ push, lookup, keyNumber, files, entries }: PushToImport, id: number) {
  let row: PushRow = {
    ...push,
    ...EMPTY_LOG,
    ...{ id, version: 0, lookup, keyNumber, files: files.length, auditDropped: 0 },
  }
  const rows: EntryRow[] = []
  for (const { kind, at, ...visit } of entries) {
    const appended = appendEntry(row, { kind, at, visit })
    row = appended.push
    if (appended.row !== null) rows.push(appended.row)
  }
  return { row, entries: rows }
}

function insert<T extends Parameters<typeof insertInto>[0]>(
  { query }: Session,
  table: T,
  rows: Parameters<typeof insertInto<T>>[1],
): Promise<unknown> {
  if (rows.length === 0) return Promise.resolve()
  const { text, values } = insertInto(table, rows)
  return query(text, values)
}

function nameOf(mark: Uint8Array): string {
  return Buffer.from(mark).toString('latin1')
}
