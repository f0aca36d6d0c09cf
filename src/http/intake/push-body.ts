// Reads the fields of a push from a body in JSON, urlencoded or multipart form, all into the same members.

import { DomainError } from '../../domain/errors.ts'
import type { Exchange } from '../door/exchange.ts'
import { type BodyLimits, readBody, streamBody } from './body.ts'
import type { Wire } from './fields.ts'
import { type FilePart, readMultipart } from './multipart.ts'

export type PushBodyOptions = BodyLimits & {
  /** The allowed names of the object with the fields, the expected one first. */
  wrappers: readonly string[]
  /**
   * Reads as Rails does. Fields in the query fill in for those that the body lacks. A body without a content type is JSON if
   * it begins with `{`, else a form.
   */
  isLenient?: boolean
  onFile: (file: FilePart) => Promise<unknown>
  /** Called after each part of a multipart body has been read, even if a later part fails. */
  onPart?: (name: string, value: unknown) => void
}

const MAX_PAIRS = 1000

/** Resolves to the members of the push. Throws `malformed`, `unsupported_type`, `too_large` or `too_slow`. */
export async function readPushFields(exchange: Exchange, options: PushBodyOptions): Promise<Wire> {
  const { wrappers, isLenient = false } = options
  const inQuery = isLenient ? fieldsInQuery(exchange.request.url, wrappers) : null
  const inBody = findWrapper(await readObject(exchange, options), wrappers)
  if (inQuery !== null) return { ...inQuery, ...onlyGiven(inBody ?? {}) }
  if (inBody !== undefined) return inBody
  const [expected] = wrappers
  throw malformed(`The body needs an object "${expected}", as in {"${expected}": {"payload": "…"}}`)
}

async function readObject(exchange: Exchange, options: PushBodyOptions): Promise<unknown> {
  const contentType = exchange.request.headers.get('content-type') ?? ''
  switch (contentType.split(';', 1)[0]?.trim().toLowerCase()) {
    case 'application/json':
      return parseJson(await readText(exchange, options), options)
    case 'application/x-www-form-urlencoded':
      return parseUrlencoded(await readText(exchange, options), 'form')
    case 'multipart/form-data':
      return nest(await readParts(exchange, contentType, options))
    case '':
      return parseUntyped(exchange, options)
    default:
      throw new DomainError(
        'unsupported_type',
        'Send application/json, multipart/form-data or a urlencoded form.',
      )
  }
}

async function readParts(exchange: Exchange, contentType: string, options: PushBodyOptions) {
  const { maxBytes, limit, take, onFile, onPart } = options
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

async function readText(exchange: Exchange, options: PushBodyOptions): Promise<string> {
  return decodeUtf8(await readBody(exchange, options))
}

async function parseUntyped(exchange: Exchange, options: PushBodyOptions): Promise<unknown> {
  if (!options.isLenient) throw malformed('The request needs a Content-Type: application/json')
  const text = await readText(exchange, options)
  return text.trimStart().startsWith('{') ? parseJson(text, options) : parseUrlencoded(text, 'form')
}

function findWrapper(body: unknown, wrappers: readonly string[]): Wire | undefined {
  return isObject(body) ? wrappers.map((name) => body[name]).find(isObject) : undefined
}

/** Merges the fields of all wrappers; the expected wrapper wins. Null if there are none. */
function fieldsInQuery(url: string, wrappers: readonly string[]): Wire | null {
  const mark = url.indexOf('?')
  if (mark === -1) return null
  const query = parseUrlencoded(url.slice(mark + 1), 'query')
  const given = wrappers.map((name) => query[name]).filter(isObject)
  return given.length === 0 ? null : Object.fromEntries(given.toReversed().flatMap(Object.entries))
}

/** Leaves out the members whose value means "not given". */
function onlyGiven(wire: Wire): Wire {
  return Object.fromEntries(Object.entries(wire).filter(([, value]) => value !== null && value !== ''))
}

function parseJson(text: string, { isLenient = false }: PushBodyOptions): unknown {
  if (isLenient && text === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    throw malformed('The body is not well-formed JSON')
  }
}

type Place = 'form' | 'query'

function parseUrlencoded(text: string, place: Place): Wire {
  if (hasMorePairs(text, MAX_PAIRS)) throw malformed(`The ${place} has more than ${MAX_PAIRS} fields`)
  const pairs = text
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair): [string, string] => {
      const equals = pair.indexOf('=')
      const [name, value] = equals === -1 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)]
      return [decodeComponent(name, place), decodeComponent(value, place)]
    })
  return nest(pairs)
}

/** Counts before splitting, because millions of pairs would take too much time and memory. */
function hasMorePairs(text: string, most: number): boolean {
  let ampersands = 0
  for (let at = text.indexOf('&'); at !== -1 && ampersands < most; at = text.indexOf('&', at + 1))
    ampersands += 1
  return ampersands >= most
}

/** Keeps a stray %. Refuses bytes that are not UTF-8 instead of replacing them. */
function decodeComponent(text: string, place: Place): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' ').replace(/%(?![0-9a-f]{2})/gi, '%25'))
  } catch {
    throw malformed(`The ${place} holds bytes that are not UTF-8`)
  }
}

/** Turns `push[name]` and `push[files][]` into nested objects. A later value replaces an earlier one, except in lists. */
function nest(pairs: Iterable<[string, unknown]>): Wire {
  const body: Record<string, Wire> = Object.create(null)
  for (const [name, value] of pairs) {
    const match = /^([^[\]]+)\[([^[\]]+)\](\[\d*\])?$/.exec(name)
    const [, wrapper, field, list] = match ?? []
    if (wrapper === undefined || field === undefined) continue
    const members: Wire = body[wrapper] ?? Object.create(null)
    body[wrapper] = members
    const isList = list !== undefined || field === 'files'
    // A file part has no value: its file is already stored. It still shows that the wrapper is there.
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

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw malformed('The body is not UTF-8')
  }
}

function isObject(value: unknown): value is Wire {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function malformed(message: string): DomainError {
  return new DomainError('malformed', message)
}
