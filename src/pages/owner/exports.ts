// Downloads for an owner: the log of a push, and the list of pushes with all logs. Both may be long, so they
// are streamed.

import { presentEntry, presentListed } from '../../api/push-json.ts'
import type { Account } from '../../domain/account.ts'
import type { AuditEntry } from '../../domain/audit.ts'
import { type ExportFormat, type PushWithLogs, writeList } from '../../domain/list-export.ts'
import { formatTime, type Now } from '../../domain/time.ts'
import { answerAttachment } from '../../http/answers.ts'
import type { Pushes } from '../../pushes/pushes.ts'
import { CSV_MARK, writeCsv } from '../../text/csv.ts'
import type { Member, Params } from '../frame/guest.ts'

export type ExportOptions = { pushes: Pick<Pushes, 'openLog' | 'readAllOf'>; now: Now }

const TYPES: Record<ExportFormat, string> = { json: 'application/json', csv: 'text/csv; charset=utf-8' }

export function createExports({ pushes, now }: ExportOptions) {
  async function* readAll(account: Account, linkBase: string): AsyncGenerator<PushWithLogs> {
    for await (const { log, ...push } of pushes.readAllOf(account))
      yield { push: presentListed(push, { linkBase, now: now() }), logs: log?.map(presentEntry) ?? null }
  }

  /** Does the same as `oncebox export`, for an owner without a command line. */
  const saveList =
    (format: ExportFormat) =>
    ({ account, exchange: { baseUrl: server, linkBase } }: Member): Promise<Response> => {
      const exported = { server, at: formatTime(now()), pushes: readAll(account, linkBase) }
      return attach(writeList(format, exported), { format, name: 'oncebox-list' })
    }

  const saveLog =
    (format: ExportFormat) =>
    async ({ viewer }: Member, { url_token = '' }: Params): Promise<Response> => {
      const log = await pushes.openLog(url_token, viewer)
      const write = format === 'csv' ? csvOf : jsonOf
      return attach(write(log.readAll()), { format, name: 'audit-log' })
    }

  return { saveList, saveLog }
}

/** Reads the first chunk before it answers, so that damage there causes an error and not a truncated file. */
async function attach(
  pieces: AsyncIterator<string>,
  { format, name }: { format: ExportFormat; name: string },
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
  return answerAttachment(body, { type: TYPES[format], filename: `${name}.${format}` })
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
