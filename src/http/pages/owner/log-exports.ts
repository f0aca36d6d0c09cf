// Exports the audit log of a push as CSV or JSON. Streams it a page at a time, because it may be long.

import type { AuditEntry } from '../../../domain/audit.ts'
import { formatTime } from '../../../domain/time.ts'
import type { Pushes } from '../../../services/pushes/pushes.ts'
import type { Member } from '../frame/guest.ts'

type Params = Partial<Record<string, string>>

/** Excel, LibreOffice and Google Sheets run what begins like this (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r]/

/** In front of a whole file: it tells Excel that this is UTF-8. */
const CSV_MARK = '\uFEFF'

export function createLogExports({ openLog }: Pick<Pushes, 'openLog'>) {
  async function exportCsv({ viewer }: Member, { url_token = '' }: Params): Promise<Response> {
    const log = await openLog(url_token, viewer)
    const pieces = csvOf(log.readAll())
    return attach(pieces, { type: 'text/csv; charset=utf-8', filename: 'audit-log.csv' })
  }

  async function exportJson({ viewer }: Member, { url_token = '' }: Params): Promise<Response> {
    const log = await openLog(url_token, viewer)
    const pieces = jsonOf(log.readAll())
    return attach(pieces, { type: 'application/json', filename: 'audit-log.json' })
  }

  return { exportCsv, exportJson }
}

async function* csvOf(log: AsyncIterable<AuditEntry[]>): AsyncGenerator<string> {
  let before = CSV_MARK + writeCsv([['time', 'kind', 'ip', 'user_agent', 'referrer']])
  for await (const piece of log) {
    yield before + writeCsv(piece.map(cellsOf))
    before = ''
  }
}

function cellsOf({ at, kind, ip, userAgent, referrer }: AuditEntry): string[] {
  return [formatTime(at), kind, ip, userAgent, referrer]
}

async function* jsonOf(log: AsyncIterable<AuditEntry[]>): AsyncGenerator<string> {
  let before = '{\n  "logs": [\n    '
  for await (const piece of log) {
    yield before + piece.map(writeEntry).join(',\n    ')
    before = ',\n    '
  }
  yield '\n  ]\n}\n'
}

function writeEntry({ at, userAgent, ...entry }: AuditEntry): string {
  return JSON.stringify({ ...entry, user_agent: userAgent, created_at: formatTime(at) })
}

/** Reads the first page before the answer begins, so that damage there is an error and not a short file. */
async function attach(
  pieces: AsyncIterator<string>,
  { type, filename }: { type: string; filename: string },
): Promise<Response> {
  const encoder = new TextEncoder()
  let next = await pieces.next()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (next.done === true) return controller.close()
      controller.enqueue(encoder.encode(next.value))
      next = await pieces.next()
    },
  })
  return new Response(body, {
    headers: {
      'content-type': type,
      'content-disposition': `attachment; filename="${filename}"`,
      'content-security-policy': "sandbox; default-src 'none'",
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  })
}

/** A table for spreadsheets (RFC 4180). Every cell is quoted, and none is taken for a formula. */
function writeCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(quote).join(',')}\r\n`).join('')
}

function quote(cell: string): string {
  const safe = FORMULA.test(cell) ? `'${cell}` : cell
  return `"${safe.replaceAll('"', '""')}"`
}
