// Exports the audit log of a push as CSV or JSON. Streams it a page at a time, because it may be long.

import type { AuditEntry } from '../../domain/audit.ts'
import { CSV_MARK, writeCsv } from '../../domain/csv.ts'
import { formatTime } from '../../domain/time.ts'
import type { Pushes } from '../../pushes/pushes.ts'
import { attach } from '../frame/attachment.ts'
import type { Member, Params } from '../frame/guest.ts'

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
