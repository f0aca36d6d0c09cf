// Bodies that would use more than their share of memory, on every path, including paths that are rewritten
// before routing.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { createStage, type Started } from '../support/binary.ts'
import { workedMsOf } from '../support/effort.ts'
import { sendRaw, type Waiting } from '../support/raw.ts'

const stage = createStage()
let server: Started

beforeAll(async () => {
  server = await stage.start({ flags: ['--max-payload-bytes', '100KiB'] })
})
afterAll(stage.clear)

const PATHS = ['/api/v2/pushes', '/api/v2/pushes.json', '/p.json', '//p.json', '/f.json']
const wrapperOf = (path: string) =>
  path.includes('pushes') ? 'push' : path === '/f.json' ? 'file_push' : 'password'

const post = (path: string, body: string | FormData, headers: Record<string, string> = {}) =>
  server.ask(path, { method: 'POST', body, headers, signal: AbortSignal.timeout(60_000) })

function form(parts: [string, string | File][]): FormData {
  const data = new FormData()
  for (const [name, value] of parts) data.append(name, value)
  return data
}

const ANSWERED: Waiting = { until: ({ statuses }) => statuses.length > 0, thenMs: 100 }
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

test.each(PATHS)(
  '%s: a file without an account is refused before the rest of the body arrives',
  async (path) => {
    const wrapper = wrapperOf(path)
    const file = new File(['x'.repeat(3_000_000)], 'report.pdf')
    const answer = await post(
      path,
      form([
        [`${wrapper}[files][]`, file],
        [`${wrapper}[payload]`, 'x'],
      ]),
    )
    expect(answer.status).toBe(401)
    expect(Object.keys(await answer.json())).toContain('error')
    expect(
      readdirSync(join(server.dataDir, 'files'), { recursive: true, withFileTypes: true }).filter((entry) =>
        entry.isFile(),
      ),
    ).toEqual([])
  },
)

test.each(PATHS)('%s: a chunked body beyond the limit is refused while it is read', async (path) => {
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
  const chunk = `${(65_536).toString(16)}\r\n${'a'.repeat(65_536)}\r\n`
  const { statuses } = await sendRaw(server.port, [head, ...Array<string>(20).fill(chunk)], ANSWERED)
  // A file push needs an account, which is checked first.
  expect(statuses[0]).toBe(path === '/f.json' ? 401 : 413)
})

test.each(PATHS)('%s: a thousand refused large bodies leave no memory reserved', async (path) => {
  const wrapper = wrapperOf(path)
  const text = 'x'.repeat(500_000)
  for (let round = 0; round < 10; round += 1) {
    const statuses = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const body = form([
          [`${wrapper}[payload]`, text],
          [`${wrapper}[files][]`, new File(['x'], 'x')],
        ])
        return (await post(path, body)).status
      }),
    )
    expect(new Set(statuses)).toEqual(new Set([401]))
  }
  const { status } = await post('/api/v2/pushes', JSON.stringify({ push: { payload: 'x'.repeat(90_000) } }), {
    'content-type': 'application/json',
  })
  expect(status).toBe(201)
})

test.each([
  ['the same list', 'password[files][]=x&'.repeat(30_000)],
  ['nothing at all', 'a&'.repeat(300_000)],
  ['other objects', Array.from({ length: 30_000 }, (_, n) => `a${n}[b]=c`).join('&')],
])('a form with too many %s is refused before it is parsed', async (_, body) => {
  const before = workedMsOf(server.pid)
  const answer = await post('/p.json', body, FORM)
  expect(answer.status).toBe(400)
  expect((await answer.json()).error).toContain('1000 fields')
  expect(workedMsOf(server.pid) - before).toBeLessThan(1_000)
})

test('a form with many fields is accepted', async () => {
  const fields = Array.from({ length: 900 }, (_, n) => `push[unknown${n}]=x`).join('&')
  const answer = await post('/api/v2/pushes', `${fields}&push[payload]=kept`, FORM)
  expect(answer.status).toBe(201)
})

test('the refusal of a form does not wait for the rest of its body', async () => {
  const file = '--x\r\nContent-Disposition: form-data; name="push[files][]"; filename="a"\r\n\r\ncontent'
  const head =
    'POST /api/v2/pushes HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n'
  const { statuses } = await sendRaw(server.port, [`${head}Content-Length: 100000\r\n\r\n${file}`], ANSWERED)
  expect(statuses).toEqual([401])
})

test('names of parts cannot fill the memory', async () => {
  const body = form([
    ['push[payload]', 'x'],
    [`push[${'n'.repeat(10_000)}]`, ''],
  ])
  const answer = await post('/api/v2/pushes', body)
  expect(answer.status).toBe(400)
  expect((await answer.json()).error).toContain('200 characters')
})

const JSON_BODY = `{"push":{"payload":"${'\\u0061'.repeat(100_000)}"}}`
const MULTIPART_BODY = `--x\r\nContent-Disposition: form-data; name="push[payload]"\r\n\r\n${'a'.repeat(100_000)}\r\n--x--\r\n`

test.each([
  ['application/json', JSON_BODY],
  ['multipart/form-data; boundary=x', MULTIPART_BODY],
])('a body of %s in chunks of one byte costs little more than in one chunk', async (type, body) => {
  const head = `POST /api/v2/pushes HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`
  const chunks = [...body].map((byte) => `1\r\n${byte}\r\n`).join('')
  const before = workedMsOf(server.pid)
  const { statuses } = await sendRaw(server.port, [`${head}${chunks}0\r\n\r\n`], ANSWERED)
  expect(statuses).toEqual([201])
  expect(workedMsOf(server.pid) - before).toBeLessThan(300)
})

test('large secrets that clients request but do not read use little memory, and count a view only if sent', async () => {
  const large = await stage.start({ flags: ['--max-payload-bytes', '1MiB'] })
  const created = await large.create({ payload: '\x01'.repeat(1024 * 1024), expire_after_views: 100 })
  const { url_token } = await created.json()
  const path = `/api/v2/pushes/${url_token}`
  const askers: Awaited<ReturnType<typeof askUnread>>[] = []
  for (let n = 0; n < 60; n += 1) askers.push(await askUnread(large.port, path))
  const sent = askers.filter(({ status }) => status === 200).length
  expect(sent).toBeLessThan(30)
  expect(new Set(askers.slice(sent).map(({ status }) => status))).toEqual(new Set([503]))
  for (const { socket } of askers) socket.destroy()
  let again = await large.ask(path)
  for (; again.status === 503; again = await large.ask(path)) await Bun.sleep(20)
  expect((await again.json()).views_remaining).toBe(100 - sent - 1)
})

/** Reads only the status of the response. */
function askUnread(port: number, path: string): Promise<{ socket: Socket; status: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ socket: Socket; status: number }>()
  const socket = connect({ host: '127.0.0.1', port })
  socket.once('error', reject)
  socket.once('data', (chunk) => {
    socket.pause()
    resolve({ socket, status: Number(chunk.toString('latin1').split(' ')[1]) })
  })
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  return promise
}
