// Malformed requests: none ends the server, and none is answered with 500.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createStage, type Started } from '../support/binary.ts'
import { drip, sendRaw, thenLeave, type Waiting } from '../support/raw.ts'
import { untilTaken } from '../support/waiting.ts'

const stage = createStage()
let server: Started

beforeAll(async () => {
  server = await stage.start()
})

afterAll(async () => {
  expect((await server.create({ payload: 'x' })).status).toBe(201)
  expect(server.stderr()).not.toMatch(/ 5\d\d | error | fatal /)
  expect(await server.end()).toBe(0)
  await stage.clear()
})

const HOST = 'Host: localhost\r\n'
const UP = `GET /up HTTP/1.1\r\n${HOST}`
const GET = (path: string, headers = HOST) => `GET ${path} HTTP/1.1\r\n${headers}\r\n`
const POST = `POST /api/v2/pushes HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n`
const BODY = '{"push":{"payload":"x"}}'
const LENGTH = `Content-Length: ${BODY.length}\r\n\r\n`
const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n'
const ONE_CHUNK = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`

/** Bytes that must not be read as a second request. */
const QUIET_MS = 400

async function statusesOf(request: string, waiting: Waiting): Promise<number[]> {
  return (await sendRaw(server.port, [request], waiting)).statuses
}

describe('what is answered', () => {
  test.concurrent.each([
    ['HTTP/1.0 without a Host', 'GET /api/v2/pushes/x HTTP/1.0\r\n\r\n', [421]],
    ['HTTP/1.0 with a Host', `GET /up HTTP/1.0\r\n${HOST}\r\n`, [200]],
    ['HTTP/1.1 without a Host', GET('/api/v2/pushes/x', ''), [400]],
    ['the version for HTTP/1.0 without a Host', 'GET /api/v2/version HTTP/1.0\r\n\r\n', [200]],
    ['a broken Host', GET('/api/v2/pushes/x', 'Host: a b@c/\r\n'), [421]],
    ['an empty Host', GET('/api/v2/pushes/x', 'Host: \r\n'), [421]],
    ['a Host with a broken port', GET('/api/v2/pushes/x', 'Host: localhost:99999999\r\n'), [421]],
    ['a Host that is a stranger', GET('/api/v2/pushes/x', 'Host: evil.example\r\n'), [421]],
    ['a broken Host asking for the version', GET('/api/v2/version', 'Host: a b@c/\r\n'), [200]],
    [
      'a stranger in the request line',
      GET('http://evil.example/api/v2/pushes/x', 'Host: evil.example\r\n'),
      [421],
    ],
    ['a stranger in the request line alone', GET('http://evil.example/api/v2/pushes/x'), [404]],
    ['an absolute URI', GET('http://localhost/api/v2/version'), [200]],
    ['a body on GET', `${UP}Content-Length: 5\r\n\r\nhello`, [200]],
    ['a chunked body on GET', `${UP}${CHUNKED}5\r\nhello\r\n0\r\n\r\n`, [200]],
    ['a body on DELETE', `DELETE /api/v2/pushes/x HTTP/1.1\r\n${HOST}Content-Length: 5\r\n\r\nhello`, [404]],
    ['pipelining', `${UP}\r\n${UP}\r\n${UP}\r\n`, [200, 200, 200]],
    ['pipelining behind a body on GET', `${UP}Content-Length: 5\r\n\r\nhello${UP}\r\n`, [200, 200]],
    ['a body in chunks', `${POST}${CHUNKED}${ONE_CHUNK}`, [201]],
    ['no body at all', `${POST}\r\n`, [400]],
    ['an empty body', `${POST}Content-Length: 0\r\n\r\n`, [400]],
    ['length and chunks at once', `${POST}Content-Length: 5\r\n${CHUNKED}0\r\n\r\n`, [400]],
    ['two lengths', `${POST}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`, [400]],
    ['a negative length', `${POST}Content-Length: -5\r\n\r\nhello`, [400]],
    ['a length that is no number', `${POST}Content-Length: five\r\n\r\nhello`, [400]],
    ['a chunk of no size', `${POST}${CHUNKED}zz\r\nhello\r\n0\r\n\r\n`, [400]],
    ['a broken escape in the path', GET('/api/v2/pushes/%E0%A4%A'), [404]],
    ['a NUL in the path', GET('/api/v2/pushes/%00'), [404]],
    ['dots in the path', GET('/assets/../../../../etc/passwd'), [404]],
    ['escaped dots in the path', GET('/assets/%2e%2e%2f%2e%2e%2fetc%2fpasswd'), [404]],
    ['a query of broken escapes', GET('/api/v2/pushes/x?passphrase=%E0%A4%A&%'), [404]],
    ['an announced body beyond the limit', `${POST}Content-Length: 99999999999\r\n\r\n{`, [413]],
    ['an expectation', `${POST}Expect: 100-continue\r\n${LENGTH}${BODY}`, [100, 201]],
    ['an unknown version of HTTP', `GET /up HTTP/7.3\r\n${HOST}\r\n`, [505]],
    ['an upgrade', `${UP}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`, [200]],
  ])('%s', async (_, request, statuses) => {
    const until: Waiting['until'] = (answer) => answer.statuses.length >= statuses.length
    expect(await statusesOf(request, { until, thenMs: QUIET_MS })).toEqual(statuses)
  })
})

// The platform may refuse these with 4xx or close the connection. A request pipelined behind one that is
// still being answered gets no answer; no client pipelines a POST.
test.concurrent.each([
  ['no HTTP', 'hello\r\n\r\n'],
  ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['an unknown method', `BREW /up HTTP/1.1\r\n${HOST}\r\n`],
  ['a header without a colon', `${UP}Nonsense\r\n\r\n`],
  ['a header with a space before its colon', `${UP}Content-Length : 5\r\n\r\nhello`],
  ['a folded header', `${UP}X-Folded: a\r\n b\r\n\r\n`],
  ['headers that are too large', `${UP}X-Long: ${'x'.repeat(200_000)}\r\n\r\n`],
  ['too many headers', `${UP}${'X-Many: x\r\n'.repeat(20_000)}\r\n`],
  ['a request line that is too long', GET(`/${'x'.repeat(200_000)}`)],
  ['a NUL in a header', `${UP}X-Nul: a\0b\r\n\r\n`],
  ['an asterisk', `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`],
  ['bytes after the announced length of a body', `${POST}${LENGTH}${BODY}and more\r\n\r\n`],
  ['pipelining behind a create', `${POST}${LENGTH}${BODY}${UP}\r\n`],
  ['pipelining behind chunks', `${POST}${CHUNKED}${ONE_CHUNK}${UP}\r\n`],
  ['CONNECT', `CONNECT evil.example:443 HTTP/1.1\r\n${HOST}\r\n`],
])("%s is answered as the client's fault", async (_, request) => {
  for (const status of await statusesOf(request, thenLeave(QUIET_MS))) {
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
  }
})

test('a retrieval that arrives together with another request uses up no view', async () => {
  const created = await server.create({ payload: 'x', expire_after_views: 1 })
  const { url_token } = (await created.json()) as { url_token: string }
  const retrieve = GET(`/api/v2/pushes/${url_token}`)
  for (const pipelined of [retrieve + retrieve, `${retrieve}${UP}\r\n`])
    expect(await statusesOf(pipelined, {})).toEqual([])
  const { text } = await sendRaw(server.port, [retrieve], { until: ({ text }) => text.endsWith('}') })
  expect(text).toContain('"expired":false')
})

test.each([
  ['JSON', `Content-Type: application/json\r\n${LENGTH}${BODY}`],
  ['JSON in chunks', `Content-Type: application/json\r\n${CHUNKED}${ONE_CHUNK}`],
  ['a form', `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 15\r\n\r\npush[payload]=x`],
])(
  'a create of %s that arrives together with another request is not carried out',
  async (kind, rest) => {
    const key = `pipelined create of ${kind}`
    const create = (body: string) =>
      `POST /api/v2/pushes HTTP/1.1\r\n${HOST}Idempotency-Key: ${key}\r\n${body}`
    expect(await statusesOf(`${create(rest)}${UP}\r\n`, {})).toEqual([])
    // The key is free for another payload as soon as the first request has noticed that it was aborted.
    const other = '{"push":{"payload":"other"}}'
    const json = `Content-Type: application/json\r\nContent-Length: ${other.length}\r\n\r\n${other}`
    let status = 409
    while (status === 409) {
      const { statuses } = await sendRaw(server.port, [create(json)], {
        until: (got) => got.statuses.length > 0,
      })
      status = statuses[0] ?? 0
    }
    expect(status).toBe(201)
  },
  60_000,
)

test('a chunked body beyond the limit is refused while it is read, in JSON that names the flag', async () => {
  const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`
  const parts = [`${POST}${CHUNKED}`, ...Array(8).fill(chunk)]
  const { text, statuses } = await sendRaw(server.port, parts, { until: ({ text }) => text.endsWith('}') })
  expect(statuses).toEqual([413])
  expect(text).toMatch(/content-type: application\/json/i)
  const [, body = ''] = text.split('\r\n\r\n')
  expect(JSON.parse(body).error).toContain('--max-payload-bytes')
})

// These two mostly wait, so run them concurrently.
test.concurrent('connections that send too slowly, too little or nothing are closed', async () => {
  const half = `${POST}Content-Length: 1000\r\n\r\n{"push":`
  const form = `POST /api/v2/pushes HTTP/1.1\r\n${HOST}Content-Type: multipart/form-data; boundary=x\r\n`
  const slow = (text: string) => drip(text.repeat(70), 700)
  const connections = {
    'silence from the start': [],
    'half a request line': ['GET /u'],
    'a drip of a request line': ['GET /', ...slow('x')],
    'a drip of headers': [`${UP}X-Slow: `, ...slow('x')],
    'half a body': [half],
    'a drip of a body': [half, ...slow(' ')],
    'half a chunk': [`${POST}${CHUNKED}400\r\n{`],
    'half a form': [`${form}Content-Length: 1000\r\n\r\n--x\r\n`],
    'a drip of a form': [`${form}Content-Length: 1000\r\n\r\n--x\r\n`, ...slow('C')],
    'a drip of a body that nobody reads': [`${UP}Content-Length: 1000\r\n\r\n`, ...slow('x')],
    'idle after an answer': [`${UP}\r\n`],
  }
  const ended = Object.entries(connections).map(async ([name, parts]) => {
    const { closed, statuses } = await sendRaw(server.port, parts)
    return { name, closed, isServersFault: statuses.some((status) => status >= 500) }
  })
  expect(await Promise.all(ended)).toEqual(
    Object.keys(connections).map((name) => ({ name, closed: true, isServersFault: false })),
  )
}, 600_000)

test.concurrent('a client that sends 8 KB/s steadily is not cut off, even beyond the idle timeout', async () => {
  const SECONDS = 36
  const payload = 'x'.repeat(SECONDS * 8000)
  const json = JSON.stringify({ push: { payload } })
  const form = `--x\r\nContent-Disposition: form-data; name="push[payload]"\r\n\r\n${payload}\r\n--x--\r\n`
  const steadily = (text: string) => drip(text.match(/[\s\S]{1,4000}/g) ?? [], 500)
  const created = [
    [`${POST}Connection: close\r\nContent-Length: ${json.length}\r\n\r\n`, ...steadily(json)],
    [
      `POST /api/v2/pushes HTTP/1.1\r\n${HOST}Content-Type: multipart/form-data; boundary=x\r\n`,
      `Connection: close\r\nContent-Length: ${form.length}\r\n\r\n`,
      ...steadily(form),
    ],
  ].map((parts) => sendRaw(server.port, parts))
  expect((await Promise.all(created)).map(({ statuses }) => statuses)).toEqual([[201], [201]])
}, 600_000)

test('clients that disconnect during a request leave nothing behind', async () => {
  const half = `${POST}Content-Length: 100\r\n\r\n{"push":`
  await Promise.all(Array.from({ length: 50 }, () => sendRaw(server.port, [half], thenLeave(20))))
  const unread = GET('/assets/nothing').repeat(50)
  await Promise.all(Array.from({ length: 50 }, () => sendRaw(server.port, [unread], thenLeave(0))))
  // On a slow machine the burst may overload the server.
  expect((await untilTaken(() => server.create({ payload: 'x' }))).status).toBe(201)
})
