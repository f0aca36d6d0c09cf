// Random requests derived from the reference: its paths, methods and members, with values that are valid,
// nearly valid, or invalid.

import fc from 'fast-check'
import type { Reference } from '../support/reference-check.ts'

export type Drawn = {
  method: string
  path: string
  headers: Record<string, string>
  body: Uint8Array<ArrayBuffer> | undefined
}

export type Known = { urlTokens: readonly string[]; apiTokens: readonly string[] }

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    '\ud800',
    '\u202e',
    '../..',
    '%',
    '%00',
    '%E0%A4',
    '{}',
    '[]',
    'null',
    '-0',
    '1e400',
  ),
  fc.nat({ max: 5000 }).map((length) => 'x'.repeat(length)),
)

const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      -1,
      1,
      7,
      1.5,
      1e21,
      -1e308,
      2 ** 53,
      '7',
      'true',
      'on',
      'text',
      'file',
      'url',
      'qr',
    ),
    anyText,
    fc.integer(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(anyText, tie('value'), { maxKeys: 4 }),
  ),
})).value

/** Values that are mostly valid for the member. */
const members: Record<string, fc.Arbitrary<unknown>> = {
  payload: fc.oneof(anyText, fc.constantFrom('https://example.org/', 'secret')),
  kind: fc.constantFrom('text', 'file', 'url', 'qr', 'TEXT'),
  expire_after_days: fc.oneof(fc.integer({ min: -1, max: 100 }), fc.constantFrom('7', ' 7 ', '0x7', '٧')),
  expire_after_views: fc.integer({ min: -1, max: 110 }),
  expire_after_duration: fc.integer({ min: -1, max: 19 }),
  deletable_by_viewer: fc.constantFrom(true, false, 'yes', 'OFF', 'maybe', 2),
  retrieval_step: fc.constantFrom(true, false, '1', ''),
  passphrase: anyText,
  name: anyText,
  note: anyText,
  files: fc.array(
    fc.record(
      {
        filename: anyText,
        content_type: anyText,
        data: fc.oneof(fc.base64String({ maxLength: 40 }), anyText),
      },
      { requiredKeys: [] },
    ),
    { maxLength: 12 },
  ),
}

const pushFields = fc
  .record(
    Object.fromEntries(
      Object.entries(members).map(([name, fitting]) => [
        name,
        fc.oneof({ arbitrary: fitting, weight: 4 }, { arbitrary: anyValue, weight: 1 }),
      ]),
    ),
    { requiredKeys: [] },
  )
  .chain((fields) => fc.tuple(fc.constant(fields), fc.dictionary(anyText, anyValue, { maxKeys: 2 })))
  .map(([fields, others]) => ({ ...others, ...fields }))

/** The fields of a push that must be created. */
const goodFields: fc.Arbitrary<Record<string, unknown>> = fc.record(
  {
    payload: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).map((text) => `x${text}`),
    expire_after_days: fc.integer({ min: 1, max: 90 }),
    expire_after_views: fc.integer({ min: 1, max: 100 }),
    deletable_by_viewer: fc.boolean(),
    note: fc.string({ unit: 'grapheme', maxLength: 60 }),
  },
  { requiredKeys: ['payload'] },
)

type Body = { type: string; bytes: Uint8Array<ArrayBuffer> }

const encode = (text: string) => new Uint8Array(Buffer.from(text))

const jsonBody = fc
  .tuple(
    fc.constantFrom('push', 'password', 'url', 'file_push', 'file'),
    fc.oneof(
      { arbitrary: pushFields, weight: 4 },
      { arbitrary: goodFields, weight: 4 },
      { arbitrary: anyValue, weight: 1 },
    ),
  )
  .map(
    ([wrapper, push]): Body => ({
      type: 'application/json',
      bytes: encode(JSON.stringify({ [wrapper]: push }) ?? ''),
    }),
  )

const formBody = fc.oneof(pushFields, goodFields).map((fields): Body => {
  const pairs = Object.entries(fields).flatMap(([name, value]) => {
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
    return [`push[${name}]=${encodeURIComponent(text.toWellFormed())}`]
  })
  return { type: 'application/x-www-form-urlencoded', bytes: encode(pairs.join('&')) }
})

const part = fc.record({
  name: fc.oneof(
    fc.constantFrom(...Object.keys(members).map((name) => `push[${name}]`), 'push[files][]', 'push'),
    anyText,
  ),
  filename: fc.option(anyText),
  content: fc.uint8Array({ maxLength: 300 }),
  line: fc.option(
    fc.constantFrom(
      'Content-Type: text/html',
      'Content-Transfer-Encoding: base64',
      'X: \u0001',
      'Content-Type: ;;;',
    ),
  ),
})

/** Multipart as clients write it, then damaged: cut, altered, or with another boundary. */
const multipartBody = fc
  .record({
    parts: fc.array(part, { maxLength: 6 }),
    cut: fc.option(fc.nat({ max: 400 })),
    flips: fc.array(fc.tuple(fc.nat({ max: 2000 }), fc.nat({ max: 255 })), { maxLength: 3 }),
    says: fc.constantFrom('b', 'b', 'b', 'c', ''),
  })
  .map(({ parts, cut, flips, says }): Body => {
    const chunks = parts.flatMap(({ name, filename, content, line }) => {
      const file = filename === null ? '' : `; filename="${filename.toWellFormed()}"`
      const head = `Content-Disposition: form-data; name="${name.toWellFormed()}"${file}${line === null ? '' : `\r\n${line}`}`
      return [Buffer.from(`--b\r\n${head}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n')]
    })
    let bytes = Buffer.concat([...chunks, Buffer.from('--b--\r\n')])
    for (const [at, value] of flips) if (at < bytes.length) bytes[at] = value
    if (cut !== null) bytes = bytes.subarray(0, cut)
    return { type: `multipart/form-data; boundary=${says}`, bytes: new Uint8Array(bytes) }
  })

const rawBody = fc
  .tuple(
    fc.constantFrom(
      'application/json',
      'application/json; charset=utf-16',
      'text/plain',
      '',
      'multipart/form-data',
      'application/x-www-form-urlencoded',
      'image/png',
    ),
    fc.uint8Array({ maxLength: 200 }),
  )
  .map(([type, bytes]): Body => ({ type, bytes: new Uint8Array(bytes) }))

const bodies = fc.oneof(
  { arbitrary: jsonBody, weight: 4 },
  { arbitrary: formBody, weight: 2 },
  { arbitrary: multipartBody, weight: 3 },
  { arbitrary: rawBody, weight: 2 },
)

/** Replaces characters that a header value cannot contain. */
const headerText = anyText.map((text) => text.replace(/[^\x20-\x7e\x80-\xff]/g, '').trim())

export function drawRequests({ paths }: Reference, { urlTokens, apiTokens }: Known): fc.Arbitrary<Drawn> {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => ({ path, method: method.toUpperCase() })),
  )
  const operation = fc.oneof(
    { arbitrary: fc.constantFrom(...operations), weight: 9 },
    {
      arbitrary: fc.record({
        path: fc.constantFrom(...Object.keys(paths)),
        method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'),
      }),
      weight: 1,
    },
  )
  const urlToken = fc.oneof(
    { arbitrary: fc.constantFrom(...urlTokens), weight: 5 },
    { arbitrary: fc.constantFrom('0123456789abcdefghjkmnpqrs', 'active', 'expired', 'x'), weight: 1 },
    {
      arbitrary: anyText.map((text) => encodeURIComponent(text.toWellFormed().replaceAll('.', '')) || '-'),
      weight: 2,
    },
  )
  const query = fc.option(
    fc.dictionary(
      fc.constantFrom('page', 'passphrase', 'x', 'push[payload]'),
      fc.oneof(fc.constantFrom('1', '0', '200', '201', '', 'a', '1e1'), anyText),
      { maxKeys: 3 },
    ),
  )
  const headers = fc.record(
    {
      authorization: fc.oneof(
        { arbitrary: fc.constantFrom(...apiTokens.map((token) => `Bearer ${token}`)), weight: 6 },
        fc.constantFrom('Bearer', 'Bearer x', 'Basic eDp5', 'bearer  '),
        headerText,
      ),
      'x-user-token': fc.oneof({ arbitrary: fc.constantFrom(...apiTokens), weight: 4 }, headerText),
      'x-push-passphrase': fc.oneof(fc.constantFrom('right', 'wrong', '%', '%F0%9F%94%91'), headerText),
      accept: headerText,
      'accept-language': headerText,
      'user-agent': headerText,
      referer: headerText,
      range: headerText,
      cookie: headerText,
      'x-forwarded-for': headerText,
      'x-forwarded-host': headerText,
      host: fc.oneof(
        { arbitrary: fc.constant('localhost'), weight: 20 },
        fc.constantFrom('evil.example', 'x'.repeat(300)),
      ),
    },
    { requiredKeys: ['host'] },
  )
  const ending = fc.constantFrom('', '', '', '.json', '/', '//', '/x')
  return fc.record({ operation, urlToken, query, headers, ending, body: fc.option(bodies) }).map((drawn) => {
    const { method } = drawn.operation
    const isV1 = drawn.operation.path.endsWith('.json')
    const plain = drawn.operation.path.replace('{url_token}', drawn.urlToken)
    const parameters = new URLSearchParams(
      Object.entries(drawn.query ?? {}).map(([name, value]) => [name, value.toWellFormed()]),
    ).toString()
    const hasBody = drawn.body !== null && method !== 'GET' && method !== 'HEAD'
    const type: Record<string, string> =
      hasBody && drawn.body?.type ? { 'content-type': drawn.body.type } : {}
    const headers = Object.fromEntries(
      Object.entries({ ...drawn.headers, ...type }).filter(([, value]) => value !== undefined),
    )
    return {
      method,
      path: `${plain}${isV1 ? '' : drawn.ending}${parameters === '' ? '' : `?${parameters}`}`,
      headers,
      body: hasBody ? drawn.body?.bytes : undefined,
    }
  })
}
