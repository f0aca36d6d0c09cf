// Requests that no client would send: none ends the server, none is answered with a fault of its own.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { removeFolder, type Started, startBinary } from '../support/binary.ts'
import { sendRaw } from '../support/raw.ts'

let server: Started

beforeAll(async () => {
  server = await startBinary()
})

afterAll(async () => {
  expect((await fetch(`${server.url}/up`)).status).toBe(200)
  expect(server.stderr()).not.toContain(' 500 ')
  expect(await server.end()).toBe(0)
  removeFolder(server.dataDir)
})

const PUSHES = '/api/v2/pushes'
const JSON_TYPE = 'Content-Type: application/json\r\n'

const statusOf = async (...parts: (string | number)[]) =>
  [...(await sendRaw(server.port, parts)).text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => Number(match[1]))

test.each([
  ['HTTP/1.0 without a Host', `GET ${PUSHES}/x HTTP/1.0\r\n\r\n`, [421]],
  ['HTTP/1.1 without a Host', `GET ${PUSHES}/x HTTP/1.1\r\n\r\n`, [400]],
  ['a broken Host', `GET ${PUSHES}/x HTTP/1.1\r\nHost: a b@c/\r\n\r\n`, [421]],
  ['a broken Host asking for the version', 'GET /api/v2/version HTTP/1.1\r\nHost: a b@c/\r\n\r\n', [200]],
  [
    'another host in the request line',
    `GET http://evil.example${PUSHES}/x HTTP/1.1\r\nHost: evil.example\r\n\r\n`,
    [421],
  ],
  ['a body on GET', `GET ${PUSHES}/x HTTP/1.1\r\nHost: nas\r\nContent-Length: 5\r\n\r\nhello`, [404]],
  ['pipelining', 'GET /up HTTP/1.1\r\nHost: nas\r\n\r\nGET /up HTTP/1.1\r\nHost: nas\r\n\r\n', [200, 200]],
  [
    'length and chunks at once',
    `POST ${PUSHES} HTTP/1.1\r\nHost: nas\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    [400],
  ],
  [
    'two lengths',
    `POST ${PUSHES} HTTP/1.1\r\nHost: nas\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
    [400],
  ],
  ['a broken escape in the path', `GET ${PUSHES}/%E0%A4%A HTTP/1.1\r\nHost: nas\r\n\r\n`, [404]],
  [
    'an announced body beyond the limit',
    `POST ${PUSHES} HTTP/1.1\r\nHost: nas\r\n${JSON_TYPE}Content-Length: 99999999999\r\n\r\n{`,
    [413],
  ],
])('%s is answered', async (_, request, statuses) => {
  expect(await statusOf(request)).toEqual(statuses)
})

test('headers that are too large are refused', async () => {
  const [status] = await statusOf(`GET /up HTTP/1.1\r\nHost: nas\r\nX-Long: ${'x'.repeat(200_000)}\r\n\r\n`)
  expect([400, 413, 431, undefined]).toContain(status)
})

test('a chunked body beyond the limit is refused while it is read, naming the flag', async () => {
  const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`
  const { text } = await sendRaw(
    server.port,
    [
      `POST ${PUSHES} HTTP/1.1\r\nHost: nas\r\n${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n`,
      ...Array(8).fill(chunk),
    ],
    3_000,
  )
  expect(text).toStartWith('HTTP/1.1 413')
  expect(text).toContain('--max-payload-bytes')
})

test('connections that send too slowly or nothing are ended', async () => {
  const drip = (text: string) => [...text].flatMap((character) => [700, character])
  const half = `POST ${PUSHES} HTTP/1.1\r\nHost: nas\r\n${JSON_TYPE}Content-Length: 100\r\n\r\n{"push":`
  const results = await Promise.all([
    sendRaw(server.port, [half], 50_000),
    sendRaw(server.port, [half, ...drip(' '.repeat(60))], 50_000),
    sendRaw(server.port, ['GET /up HTTP/1.1\r\nHost: nas\r\n\r\n'], 50_000),
  ])
  expect(results.map(({ closed }) => closed)).toEqual([true, true, true])
}, 110_000)

test('a client that goes away in the middle leaves nothing behind', async () => {
  const half = `POST ${PUSHES} HTTP/1.1\r\nHost: nas\r\n${JSON_TYPE}Content-Length: 100\r\n\r\n{"push":`
  await Promise.all(Array.from({ length: 50 }, () => sendRaw(server.port, [half], 20)))
  expect((await server.create({ payload: 'x' })).status).toBe(201)
})
