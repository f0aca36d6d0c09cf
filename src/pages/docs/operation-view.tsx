// Views of the reference: operations with parameters, bodies, answers and examples, and schemas with their
// fields.

import {
  curlLine,
  type DocumentedEndpoint,
  type DocumentedOperation,
  nameOf,
  needsToken,
  type Schema,
} from './document.ts'

function Place({ endpoint: { method, path } }: { endpoint: DocumentedEndpoint }) {
  return (
    <code class="place">
      <b class={`method ${method.toLowerCase()}`}>{method}</b> {path}
    </code>
  )
}

export function OperationView({ endpoint, baseUrl }: { endpoint: DocumentedEndpoint; baseUrl: string }) {
  const { operation } = endpoint
  const { operationId, summary, description, parameters = [] } = operation
  return (
    <article class="card operation" id={operationId} aria-labelledby={`${operationId}-title`}>
      <h3 id={`${operationId}-title`}>{summary}</h3>
      <p>
        <Place endpoint={endpoint} />
      </p>
      {description === undefined ? null : <Prose text={description} />}
      {needsToken(operation) ? <p class="hint">Needs a token.</p> : null}
      <pre>
        <code>{curlLine(endpoint, baseUrl)}</code>
      </pre>
      <details>
        <summary>Parameters, body and answers</summary>
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
        <Answers operation={operation} />
      </details>
    </article>
  )
}

/** The content types of the body, each with its fields or a link to them. */
function Body({ operation: { requestBody } }: { operation: DocumentedOperation }) {
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

/** The answers of an operation. Refusals are listed only by status, because they mean the same everywhere. */
function Answers({ operation: { responses } }: { operation: DocumentedOperation }) {
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

/** The meaning of each refusal, by status. */
export function Refusals({ endpoints }: { endpoints: DocumentedEndpoint[] }) {
  const all = endpoints.flatMap(({ operation }) => Object.entries(operation.responses))
  const byStatus = new Map(all.filter(([status]) => Number(status) >= 400).toReversed())
  return <AnswerList answers={[...byStatus].sort()} />
}

function AnswerList({ answers }: { answers: [string, DocumentedOperation['responses'][string]][] }) {
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
    <details>
      <summary>{name}</summary>
      {/* Put the anchor inside the section: browsers then open it when they follow the anchor. */}
      <div id={schemaId(name)}>
        {schema.description === undefined ? null : <Prose text={schema.description} />}
        {schema.type === 'array' ? (
          <p>
            <TypeName schema={schema} />
          </p>
        ) : null}
        <Fields schema={schema} />
      </div>
    </details>
  )
}

function schemaId(name: string): string {
  return `schema-${name}`
}

/** A type name, with a link if the schema is named. */
function TypeName({ schema }: { schema: Schema }) {
  const name = nameOf(schema)
  if (name !== null) return <a href={`#${schemaId(name)}`}>{name}</a>
  if (schema.type === 'array') {
    return (
      <>
        array of <TypeName schema={schema.items ?? {}} />
      </>
    )
  }
  const words = [schema.type ?? 'any', ...(schema.format === undefined ? [] : [`(${schema.format})`])]
  return <>{[...words, ...(schema.nullable ? ['or null'] : [])].join(' ')}</>
}

/** Returns the limits on a schema's values. */
export function limitsOf(schema: Schema): string[] {
  const { minimum, maximum, minLength, maxLength, maxItems } = schema
  const range = [minimum === undefined ? '' : `from ${minimum}`, maximum === undefined ? '' : `to ${maximum}`]
  return [
    schema.enum === undefined ? '' : `one of ${schema.enum.join(', ')}`,
    range.filter(Boolean).join(' '),
    minLength === undefined ? '' : `at least ${minLength} characters`,
    maxLength === undefined ? '' : `at most ${maxLength} characters`,
    maxItems === undefined ? '' : `at most ${maxItems} items`,
    schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`,
  ].filter(Boolean)
}

type FieldProps = { name: string; schema: Schema; note?: string; isRequired: boolean }

/** A field as a term of a `dl.fields`. */
export function Field({ name, schema, note, isRequired }: FieldProps) {
  const details = [...limitsOf(schema), ...(note === undefined ? [] : [note])]
  const nested = schema.properties === undefined ? (schema.items ?? {}) : schema
  return (
    <>
      <dt>
        <code>{name}</code> <TypeName schema={schema} />
        {isRequired ? <strong> required</strong> : null}
      </dt>
      <dd>
        {schema.description === undefined ? null : <Prose text={schema.description} />}
        {details.length === 0 ? null : <p class="hint">{details.join('; ')}</p>}
        <Fields schema={nested} />
      </dd>
    </>
  )
}

export function Fields({ schema: { properties, required = [] } }: { schema: Schema }) {
  return properties === undefined ? null : (
    <dl class="fields">
      {Object.entries(properties).map(([name, schema]) => (
        <Field name={name} schema={schema} isRequired={required.includes(name)} />
      ))}
    </dl>
  )
}

/** Renders a paragraph per text between blank lines. */
export function Prose({ text }: { text: string }) {
  return (
    <>
      {text.split(/\n{2,}/).map((paragraph) => (
        <p>{paragraph.split('`').map((part, at) => (at % 2 === 0 ? part : <code>{part}</code>))}</p>
      ))}
    </>
  )
}
