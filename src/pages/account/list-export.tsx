// The list and logs of the signed-in account as a file: for those who have no command line.

import { presentEntry, presentListed } from '../../api/push-json.ts'
import type { Account } from '../../domain/account.ts'
import { type ExportFormat, type PushWithLogs, writeList } from '../../domain/list-export.ts'
import { formatTime, type Now } from '../../domain/time.ts'
import { PAGES } from '../../http/urls.ts'
import type { Pushes } from '../../pushes/pushes.ts'
import { attach } from '../frame/attachment.ts'
import type { Member } from '../frame/guest.ts'
import { ExportLinks } from '../frame/lists.tsx'
import { Card } from '../frame/parts.tsx'

export type ListExportOptions = { pushes: Pick<Pushes, 'readAllOf'>; now: Now }

const TYPES: Record<ExportFormat, string> = { json: 'application/json', csv: 'text/csv; charset=utf-8' }

export function createListExport({ pushes, now }: ListExportOptions) {
  async function* readAll(account: Account, baseUrl: string): AsyncGenerator<PushWithLogs> {
    for await (const { log, ...push } of pushes.readAllOf(account))
      yield { push: presentListed(push, { baseUrl, now: now() }), logs: log?.map(presentEntry) ?? null }
  }

  function save({ account, exchange }: Member, format: ExportFormat): Promise<Response> {
    const { baseUrl: server } = exchange
    const exported = { server, at: formatTime(now()), pushes: readAll(account, server) }
    return attach(writeList(format, exported), { type: TYPES[format], filename: `oncebox-list.${format}` })
  }

  return { saveJson: (guest: Member) => save(guest, 'json'), saveCsv: (guest: Member) => save(guest, 'csv') }
}

export function ListExportSection({ guest }: { guest: Member }) {
  const { say } = guest
  return (
    <Card id="export" title={say('export_title')}>
      <p>{say('export_lead')}</p>
      <ExportLinks guest={guest} csv={PAGES.listCsv.href()} json={PAGES.listJson.href()} />
    </Card>
  )
}
