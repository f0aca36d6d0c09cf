// The pages of the API reference, rendered from this server's OpenAPI document: one for all versions, one for
// the previous version. They are in English, like the API.

import type { RouteRequest } from '../../http/door/router.ts'
import { API } from '../../http/urls.ts'
import type { GetGuest, Guest } from '../frame/guest.ts'
import type { AnswerGuest } from '../frame/page.tsx'
import { type ApiDocument, type DocumentedEndpoint, listEndpoints } from './document.ts'
import { OperationView, Place, Prose, Refusals, SchemaView } from './operation-view.tsx'

export type DocsOptions = {
  answer: AnswerGuest
  getGuest: GetGuest
  reference: () => Promise<object>
  /** The group of operations to show; by default all. */
  only?: string
}

const TITLE = 'API reference'

export function createAnswerDocs({ answer, getGuest, reference, only }: DocsOptions) {
  const title = only === undefined ? TITLE : `${TITLE}: ${only.toLowerCase()}`
  return async ({ exchange }: RouteRequest): Promise<Response> => {
    const guest = await getGuest(exchange)
    const document = (await reference()) as ApiDocument
    const content = <Reference {...{ guest, document, title, only }} />
    return answer(content, { guest, title, width: 'wide' })
  }
}

type ReferenceProps = { guest: Guest; document: ApiDocument; title: string; only: string | undefined }

function Reference({ guest, document, title, only }: ReferenceProps) {
  const { basePath, exchange } = guest
  const { baseUrl } = exchange
  const endpoints = listEndpoints(document)
  const groups = document.tags
    .filter(({ name }) => only === undefined || only === name)
    .map(({ name, description }) => ({
      name,
      description,
      endpoints: endpoints.filter(({ operation }) => operation.tags.includes(name)),
    }))
  return (
    <div lang="en" dir="ltr" class="docs">
      <h1>{title}</h1>
      <p class="lead">
        Version {document.info.version}, at <code>{baseUrl}</code>. For programs:{' '}
        <a href={`${basePath}${API.reference.href()}`}>the same as OpenAPI 3</a>.
        {only !== undefined && [
          ' ',
          <a href={`${basePath}${API.docs.href()}`}>All versions and operations.</a>,
        ]}
      </p>
      <Prose text={document.info.description} />
      <nav aria-label="Operations">
        {groups.map(({ name, endpoints }) => (
          <Contents name={name} endpoints={endpoints} />
        ))}
      </nav>
      {groups.map(({ name, description, endpoints }) => (
        <section aria-labelledby={idOf(name)}>
          <h2 id={idOf(name)}>{name}</h2>
          <Prose text={description} />
          {endpoints.map((endpoint) => (
            <OperationView endpoint={endpoint} baseUrl={baseUrl} />
          ))}
        </section>
      ))}
      <section aria-labelledby="refusals">
        <h2 id="refusals">Refusals</h2>
        <Refusals endpoints={endpoints} />
      </section>
      <section aria-labelledby="schemas">
        <h2 id="schemas">Schemas</h2>
        {Object.entries(document.components.schemas).map(([name, schema]) => (
          <SchemaView name={name} schema={schema} />
        ))}
      </section>
    </div>
  )
}

function Contents({ name, endpoints }: { name: string; endpoints: DocumentedEndpoint[] }) {
  return (
    <details>
      <summary>
        {name} ({endpoints.length})
      </summary>
      <ul class="contents">
        {endpoints.map((endpoint) => (
          <li>
            <a href={`#${endpoint.operation.operationId}`}>
              {endpoint.operation.summary} <Place endpoint={endpoint} />
            </a>
          </li>
        ))}
      </ul>
    </details>
  )
}

function idOf(group: string): string {
  return group.toLowerCase().replaceAll(' ', '-')
}
