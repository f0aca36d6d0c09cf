// Exports an account's list and logs as JSON or CSV, one push at a time, for the command line and browsers.
// Pushes and entries are objects of the API.

import { CSV_MARK, writeCsv } from '../text/csv.ts'

export type ExportFormat = 'json' | 'csv'

type Members = Readonly<Record<string, unknown>>

/** `logs` is null when the log is damaged on the server. */
export type PushWithLogs = { push: Members; logs: readonly Members[] | null }

/** An account's pushes on this server at this time. */
type Exported = { server: string; at: string; pushes: AsyncIterable<PushWithLogs> }

/** Yields the file in chunks. JSON has one push a line. */
export async function* writeList(format: ExportFormat, exported: Exported): AsyncGenerator<string> {
  const { server, at, pushes } = exported
  if (format === 'csv') {
    yield CSV_MARK + writeCsv([['row', ...PUSH, ...ENTRY.map(([, title]) => title)]])
    for await (const push of pushes) yield writeCsv(rowsOf(push))
    return
  }
  yield `{"server": ${JSON.stringify(server)}, "exported_at": ${JSON.stringify(at)}, "pushes": [`
  let separator = '\n'
  for await (const { push, logs } of pushes) {
    yield `${separator}${JSON.stringify({ ...push, logs })}`
    separator = ',\n'
  }
  yield '\n]}\n'
}

/** The columns of a push, in the words of the API. */
const PUSH = [
  ...['url_token', 'name', 'kind', 'created_at', 'expired', 'expired_on', 'deleted', 'expires_at'],
  ...['expire_after_days', 'expire_after_views', 'views_remaining', 'deletable_by_viewer', 'retrieval_step'],
  ...['passphrase_required', 'html_url', 'note'],
]
/** The columns that an entry repeats of its push, for searching. */
const REPEATED = new Set(['url_token', 'name', 'kind'])
/** The columns of an entry: its member in the API, and its title in the table. */
const ENTRY: readonly [string, string][] = [
  ['created_at', 'entry_at'],
  ['kind', 'entry_kind'],
  ['ip', 'entry_ip'],
  ['user_agent', 'entry_user_agent'],
  ['referrer', 'entry_referrer'],
]

/**
 * Returns the rows of one push: one for itself, and below it one for each entry of its log. The first column
 * tells them apart, for a filter.
 */
function rowsOf({ push, logs }: PushWithLogs): string[][] {
  const own = PUSH.map((name) => textOf(push[name]))
  const repeated = PUSH.map((name) => (REPEATED.has(name) ? textOf(push[name]) : ''))
  const entries = (logs ?? []).map((entry) => [
    'entry',
    ...repeated,
    ...ENTRY.map(([name]) => textOf(entry[name])),
  ])
  return [['push', ...own, ...ENTRY.map(() => '')], ...entries]
}

function textOf(value: unknown): string {
  return value === null || value === undefined ? '' : String(value)
}
