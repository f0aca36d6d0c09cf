// The fields of a push from a request's body: JSON, urlencoded or multipart, all to the same members.

import { DomainError } from '../../domain/errors.ts'
import { type BodyLimits, readBody, streamBody } from './body.ts'
import type { Wire } from './fields.ts'
import { type FilePart, readMultipart } from './multipart.ts'

export type PushBodyOptions = BodyLimits & {
  /** The names that the object with the fields may have, the expected one first. */
  wrappers: readonly string[]
  onFile: (file: FilePart) => Promise<unknown>
  /** Told of each part of a multipart body once it has been read, also when a later one fails. */
  onPart?: (name: string, value: unknown) => void
}

const MAX_PAIRS = 1000

/** The members of the push. Throws `malformed`, `unsupported_type`, `too_large` or `too_slow`. */
export async function readPushFields(request: Request, options: PushBodyOptions): Promise<Wire> {
  return unwrap(await readObject(request, options), options.wrappers)
}

async function readObject(request: Request, options: PushBodyOptions): Promise<unknown> {
  const contentType = request.headers.get('content-type') ?? ''
  switch (contentType.split(';', 1)[0]?.trim().toLowerCase()) {
    case 'application/json':
      return parseJson(await readBody(request, options))
    case 'application/x-www-form-urlencoded':
      return parseUrlencoded(await readBody(request, options))
    case 'multipart/form-data':
      return nest(await readParts(request, contentType, options))
    case '':
      throw malformed('The request needs a Content-Type: application/json')
    default:
      throw new DomainError(
        'unsupported_type',
        'Send application/json, multipart/form-data or a urlencoded form.',
      )
  }
}

async function readParts(request: Request, contentType: string, options: PushBodyOptions) {
  const { maxBytes, flag, take, onFile, onPart } = options
  const parts = await readMultipart(streamBody(request, options), {
    contentType,
    maxTextBytes: maxBytes,
    flag,
    take: (bytes) => take(request, bytes),
    onFile,
    ...(onPart === undefined ? {} : { onPart }),
  })
  return parts.map(({ name, value }): [string, unknown] => [name, value])
}

function unwrap(body: unknown, wrappers: readonly string[]): Wire {
  const push = isObject(body) ? wrappers.map((name) => body[name]).find(isObject) : undefined
  if (push !== undefined) return push
  const [expected] = wrappers
  throw malformed(`The body needs an object "${expected}", as in {"${expected}": {"payload": "…"}}`)
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(decodeUtf8(body))
  } catch (cause) {
    throw cause instanceof DomainError ? cause : malformed('The body is not well-formed JSON')
  }
}

function parseUrlencoded(body: Uint8Array): Wire {
  const text = decodeUtf8(body)
  if (hasMorePairs(text, MAX_PAIRS)) throw malformed(`The form has more than ${MAX_PAIRS} fields`)
  const pairs = text
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair): [string, string] => {
      const equals = pair.indexOf('=')
      const [name, value] = equals === -1 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)]
      return [decodeComponent(name), decodeComponent(value)]
    })
  return nest(pairs)
}

/** Looked at before anything is split: millions of pairs would take longer, and more room, than all else. */
function hasMorePairs(text: string, most: number): boolean {
  let ampersands = 0
  for (let at = text.indexOf('&'); at !== -1 && ampersands < most; at = text.indexOf('&', at + 1))
    ampersands += 1
  return ampersands >= most
}

/** A stray % stays as it is; bytes that are no UTF-8 are refused rather than replaced. */
function decodeComponent(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' ').replace(/%(?![0-9a-f]{2})/gi, '%25'))
  } catch {
    throw malformed('The form holds bytes that are not UTF-8')
  }
}

/** `push[name]` and `push[files][]` to an object of objects; the last of several wins, except in lists. */
function nest(pairs: Iterable<[string, unknown]>): Wire {
  const body: Record<string, Wire> = Object.create(null)
  for (const [name, value] of pairs) {
    const match = /^([^[\]]+)\[([^[\]]+)\](\[\d*\])?$/.exec(name)
    const [, wrapper, field, list] = match ?? []
    if (wrapper === undefined || field === undefined) continue
    const members: Wire = body[wrapper] ?? Object.create(null)
    body[wrapper] = members
    const isList = list !== undefined || field === 'files'
    // A file is kept already; it only says that there is a push.
    if (value === undefined) continue
    members[field] = isList ? addToList(members[field], value) : value
  }
  return body
}

/** An empty member of a list is what forms send for "none". */
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
