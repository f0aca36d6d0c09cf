// Reads a bounded number of urlencoded fields. Bun splits them, because a loop in JavaScript would block
// other requests until it is compiled.

import { DomainError } from '../../domain/errors.ts'
import { MAX_FIELD_NAME, MAX_FIELDS } from './members.ts'
import { decodeUtf8 } from './utf8.ts'

/** The part of the request that holds the fields, for refusals. */
type FieldSource = 'form' | 'query'

type Field = [name: string, value: string]

/** Returns all fields in the order in which they were sent. Keeps a stray %. Throws `malformed`. */
export function parseUrlencoded(bytes: Uint8Array, place: FieldSource): Field[] {
  const malformed = (problem: string) => new DomainError('malformed', `The ${place} ${problem}`)
  const sent = decodeUtf8(bytes, `The ${place} holds bytes that are not UTF-8`)
  if (sent.split('&', MAX_FIELDS + 1).length > MAX_FIELDS)
    throw malformed(`has more than ${MAX_FIELDS} fields`)
  // The parser drops a leading question mark: add one, so that it does not drop part of a name.
  const fields = [...new URLSearchParams(`?${sent}`)]
  if (fields.some(([name]) => name.length > MAX_FIELD_NAME))
    throw malformed(`has a field whose name is longer than ${MAX_FIELD_NAME} characters`)
  // The parser replaces bytes that are not UTF-8 by U+FFFD. Parse again without those that the sender sent.
  if (hasReplaced(fields) && hasReplaced(new URLSearchParams(sent.replace(/\ufffd|%ef%bf%bd/gi, '-'))))
    throw malformed('holds bytes that are not UTF-8')
  return fields
}

function hasReplaced(fields: Iterable<Field>): boolean {
  return [...fields].flat().some((text) => text.includes('\ufffd'))
}
