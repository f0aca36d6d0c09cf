// Thousands of random requests: no 5xx, no answer outside of the reference, no stack trace, no growth. The
// seed is printed; FUZZ_SEED and FUZZ_RUNS repeat or lengthen a run.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { type Api, PUSHES, startApi } from '../support/api.ts'
import type { Reference } from '../support/reference-check.ts'
import { drawRequests } from './requests.ts'

const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)
/** Hundreds for each method and path of the reference; every run draws others. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 10_000)
const MIB = 1024 * 1024
const TRACE = /\bat .+:\d+:\d+\)?|node_modules|\.tsx?:\d+|SQLITE_|TypeError|bunfs/

let api: Api
let token: string

beforeAll(async () => {
  console.log(`FUZZ_SEED=${SEED} FUZZ_RUNS=${RUNS}`)
  api = await startApi()
  token = await api.addAccount('ann@example.org')
})
afterAll(() => api.close())

test('every answer to a random request matches the reference', async () => {
  const reference: Reference = await (await api.fetch('/api/v2/openapi.json', { from: '127.0.0.1' })).json()
  const push = async (fields: object) =>
    (await api.create({ expire_after_views: 100, ...fields }, { token })).url_token
  const another = await api.create({}, { token: await api.addAccount('bob@example.org') })
  const urlTokens = [
    another.url_token,
    await push({}),
    await push({ passphrase: 'right' }),
    await push({ kind: 'url', payload: 'https://a.b/' }),
    await push({ files: [{ filename: 'a', data: 'eA==' }] }),
  ]
  const requests = fc.sample(drawRequests(reference, { urlTokens, apiTokens: [token] }), {
    seed: SEED,
    numRuns: RUNS,
  })
  const statuses = new Map<number, number>()
  let settled = 0
  for (const [n, drawn] of requests.entries()) {
    const { method, path, headers, body } = drawn
    const init = { method, headers, from: '127.0.0.1', ...(body === undefined ? {} : { body }) }
    const { status, text } = await api.call(path, init).catch((cause) => {
      throw new Error(
        `${JSON.stringify({ ...drawn, body: body && Buffer.from(body).toString('latin1') })}: ${cause.message}`,
      )
    })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status >= 500) throw new Error(`${method} ${path} answered ${status} ${text}`)
    if (TRACE.test(text)) throw new Error(`${method} ${path} tells too much: ${text}`)
    if (n === Math.floor(RUNS / 4)) {
      Bun.gc(true)
      settled = process.memoryUsage.rss()
    }
  }
  Bun.gc(true)
  const growth = (process.memoryUsage.rss() - settled) / MIB
  console.log(
    `${[...statuses]
      .sort((a, b) => a[0] - b[0])
      .map(([status, n]) => `${status}: ${n}`)
      .join(', ')}; memory +${growth.toFixed(0)} MiB`,
  )
  // Every kind of outcome must occur, so that the fuzzing is meaningful.
  for (const status of [200, 201, 400, 401, 403, 404, 405, 415, 421, 422])
    expect({ status, n: statuses.get(status) ?? 0 }).not.toEqual({ status, n: 0 })
  expect(growth).toBeLessThan(150)
  expect(api.log.filter((line) => line.includes('a request failed'))).toEqual([])
}, 600_000)

test('pages answer random forms without a 5xx', async () => {
  const paths = [
    '/',
    '/sign-in',
    '/sign-in/code',
    '/sign-up',
    '/welcome/x',
    '/account',
    '/account/password',
    '/users/token',
    '/users/token/revoke',
    '/admin',
    '/admin/accounts/1/remove',
    '/pushes',
    '/pushes/x',
    '/pushes/x/audit.csv',
    '/p/x',
    '/p/0123456789abcdefghjkmnpqrs',
    '/p/0123456789abcdefghjkmnpqrs/r',
    '/p/0123456789abcdefghjkmnpqrs/expire',
    '/d/x',
    '/assets/x',
    '/up',
    '/api',
  ]
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc.constantFrom('', '1', 'a@b', '//x', 'true'),
  )
  const drawn = fc.record({
    path: fc.constantFrom(...paths),
    query: fc.dictionary(
      fc.constantFrom(
        ...['lang', 'next', 'page', 'q', 'show', 'done'],
        ...['kind', 'name', 'expire_after_days', 'expire_after_views', 'expire_after_duration'],
      ),
      text,
      { maxKeys: 3 },
    ),
    method: fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE'),
    fields: fc.dictionary(
      fc.constantFrom(
        'email',
        'password',
        'next',
        'pending',
        'code',
        'nonce',
        'form',
        'id',
        'push[payload]',
        'push[kind]',
        'push[expire_after]',
        'push[expire_unit]',
        ...['push[link]', 'push[qr]', 'push[wifi_network]', 'push[wifi_type]'],
        ...['push[views]', 'push[expire_after_views]', 'push[expire_after_duration]', 'push[retrieval_step]'],
      ),
      text,
      { maxKeys: 6 },
    ),
    cookie: fc.oneof(
      fc.constant(''),
      text.map(
        (value) =>
          `oncebox_session=${encodeURIComponent(value.toWellFormed())}; oncebox_language=${encodeURIComponent(value.toWellFormed())}`,
      ),
    ),
  })
  for (const { path, query, method, fields, cookie } of fc.sample(drawn, {
    seed: SEED,
    numRuns: Math.ceil(RUNS / 10),
  })) {
    const encode = (values: Record<string, string>) =>
      new URLSearchParams(Object.entries(values).map(([k, v]) => [k, v.toWellFormed()])).toString()
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      origin: 'http://localhost',
      cookie,
    }
    const init = {
      method,
      headers,
      from: '127.0.0.1',
      ...(method === 'POST' ? { body: encode(fields) } : {}),
    }
    const response = await api.fetch(`${path}?${encode(query)}`, init)
    const answer = await response.text()
    if (response.status >= 500)
      throw new Error(`${method} ${path} ${JSON.stringify({ query, fields })} answered ${response.status}`)
    expect(answer).not.toMatch(TRACE)
  }
}, 600_000)

test('a sealed file that was altered at any byte is never served as complete', async () => {
  const content = Buffer.from(Array.from({ length: 700_000 }, (_, n) => (n * 31 + (n >> 9)) & 255))
  const folder = join(api.dataDir, 'files')
  const listFiles = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  const before = new Set(listFiles())
  const { url_token } = await api.create(
    { files: [{ filename: 'a.bin', data: content.toString('base64') }], expire_after_views: 2 },
    { token },
  )
  const [path = ''] = listFiles().filter((name) => !before.has(name))
  const sealed = readFileSync(path)
  const { files } = JSON.parse(await (await api.fetch(`${PUSHES}/${url_token}`)).text())
  const download = async (): Promise<Buffer | null> => {
    const response = await api.fetch(new URL(files[0].url).pathname)
    if (response.status !== 200) return null
    return Buffer.from(await response.arrayBuffer().catch(() => new ArrayBuffer(0)))
  }
  expect((await download())?.equals(content)).toBe(true)
  const changes = fc.oneof(
    fc.record({ at: fc.nat({ max: sealed.length - 1 }), by: fc.integer({ min: 1, max: 255 }) }),
    fc.record({ length: fc.nat({ max: sealed.length - 1 }) }),
    fc.record({ more: fc.uint8Array({ minLength: 1, maxLength: 40 }) }),
    fc.record({
      from: fc.nat({ max: sealed.length - 300_000 }),
      to: fc.nat({ max: sealed.length - 300_000 }),
    }),
  )
  for (const change of fc.sample(changes, { seed: SEED, numRuns: 150 })) {
    const altered = Buffer.from(sealed)
    let bytes: Uint8Array = altered
    if ('at' in change) altered[change.at] = (altered[change.at] ?? 0) ^ change.by
    else if ('length' in change) bytes = altered.subarray(0, change.length)
    else if ('more' in change) bytes = Buffer.concat([altered, change.more])
    else altered.copyWithin(change.to, change.from, change.from + 300_000)
    if (Buffer.from(bytes).equals(sealed)) continue
    writeFileSync(path, bytes)
    const got = await download()
    // Authenticated segments may have been sent, but nothing else, and never the whole file.
    expect({ change, isWhole: got?.length === content.length }).toEqual({ change, isWhole: false })
    if (got !== null) expect(content.subarray(0, got.length).equals(got)).toBe(true)
  }
  writeFileSync(path, sealed)
  expect((await download())?.equals(content)).toBe(true)
}, 600_000)
