// Fields of a schema of the reference: name, type, limits and description of each.

import { nameOf, type Schema } from './document.ts'
import { Prose } from './prose.tsx'

export function schemaId(name: string): string {
  return `schema-${name}`
}

/** A type in a word or two, with a link if it has a name. */
export function TypeName({ schema }: { schema: Schema }) {
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

/** The limits on its values, besides their type. */
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

/** A term of a `dl.fields`. */
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
