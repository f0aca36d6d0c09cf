// The pages of the API reference, rendered from this server's OpenAPI document: one page for the current API,
// one for the previous version. In English, like the API.

import type { RouteRequest } from '../../http/door/router.ts'
import { API } from '../../http/urls.ts'
import type { GetGuest, Guest } from '../frame/guest.ts'
import type { Children } from '../frame/html.ts'
import { Contents } from '../frame/lists.tsx'
import type { AnswerGuest } from '../frame/page.tsx'
import { type ApiDocument, curlLine, type DocumentedEndpoint, listEndpoints } from './document.ts'
import { OperationView, Prose, Refusals, SchemaView } from './operation-view.tsx'

type DocsOptions = {
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
  const [purpose = '', ...rules] = document.info.description.split('\n\n')
  const shown = groups.flatMap(({ endpoints }) => endpoints)
  const first = shown.findIndex(({ method }) => method === 'POST')
  return (
    <div lang="en" dir="ltr" class="indexed docs">
      <Contents label="Contents">
        {groups.map((group) => (
          <Entry name={group.name} endpoints={isFolded(group.name) ? [] : group.endpoints} />
        ))}
        {['Refusals', 'Schemas', 'Rules'].map((name) => (
          <Entry name={name} endpoints={[]} />
        ))}
      </Contents>
      <div>
        <h1>{title}</h1>
        <Prose text={purpose} />
        <pre>
          <code>
            {shown
              .slice(first, first + 2)
              .map((endpoint) => curlLine(endpoint, baseUrl))
              .join('\n\n')}
          </code>
        </pre>
        <p class="hint">
          Version {document.info.version}, at <code>{baseUrl}</code>. For programs:{' '}
          <a href={`${basePath}${API.reference.href()}`}>the same as OpenAPI 3</a>.
          {only !== undefined && [
            ' ',
            <a href={`${basePath}${API.docs.href()}`}>All versions and operations.</a>,
          ]}
        </p>
        {groups.map(({ name, description, endpoints }) => {
          const views = endpoints.map((endpoint) => <OperationView endpoint={endpoint} baseUrl={baseUrl} />)
          return (
            <Part name={name}>
              <Prose text={description} />
              {isFolded(name) ? (
                <details>
                  <summary>{endpoints.length} operations</summary>
                  {views}
                </details>
              ) : (
                views
              )}
            </Part>
          )
        })}
        <Part name="Refusals">
          <Refusals endpoints={endpoints} />
        </Part>
        <Part name="Schemas">
          <details>
            <summary>The fields of bodies and answers</summary>
            {Object.entries(document.components.schemas).map(([name, schema]) => (
              <SchemaView name={name} schema={schema} />
            ))}
          </details>
        </Part>
        <Part name="Rules">
          {rules.map((rule) => (
            <Prose text={rule} />
          ))}
        </Part>
      </div>
    </div>
  )

  /** Whether the operations of the group are folded, as those of the previous version beside the current. */
  function isFolded(name: string): boolean {
    return only === undefined && name === 'Previous version'
  }
}

function Part({ name, children }: { name: string; children: Children }) {
  return (
    <section aria-labelledby={idOf(name)}>
      <h2 id={idOf(name)}>{name}</h2>
      {children}
    </section>
  )
}

function Entry({ name, endpoints }: { name: string; endpoints: DocumentedEndpoint[] }) {
  return (
    <>
      <a href={`#${idOf(name)}`}>{name}</a>
      {endpoints.length > 0 && (
        <ul class="contents">
          {endpoints.map(({ operation }) => (
            <li>
              <a href={`#${operation.operationId}`}>{operation.summary}</a>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function idOf(group: string): string {
  return group.toLowerCase().replaceAll(' ', '-')
}
