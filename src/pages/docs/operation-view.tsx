// One operation of the reference: what it does, what it takes, what it answers, and how to try it.

import { curlLine, type Endpoint, nameOf, needsToken, type Operation, type Schema } from './document.ts'
import { Prose } from './prose.tsx'
import { Field, Fields, schemaId, TypeName } from './schema-view.tsx'

export function Place({ endpoint: { method, path } }: { endpoint: Endpoint }) {
  return (
    <code class="place">
      <b class={`method ${method.toLowerCase()}`}>{method}</b> {path}
    </code>
  )
}

export function OperationView({ endpoint, baseUrl }: { endpoint: Endpoint; baseUrl: string }) {
  const { operation } = endpoint
  const { operationId, summary, description, parameters = [] } = operation
  return (
    <article class="card operation" id={operationId} aria-labelledby={`${operationId}-title`}>
      <h3 id={`${operationId}-title`}>{summary}</h3>
      <p>
        <Place endpoint={endpoint} />
      </p>
      {description === undefined ? null : <Prose text={description} />}
      <p class="hint">{needsToken(operation) ? 'Needs a token.' : 'A token is optional.'}</p>
      {parameters.length === 0 ? null : (
        <>
          <h4>Parameters</h4>
          <dl class="fields">
            {parameters.map(({ name, schema, required = false, description, ...rest }) => (
              <Field
                name={name}
                schema={description === undefined ? schema : { ...schema, description }}
                note={`in the ${rest.in}`}
                isRequired={required}
              />
            ))}
          </dl>
        </>
      )}
      <Body operation={operation} />
      <h4>Example</h4>
      <pre>
        <code>{curlLine(endpoint, baseUrl)}</code>
      </pre>
      <Answers operation={operation} />
    </article>
  )
}

/** The ways to send a body, each with its fields or a link to them. */
function Body({ operation: { requestBody } }: { operation: Operation }) {
  if (requestBody === undefined) return null
  return (
    <>
      <h4>Body</h4>
      <ul>
        {Object.entries(requestBody.content).map(([type, { schema }]) => (
          <li>
            <code>{type}</code>: <Shape schema={schema} />
          </li>
        ))}
      </ul>
    </>
  )
}

function Shape({ schema }: { schema: Schema }) {
  return nameOf(schema) === null && schema.properties !== undefined ? (
    <Fields schema={schema} />
  ) : (
    <TypeName schema={schema} />
  )
}

/** Refusals have the same meaning everywhere, so they are only numbers here. */
function Answers({ operation: { responses } }: { operation: Operation }) {
  const answers = Object.entries(responses)
  const refusals = answers.filter(([status]) => Number(status) >= 400)
  return (
    <>
      <h4>Answers</h4>
      <AnswerList answers={answers.filter(([status]) => Number(status) < 400)} />
      <p class="hint">
        <a href="#refusals">Refusals</a>: {refusals.map(([status]) => status).join(', ')}
      </p>
    </>
  )
}

/** What each refusal means, in the order of its status. */
export function Refusals({ endpoints }: { endpoints: Endpoint[] }) {
  const all = endpoints.flatMap(({ operation }) => Object.entries(operation.responses))
  const byStatus = new Map(all.filter(([status]) => Number(status) >= 400).toReversed())
  return <AnswerList answers={[...byStatus].sort()} />
}

function AnswerList({ answers }: { answers: [string, Operation['responses'][string]][] }) {
  return (
    <dl class="fields">
      {answers.map(([status, { description, content }]) => (
        <>
          <dt>
            <code>{status}</code>{' '}
            {Object.values(content).map(({ schema }) => (
              <TypeName schema={schema} />
            ))}
          </dt>
          <dd>
            <Prose text={description} />
          </dd>
        </>
      ))}
    </dl>
  )
}

export function SchemaView({ name, schema }: { name: string; schema: Schema }) {
  return (
    <details id={schemaId(name)}>
      <summary>{name}</summary>
      {schema.description === undefined ? null : <Prose text={schema.description} />}
      {schema.type === 'array' ? (
        <p>
          <TypeName schema={schema} />
        </p>
      ) : null}
      <Fields schema={schema} />
    </details>
  )
}
