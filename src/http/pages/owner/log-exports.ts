// The audit log of a push to take along, as CSV or JSON. It is written a piece at a time: it may be long.

import type { AuditEntry } from '../../../domain/audit.ts'
import { formatTime } from '../../../domain/time.ts'
import type { Pushes } from '../../../services/pushes/pushes.ts'
import type { Member } from '../frame/guest.ts'
import { CSV_MARK, writeCsv } from './csv.ts'

type Params = Partial<Record<string, string>>

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

/** The first piece is written before the answer begins: a log that is damaged there is an error, not a short file. */
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
