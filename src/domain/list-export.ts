// The file of an account's own list and logs, as JSON or CSV, written a push at a time: the same from the
// command line and from a browser. Pushes and entries are objects of the API, with its names.

import { CSV_MARK, writeCsv } from '../text/csv.ts'

export type ExportFormat = 'json' | 'csv'

type Members = Readonly<Record<string, unknown>>

/** `logs` is null when the log is damaged on the server. */
export type PushWithLogs = { push: Members; logs: readonly Members[] | null }

/** The pushes of an account on this server, as they were at this time. */
type Exported = { server: string; at: string; pushes: AsyncIterable<PushWithLogs> }

/** The file in pieces. JSON has one push a line. */
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
/** What an entry repeats of its push, so that it can be found by it. */
const REPEATED = new Set(['url_token', 'name', 'kind'])
/** The columns of an entry: the API's word, and that of the table. */
const ENTRY: readonly [string, string][] = [
  ['created_at', 'entry_at'],
  ['kind', 'entry_kind'],
  ['ip', 'entry_ip'],
  ['user_agent', 'entry_user_agent'],
  ['referrer', 'entry_referrer'],
]

/**
 * One table, because a spreadsheet opens one: a row for each push, and below it a row for each entry of its
 * log. The first column tells which, for a filter.
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
