// Where an account saves its list and logs as a file.

import { PAGES } from '../../http/urls.ts'
import type { Member } from '../frame/guest.ts'

export function ListExportSection({ guest }: { guest: Member }) {
  const { say } = guest.words
  return (
    <section class="card" aria-labelledby="export-title" id="export">
      <h2 id="export-title">{say('export_title')}</h2>
      <p>{say('export_lead')}</p>
      <p class="links">
        <a href={`${guest.basePath}${PAGES.listCsv.href()}`}>{say('audit_csv')}</a>
        <a href={`${guest.basePath}${PAGES.listJson.href()}`}>{say('audit_json')}</a>
      </p>
    </section>
  )
}
