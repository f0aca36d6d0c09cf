// Sends the same random calls of the API to a server on SQLite and to either of two nodes on PostgreSQL, and
// compares statuses, headers and answers, except for random values.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { openTestBucket, type TestBucket } from '../support/bucket.ts'
import { type Init, startInstance, type TestInstance } from '../support/instance.ts'
import { needs } from '../support/needs.ts'
import { startTestPostgres, type TestDatabase, type TestPostgres } from '../support/postgres.ts'
import { makeNodeFolder } from '../support/postgres-store.ts'

const START_MS = 120_000
/**
 * A seed with which no push gets five wrong passphrases: the clock stands still with SQLite, and continues on
 * PostgreSQL.
 */
const SEED = 17
const STEPS = 250

/**
 * One engine, with the results of its answers: tokens of pushes in the order of the calls ('' if there is
 * none), and downloads.
 */
type World = { nodes: TestInstance[]; auth: Record<string, string>; urlTokens: string[]; downloads: string[] }
type Call = { path(world: World): string; init(world: World): Init; makesPush?: boolean }

needs('postgres').describe('SQLite and PostgreSQL', () => {
  let postgres: TestPostgres
  let database: TestDatabase
  let bucket: TestBucket
  const folders = [makeNodeFolder(), makeNodeFolder()]
  const worlds: World[] = []
  beforeAll(async () => {
    postgres = await startTestPostgres()
    database = await postgres.newDatabase()
    bucket = await openTestBucket()
    const { accessKeyId, secretAccessKey } = bucket.credentials
    const env = { ONCEBOX_S3_ACCESS_KEY_ID: accessKeyId, ONCEBOX_S3_SECRET_ACCESS_KEY: secretAccessKey }
    const flags = {
      'key-file': join(folders[0]?.dataDir ?? '', '..', 'instance.key'),
      'database-url': `${database.address}?sslmode=disable`,
      'files-url': bucket.url,
    }
    const nodes: TestInstance[] = []
    for (const { dataDir } of folders) nodes.push(await startInstance({ flags, env, dataDir }))
    for (const instances of [[await startInstance()], nodes]) {
      const auth: Record<string, string> = {}
      for (const who of ['ann', 'bob'])
        auth[who] = `Bearer ${await instances[0]?.addAccount(`${who}@example.org`)}`
      worlds.push({ nodes: instances, auth, urlTokens: [], downloads: [] })
    }
  }, START_MS)
  afterAll(async () => {
    for (const node of worlds.flatMap(({ nodes }) => nodes)) await node.close()
    await database?.close()
    await bucket?.close()
    await postgres?.stop()
    for (const { remove } of folders) remove()
  })

  test(
    'give the same answers to the same calls',
    async () => {
      const draw = numbersFrom(SEED)
      for (let step = 0; step < STEPS; step += 1) {
        const call = drawCall(draw)
        const node = Math.floor(draw() * 2)
        const [one, other] = await Promise.all(worlds.map((world) => ask(world, call, node)))
        const [first] = worlds
        if (first === undefined) throw new Error('there are two worlds')
        const what = `${step}: ${call.init(first).method ?? 'GET'} ${call.path(first)}`
        expect({ what, ...other }).toEqual({ what, ...one })
      }
    },
    START_MS,
  )
})

/** Seeded pseudo-random numbers for tests; not for secrets. */
function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

type Draw = () => number

function one<T>(draw: Draw, from: readonly [T, ...T[]]): T {
  return from[Math.floor(draw() * from.length)] ?? from[0]
}

const VALUES = {
  payload: ['s3cret', 'a\nb\u0001', '👩‍👩‍👧 שלום', '', '  ', 'https://example.org/?a', 7, null, 'x\u0000y'],
  kind: [undefined, undefined, undefined, 'text', 'url', 'qr', 'file', 'other'],
  expire_after_views: [undefined, 1, 1, 2, 3, 0, 101, '2', 'two', 1e30],
  expire_after_days: [undefined, undefined, 1, 90, 91, -1, '7', 1.5],
  expire_after_duration: [undefined, undefined, undefined, 0, 17, 18],
  passphrase: [undefined, undefined, undefined, 'sésame', 'p'.repeat(1025)],
  name: [undefined, 'router', 'İstanbul', '%_\\', '\u0000', 'n'.repeat(256), '\ud83d'],
  note: [undefined, undefined, "'; DROP TABLE pushes;--", 'n'.repeat(10_001)],
  deletable_by_viewer: [undefined, true, 'off', 'perhaps'],
  files: [undefined, undefined, undefined, [], [{ filename: 'ü".html', data: 'aGVsbG8=' }], [{ data: '%' }]],
} as const

/** Draw mostly valid values, which come first in the list. */
function drawFields(draw: Draw): Record<string, unknown> {
  const isFine = draw() < 0.5
  const fields = Object.entries(VALUES).map(([name, values]) => {
    const most = isFine ? Math.min(2, values.length) : values.length
    return [name, values[Math.floor(draw() * most)]] as const
  })
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined))
}

function drawCall(draw: Draw): Call {
  const who = one(draw, ['ann', 'ann', 'bob', 'nobody'])
  const from = one(draw, ['192.0.2.1', '2001:db8::1'])
  const back = Math.floor(draw() * 8)
  const urlToken = ({ urlTokens }: World) => {
    const known = urlTokens.filter((token) => token !== '')
    return known.at(-1 - back) ?? '0'.repeat(26)
  }
  const passphrase = one(draw, [null, null, 'sésame', 'wrong'])
  const headersOf = ({ auth }: World) => ({
    ...(auth[who] === undefined ? {} : { authorization: auth[who] }),
    ...(passphrase === null ? {} : { 'x-push-passphrase': encodeURIComponent(passphrase) }),
  })
  const page = one(draw, ['', '?page=1', '?page=2', '?page=0', '?page=x'])
  const fields = drawFields(draw)
  const part = one(draw, ['bytes=0-1', 'bytes=9-', 'bytes=-2'])
  const call = (method: string, path: Call['path'], more: Init = {}): Call => ({
    path,
    init: (world) => ({ method, from, headers: headersOf(world), ...more }),
  })
  const at = (suffix: string) => (world: World) => `/api/v2/pushes/${urlToken(world)}${suffix}`
  const create = { ...call('POST', () => '/api/v2/pushes', { json: { push: fields } }), makesPush: true }
  const download: Call = {
    path: ({ downloads }) => downloads.at(-1) ?? '/d/none',
    init: () => ({ from, headers: { range: part } }),
  }
  return one(draw, [
    create,
    create,
    create,
    call('GET', at('')),
    call('GET', at('')),
    call('GET', (world) => `/p/${urlToken(world)}.json`),
    call('HEAD', at('')),
    call('GET', at('/preview')),
    call('GET', at(`/audit${page}`)),
    call('DELETE', at('')),
    call('PATCH', at(''), { json: { push: fields } }),
    call('GET', () => `/api/v2/pushes/active${page}`),
    call('GET', () => `/api/v2/pushes/expired${page}`),
    download,
  ])
}

const COMPARED = [
  'content-type',
  'cache-control',
  'content-disposition',
  'content-range',
  'allow',
  'x-file-size',
]

async function ask(world: World, { path, init, makesPush = false }: Call, node: number) {
  const instance = world.nodes[node % world.nodes.length]
  if (instance === undefined) throw new Error('a world has a node')
  let answer = await instance.fetch(path(world), init(world))
  // The server was busy, and stored and counted nothing.
  while (answer.status === 503) {
    await Bun.sleep(50)
    answer = await instance.fetch(path(world), init(world))
  }
  const text = await answer.text()
  if (makesPush) world.urlTokens.push(/"url_token":"(\w+)"/.exec(text)?.[1] ?? '')
  const download = /(\/d\/[^"]+)"/.exec(text)?.[1]
  if (download !== undefined) world.downloads.push(download)
  const headers = COMPARED.map((name) => `${name}: ${answer.headers.get(name)}`)
  return { status: answer.status, headers, text: withoutChance(world, text) }
}

function withoutChance({ urlTokens }: World, text: string): string {
  const named = urlTokens.reduce(
    (left, urlToken, n) => (urlToken === '' ? left : left.replaceAll(urlToken, `<${n}>`)),
    text,
  )
  return named.replace(/\/d\/[^"]+/g, '/d/…').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
}
