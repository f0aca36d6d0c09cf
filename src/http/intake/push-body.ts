// Reads the fields of a push from a JSON, urlencoded or multipart body, all into the same members.

import { DomainError, invalidFields } from '../../domain/errors.ts'
import { findExcess } from '../../text/json-shape.ts'
import type { Exchange } from '../door/exchange.ts'
import { type BodyLimits, readBody, streamBody } from './body.ts'
import type { Wire } from './members.ts'
import { type FilePart, readMultipart } from './multipart.ts'
import { parseUrlencoded } from './urlencoded.ts'
import { decodeUtf8, WITHOUT_MARK } from './utf8.ts'

export type PushBodyOptions = BodyLimits & {
  /** The allowed names of the object with the fields, the expected one first. */
  wrappers: readonly string[]
  /**
   * Reads as Rails does: fields in the query fill in missing ones, and a body without a content type is JSON
   * if it begins with `{`, else a form.
   */
  isLenient?: boolean | undefined
  /** A member that a form may send without the brackets, too. */
  plain?: string
  /** Stores a file. Without it, files are refused. */
  onFile?: (file: FilePart) => Promise<unknown>
  /** Called after each part of a multipart body has been read, even if a later part fails. */
  onPart?: (name: string, value: unknown) => void
  /** Whether the step that acts on the body checks that the connection is open: see `readBody`. */
  isCheckedLater?: boolean | undefined
}

/** Limits far above a push, whose largest list of objects is `files`. */
const MOST = { depth: 32, members: 2000 }

/** An example member of each wrapper that is not a push. */
const EXAMPLES: Partial<Record<string, string>> = { request: 'message', webhook: 'url' }

const BLANKS: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x20])
const OPENS_OBJECT = 0x7b

/** Resolves to the members of the push. Throws `malformed`, `unsupported_type`, `too_large` or `too_slow`. */
export async function readPushFields(exchange: Exchange, options: PushBodyOptions): Promise<Wire> {
  const { wrappers, isLenient = false } = options
  const inQuery = isLenient ? fieldsInQuery(exchange.request.url, options) : null
  const contentType = exchange.request.headers.get('content-type') ?? ''
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const body =
    type === 'multipart/form-data'
      ? nest(await readParts(exchange, contentType, options), options)
      : parserOf(type, options)(await readBody(exchange, options))
  const inBody = findWrapper(body, wrappers)
  if (inQuery !== null) return { ...inQuery, ...onlyGiven(inBody ?? {}) }
  if (inBody !== undefined) return inBody
  const [expected] = wrappers
  const member = EXAMPLES[expected ?? ''] ?? 'payload'
  throw malformed(`The body needs an object "${expected}", as in {"${expected}": {"${member}": "…"}}`)
}

/** Throws `unsupported_type`, and `malformed` without a type, before the body is read. */
function parserOf(type: string, options: PushBodyOptions): (body: Uint8Array) => unknown {
  const { isLenient = false } = options
  switch (type) {
    case 'application/json':
      return (body) => parseJson(body, isLenient)
    case 'application/x-www-form-urlencoded':
      return (body) => parseForm(body, options)
    case '':
      if (isLenient) return (body) => parseUntyped(body, options)
      throw malformed('The request needs a Content-Type: application/json')
    default:
      throw new DomainError(
        'unsupported_type',
        'Send application/json, multipart/form-data or a urlencoded form.',
      )
  }
}

async function readParts(exchange: Exchange, contentType: string, options: PushBodyOptions) {
  const { maxBytes, limit, take, onFile = refuseFile, onPart } = options
  const parts = await readMultipart(streamBody(exchange, options), {
    contentType,
    maxTextBytes: maxBytes,
    limit,
    take: (bytes) => take(exchange, bytes),
    onFile,
    ...(onPart === undefined ? {} : { onPart }),
  })
  return parts.map(({ name, value }): [string, unknown] => [name, value])
}

function parseUntyped(body: Uint8Array, options: PushBodyOptions): unknown {
  const first = body.find((byte) => !BLANKS.has(byte))
  return first === OPENS_OBJECT ? parseJson(body, true) : parseForm(body, options)
}

function parseForm(body: Uint8Array, options: PushBodyOptions): Wire {
  return nest(parseUrlencoded(body, 'form'), options)
}

function findWrapper(body: unknown, wrappers: readonly string[]): Wire | undefined {
  return isObject(body) ? wrappers.map((name) => body[name]).find(isObject) : undefined
}

/** Merges the fields of all wrappers; the expected wrapper wins. Returns null if there are none. */
function fieldsInQuery(url: string, options: PushBodyOptions): Wire | null {
  const mark = url.indexOf('?')
  if (mark === -1) return null
  const query = nest(parseUrlencoded(Buffer.from(url.slice(mark + 1)), 'query'), options)
  const given = options.wrappers.map((name) => query[name]).filter(isObject)
  return given.length === 0 ? null : Object.fromEntries(given.toReversed().flatMap(Object.entries))
}

/** Leaves out the members whose value means "not given". */
function onlyGiven(wire: Wire): Wire {
  return Object.fromEntries(Object.entries(wire).filter(([, value]) => value !== null && value !== ''))
}

function parseJson(body: Uint8Array, isLenient: boolean): unknown {
  if (isLenient && body.length === 0) return {}
  const text = decodeUtf8(body, 'The body is not UTF-8', WITHOUT_MARK)
  const excess = findExcess(text, MOST)
  if (excess === 'depth') throw malformed(`The JSON body is nested more than ${MOST.depth} levels deep`)
  if (excess === 'members')
    throw malformed(`The JSON body has more than ${MOST.members} members, in all objects and lists together`)
  try {
    return JSON.parse(text)
  } catch {
    throw malformed('The body is not well-formed JSON')
  }
}

/** The members whose values are lists. In forms their names may lack the `[]`. */
const LISTS: ReadonlySet<string> = new Set(['files', 'accept', 'events'])

/**
 * Turns `push[name]` and `push[files][]` into nested objects. A later value replaces an earlier one, except
 * in lists.
 */
function nest(pairs: Iterable<[string, unknown]>, { wrappers, plain }: PushBodyOptions): Wire {
  const body: Record<string, Wire> = Object.create(null)
  for (const [sent, value] of pairs) {
    const name = sent === plain ? `${wrappers[0]}[${plain}]` : sent
    const match = /^([^[\]]+)\[([^[\]]+)\](\[\d*\])?$/.exec(name)
    const [, wrapper, field, list] = match ?? []
    if (wrapper === undefined || field === undefined) continue
    const members: Wire = body[wrapper] ?? Object.create(null)
    body[wrapper] = members
    const isList = list !== undefined || LISTS.has(field)
    // A file part has no value, since its file is stored already. It still shows that the wrapper is there.
    if (value === undefined) continue
    members[field] = isList ? addToList(members[field], value) : value
  }
  return body
}

/** Ignores an empty value, which forms send for an empty list. */
function addToList(list: unknown, value: unknown): unknown {
  if (value === '') return list
  if (!Array.isArray(list)) return [value]
  list.push(value)
  return list
}

function isObject(value: unknown): value is Wire {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function refuseFile(): never {
  throw invalidFields({ files: [{ code: 'not_asked_list' }] })
}

function malformed(message: string): DomainError {
  return new DomainError('malformed', message)
}
