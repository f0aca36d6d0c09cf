// `oncebox export`, against a whole Oncebox and against other servers.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readTable } from '../support/csv.ts'
import { type SocketServer, serveFake, startOnSocket } from '../support/socket.ts'
import { createTrial } from './trial.ts'

const PUSHES = 103

let server: Awaited<ReturnType<typeof startOnSocket>>
let token: string
let folder: string
const made: string[] = []
const fakes: SocketServer[] = []

beforeAll(async () => {
  server = await startOnSocket()
  token = await server.addAccount('ann@example.org')
  for (let n = 0; n < PUSHES; n += 1) {
    const push = { payload: 'unspoken', name: `=name ${n}`, note: 'a "note"\nof two lines' }
    const response = await server.fetch('/api/v2/pushes', { json: { push }, token })
    made.unshift((await response.json()).url_token)
  }
  for (const urlToken of made.slice(0, 51))
    await server.fetch(`/api/v2/pushes/${urlToken}`, { method: 'DELETE', token })
  for (let n = 0; n < 60; n += 1) await server.fetch(`/api/v2/pushes/${made[60]}/preview`, { token })
  for (let n = 0; n < 4; n += 1) await server.fetch(`/api/v2/pushes/${made[60]}`)
})
afterAll(() => server.close())
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oncebox-export-'))
})
afterEach(() => {
  for (const fake of fakes.splice(0)) fake.stop()
  rmSync(folder, { recursive: true, force: true })
})

const at = (name: string) => join(folder, name)
const signedIn = (url = server.url, given: Parameters<typeof createTrial>[0] = {}) =>
  createTrial({ home: folder, ...given, env: { ONCEBOX_SERVER: url, ONCEBOX_TOKEN: token } })

type Exported = { url_token: string; name: string; note: string; logs: { kind: string }[] }

describe('as JSON', () => {
  test('writes every push with its log to a file that only its owner can read', async () => {
    const trial = signedIn()
    expect([await trial.run('export', at('list.json')), trial.err]).toEqual([
      0,
      [`Exported ${PUSHES} pushes to ${at('list.json')}.`],
    ])
    expect(statSync(at('list.json')).mode & 0o777).toBe(0o600)
    const text = readFileSync(at('list.json'), 'utf8')
    const { server: from, pushes } = JSON.parse(text) as { server: string; pushes: Exported[] }
    expect(from).toBe(server.url)
    expect(pushes.map(({ url_token }) => url_token)).toEqual([...made.slice(51), ...made.slice(0, 51)])
    expect(pushes[0]).toMatchObject({
      note: 'a "note"\nof two lines',
      html_url: expect.stringContaining('/p/'),
    })
    expect(pushes[0]?.logs.map(({ kind }) => kind)).toEqual(['creation'])
    expect(pushes.at(-1)?.logs.map(({ kind }) => kind)).toEqual(['creation', 'expire'])
    expect(pushes.find(({ url_token }) => url_token === made[60])?.logs).toHaveLength(5)
    expect(text).not.toContain('unspoken')
    expect(readdirSync(folder)).toEqual(['list.json'])
  })

  test.each([[], ['-']])('writes the same to standard output: %j', async (...words) => {
    const trial = signedIn()
    expect(await trial.run('export', ...words)).toBe(0)
    expect(JSON.parse(trial.out.join('')).pushes).toHaveLength(PUSHES)
    expect(trial.err).toEqual([`Exported ${PUSHES} pushes.`])
  })
})

describe('as CSV', () => {
  test.each([
    ['list.csv', []],
    ['list.txt', ['--format', 'csv']],
  ])('%s %j', async (name, flags) => {
    expect(await signedIn().run('export', at(name), ...flags)).toBe(0)
    const rows = readTable(readFileSync(at(name), 'utf8'))
    expect(rows.filter(({ row }) => row === 'push')).toHaveLength(PUSHES)
    expect(rows.every((row) => row.name?.startsWith("'=name"))).toBeTrue()
    const ofOne = rows.filter(({ url_token }) => url_token === made[60])
    expect(ofOne.map(({ row, entry_kind }) => `${row} ${entry_kind}`)).toEqual([
      'push ',
      'entry creation',
      ...Array.from({ length: 4 }, () => 'entry view'),
    ])
  })
})

describe('nothing is written', () => {
  test.each<[string, string[], RegExp]>([
    ['over a file', ['there.json'], /already exists/],
    ['over a folder', ['.'], /is a folder/],
    ['into a folder that is missing', ['no/list.json'], /does not exist/],
    ['in a format that is unknown', ['x.xml', '--format', 'xml'], /must be json or csv/],
    ['to two files', ['a.json', 'b.json'], /unexpected argument/],
  ])('%s', async (_, words, message) => {
    writeFileSync(at('there.json'), 'mine')
    const [name = '', ...rest] = words
    const trial = signedIn()
    expect(await trial.run('export', at(name), ...rest)).toBe(2)
    expect(trial.text()).toMatch(message)
    expect(readFileSync(at('there.json'), 'utf8')).toBe('mine')
    expect(readdirSync(folder)).toEqual(['there.json'])
  })

  test('not even a part if the server fails before the end', async () => {
    let asked = 0
    const url = fake(async (request) => {
      asked += 1
      if (asked > 20) return Response.json({ error: 'no' }, { status: 401 })
      return forward(request)
    })
    const trial = signedIn(url)
    expect(await trial.run('export', at('list.json'))).toBe(4)
    expect(readdirSync(folder)).toEqual([])
  })

  test('if another program takes the name meanwhile', async () => {
    const url = fake((request) => {
      if (!existsSync(at('list.json'))) writeFileSync(at('list.json'), 'mine')
      return forward(request)
    })
    const trial = signedIn(url)
    expect(await trial.run('export', at('list.json'))).toBe(1)
    expect(trial.text()).toContain('was created by another program meanwhile')
    expect([readFileSync(at('list.json'), 'utf8'), readdirSync(folder)]).toEqual(['mine', ['list.json']])
  })

  test('without a login', async () => {
    const trial = createTrial({ home: folder, env: { ONCEBOX_SERVER: server.url } })
    expect(await trial.run('export', at('list.json'))).toBe(4)
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('the export is complete', () => {
  test('while pushes are created and expire', async () => {
    const [, second = ''] = made.slice(51)
    let asked = 0
    const url = fake(async (request) => {
      asked += 1
      if (asked === 3) {
        await server.fetch(`/api/v2/pushes/${second}`, { method: 'DELETE', token })
        await server.fetch('/api/v2/pushes', { json: { push: { payload: 'x' } }, token })
      }
      return forward(request)
    })
    const trial = signedIn(url)
    expect(await trial.run('export')).toBe(0)
    const tokens = JSON.parse(trial.out.join('')).pushes.map(({ url_token }: Exported) => url_token)
    expect(new Set(tokens).size).toBe(tokens.length)
    expect(made.filter((urlToken) => !tokens.includes(urlToken))).toEqual([])
  })

  test('from a busy server, however often it throttles the client', async () => {
    let asked = 0
    const url = fake((request) => {
      asked += 1
      return asked <= 5
        ? Response.json({ error: 'busy' }, { status: 429, headers: { 'retry-after': '0' } })
        : forward(request)
    })
    const trial = signedIn(url)
    expect(await trial.run('export', at('list.json'))).toBe(0)
    expect(trial.err.filter((line) => line.includes('asks to wait')).length).toBeGreaterThan(0)
  }, 600_000)

  test('from a server that supports only page numbers', async () => {
    const url = fake((request) => forward(request, (asked) => asked.searchParams.delete('before')))
    const trial = signedIn(url)
    expect(await trial.run('export')).toBe(0)
    const tokens = JSON.parse(trial.out.join('')).pushes.map(({ url_token }: Exported) => url_token)
    expect(made.filter((urlToken) => !tokens.includes(urlToken))).toEqual([])
  })

  test('except for pushes and logs that are damaged on the server, which are reported', async () => {
    const url = fake((request) => {
      const isLog = request.url.includes(`${made[70]}/audit`)
      return isLog ? Response.json({ error: 'internal-error' }, { status: 500 }) : forward(request)
    })
    const trial = signedIn(url)
    expect(await trial.run('export', at('list.json'))).toBe(1)
    expect(trial.text()).toContain('missing: 0 pushes, and the logs of 1')
    const { pushes } = JSON.parse(readFileSync(at('list.json'), 'utf8')) as { pushes: Exported[] }
    expect(pushes.find(({ url_token }) => url_token === made[70])?.logs).toBeNull()
  })
})

function fake(answer: (request: Request) => Response | Promise<Response>): string {
  const opened = serveFake(answer)
  fakes.push(opened)
  return opened.url
}

function forward(request: Request, change: (url: URL) => void = () => undefined): Promise<Response> {
  const url = new URL(request.url)
  change(url)
  return fetch(`${server.url}${url.pathname}${url.search}`, { headers: { authorization: `Bearer ${token}` } })
}
