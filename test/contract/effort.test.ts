// The processor time of a request is linear in its bytes, and its memory less than ten times those: sends
// every header, parameter, field and body with hostile texts to every route (design: invariant 8). `npm run
// bench` measures the milliseconds.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as urls from '../../src/http/urls.ts'
import { type Api, startApi } from '../support/api.ts'
import { type Costing, findExcessiveCost } from '../support/cost.ts'
import {
  ALPHABETS,
  type Body,
  FORM_TYPE,
  HOSTILE_BODIES,
  hostileFields,
  hostileText,
  type MakeBody,
} from '../support/hostile.ts'
import type { Init } from '../support/instance.ts'
import { type Names, noteNames, PROBE } from '../support/noted-names.ts'
import { formsIn } from '../support/page-facts.ts'
import { createPeople, type People, type Person } from '../support/people.ts'

type Endpoint = urls.Endpoint

/** Every endpoint that urls.ts exports, once, at any depth. */
const ROUTES: readonly Endpoint[] = [
  ...new Map(endpointsIn(Object.values(urls)).map((url) => [nameOf(url), url])).values(),
]
const WITH_BODIES = ROUTES.filter(({ method }) => method === 'POST' || method === 'PATCH')

function endpointsIn(values: unknown[]): Endpoint[] {
  return values.flatMap((value) => {
    if (typeof value !== 'object' || value === null || value instanceof Set) return []
    return 'method' in value && 'path' in value ? [value as Endpoint] : endpointsIn(Object.values(value))
  })
}

function nameOf({ method, path }: Endpoint): string {
  return `${method} ${path}`
}

const HERE = '127.0.0.1'
const MINUTE = 60_000
/** The server refuses more than 16 KiB of method, path, query and headers together. */
const HEAD_BYTES = 15_000
const SMALL_FORM_BYTES = 60_000
const LARGE_BYTES = 6_300_000
/** Large enough to reveal superlinear time. */
const MIDDLE_BYTES = 250_000

let api: Api
let people: People
let token: string
let ann: Person
/** A push of Ann's, and a grant for its file. */
let urlToken: string
let grant: string
let noted: Map<Endpoint, Names>

beforeAll(async () => {
  api = await startApi({ flags: { 'trusted-proxy': HERE } })
  people = createPeople(api)
  token = await api.addAccount('ann@example.org', { isAdmin: true })
  await renew()
  noted = new Map()
  for (const url of ROUTES) {
    await renew()
    const base = await baseOf(url)
    noted.set(url, await noteNames(() => ask(url, base)))
  }
})
afterAll(() => api.close())

/** Signs in again, and makes a new push. */
async function renew(): Promise<void> {
  ann = await people.signIn('ann@example.org', { from: HERE })
  const files = [{ filename: 'a.txt', data: 'YQ==' }]
  urlToken = (await api.create({ files, expire_after_views: 100 }, { token, from: HERE })).url_token
  const { body } = await api.retrieve(urlToken, { token, from: HERE })
  grant = String((body.files as { url: string }[])[0]?.url.split('/').at(-1))
}

type Asked = Init & { path?: string; query?: string }

async function ask(url: Endpoint, { path, query = '', ...init }: Asked): Promise<Response> {
  const isApi = url.guard === 'account' || url.guard === 'visitor'
  const own = { cookie: ann.cookie, ...(isApi ? { authorization: `Bearer ${token}` } : {}) }
  const response = await api.fetch(`${path ?? pathOf(url)}${query}`, {
    ...{ method: url.method, redirect: 'manual', from: HERE, ...init },
    headers: { origin: 'http://localhost', ...own, ...init.headers },
  })
  await response.arrayBuffer()
  return response
}

function pathOf({ path }: Endpoint): string {
  return path
    .replace(':locale', 'en')
    .replace(':id', '7')
    .replace(':url_token', urlToken)
    .replace(':grant', grant)
    .replace(/:\w+/, 'x')
}

describe('a header of a request', () => {
  const HEADERS_WITH_START: Readonly<Record<string, readonly string[]>> = {
    authorization: ['', 'Bearer ', 'Basic ', 'Token token='],
    cookie: ['', 'oncebox_session=', 'oncebox_language='],
    range: ['', 'bytes='],
    'if-range': ['', '"'],
    referer: ['', 'http://', 'https://['],
    origin: ['', 'http://', 'https://['],
    host: ['', '['],
    'x-forwarded-host': ['', '['],
    'content-type': ['', 'multipart/form-data; boundary=', 'application/json;'],
  }
  const canBeHeader = (text: string) => !/[\r\n]/.test(text) && text.isWellFormed()
  const asBytes = (text: string) => Buffer.from(text).toString('latin1')

  function* headCosts(url: Endpoint, { headers, parameters }: Omit<Names, 'fields'>): Generator<Costing> {
    const costOf = (what: string, asking: (bytes: number) => Asked): Costing => {
      const prepare = (bytes: number) => {
        const asked = asking(bytes)
        return () => ask(url, asked)
      }
      return { name: `${nameOf(url)}, ${what}`, bytes: HEAD_BYTES, prepare }
    }
    for (const [alphabet, unit] of Object.entries(ALPHABETS)) {
      const escaped = encodeURIComponent(unit.toWellFormed())
      for (const header of canBeHeader(unit) ? headers : [])
        for (const start of HEADERS_WITH_START[header] ?? [''])
          yield costOf(`header ${header}: ${start}${alphabet}`, (bytes) => ({
            headers: { [header]: start + asBytes(hostileText(unit, bytes)) },
          }))
      for (const parameter of parameters)
        yield costOf(`parameter ${parameter}: ${alphabet}`, (bytes) => ({
          query: `?${parameter}=${hostileText(escaped, bytes)}`,
        }))
      if (url.path.includes(':'))
        yield costOf(`path: ${alphabet}`, (bytes) => ({
          path: url.path.replace(/:\w+/, hostileText(escaped, bytes)).replace(/:\w+/, 'x'),
        }))
    }
  }

  /** Returns the names that most routes read, at the door or for every page. */
  function ofMost(kind: 'headers' | 'parameters'): ReadonlySet<string> {
    const all = [...noted.values()].flatMap((names) => [...names[kind]])
    return new Set(all.filter((name) => all.filter((one) => one === name).length > ROUTES.length / 3))
  }

  test('that most routes read takes linear time', async () => {
    const common = { headers: ofMost('headers'), parameters: ofMost('parameters') }
    expect([...common.headers]).toEqual(
      expect.arrayContaining(['host', 'origin', 'cookie', 'x-forwarded-for']),
    )
    for (const url of [urls.API.retrieve, urls.PAGES.receive, urls.PAGES.pushes, urls.FILES.download])
      expect(await problemsOf(headCosts(url, common))).toEqual([])
  })

  test('that only some routes read takes linear time', async () => {
    const [headers, parameters] = [ofMost('headers'), ofMost('parameters')]
    const all = [...noted.values()].flatMap((names) => [...names.headers, ...names.parameters])
    expect(all).toEqual(expect.arrayContaining(['range', 'x-push-passphrase', 'idempotency-key', 'q']))
    for (const [url, names] of noted) {
      const own = {
        headers: names.headers.difference(headers),
        parameters: names.parameters.difference(parameters),
      }
      expect(await problemsOf(headCosts(url, own))).toEqual([])
    }
  })
})

async function problemsOf(costs: Iterable<Costing>): Promise<string[]> {
  const problems: string[] = []
  for (const cost of costs) {
    const problem = await findExcessiveCost(cost)
    if (problem !== null) problems.push(problem)
  }
  return problems
}

/**
 * Returns the form that the page of this route would send, with a probe field; if no page shows one, only
 * that field.
 */
async function baseOf(url: Endpoint): Promise<Asked> {
  if (url.method !== 'POST') return { headers: { range: 'bytes=0-0' } }
  return formBody(await fieldsOf(url))
}

async function fieldsOf(url: Endpoint): Promise<Record<string, string>> {
  const known = { form: ann.form, password: people.password, [PROBE]: '' }
  const shown: Record<string, string> = {}
  const page = await api.fetch(pathOf(url).replace(/\/(expire|save|code)$/, ''), {
    headers: { cookie: ann.cookie },
    ...{ redirect: 'manual', from: HERE },
  })
  for (const { action, controls } of formsIn(await page.text()))
    if (action === pathOf(url)) for (const { name, value } of controls) shown[name] = value
  return { ...shown, ...known }
}

function formBody(fields: Record<string, string>): Asked {
  return { headers: { 'content-type': FORM_TYPE }, body: new URLSearchParams(fields).toString() }
}

const isSmallForm = async (url: Endpoint) =>
  (await ask(url, formBody({ x: 'x'.repeat(SMALL_FORM_BYTES * 2) }))).status === 413

describe('the fields of a small form', () => {
  function* formCosts(url: Endpoint, names: Iterable<string>, base: Record<string, string>) {
    for (const [alphabet, unit] of Object.entries(ALPHABETS))
      for (const name of names) {
        const prepare = (bytes: number) => {
          const { [name]: _, ...others } = base
          const fields = new URLSearchParams(others).toString()
          const body = `${fields}&${name}=${hostileText(unit, bytes - fields.length)}`
          // Tries of passwords are counted for a quarter of an hour.
          api.clock.advance(16 * MINUTE)
          return () => ask(url, { headers: { 'content-type': FORM_TYPE }, body })
        }
        yield { name: `${nameOf(url)}, field ${name}: ${alphabet}`, bytes: SMALL_FORM_BYTES, prepare }
      }
  }

  test('take linear time', async () => {
    const seen = new Set<string>()
    for (const url of WITH_BODIES) {
      await renew()
      if (!(await isSmallForm(url))) continue
      const names = noted.get(url)?.fields.difference(new Set([PROBE])) ?? []
      for (const name of names) seen.add(name)
      expect(await problemsOf(formCosts(url, ['x', ...names], await fieldsOf(url)))).toEqual([])
    }
    expect([...seen]).toEqual(
      expect.arrayContaining(['email', 'password', 'passphrase', 'name', 'note', 'code']),
    )
  })
})

describe('a large body', () => {
  /**
   * Returns the field names of the API and of the form. All of them get hostile values at once, for each kind
   * of push in turn.
   */
  async function namesOfFields(): Promise<string[]> {
    const page = await api.fetch('/', { headers: { cookie: ann.cookie }, from: HERE })
    const shown = formsIn(await page.text()).flatMap(({ controls }) => controls.map(({ name }) => name))
    const names = shown.flatMap((name) => /^push\[(\w+)\]$/.exec(name)?.[1] ?? [])
    return [...new Set([...names, ...MORE_FIELDS])].filter((name) => !UNTOUCHED.has(name))
  }

  async function largeRoutes(): Promise<Endpoint[]> {
    const large: Endpoint[] = []
    for (const url of WITH_BODIES) if (!(await isSmallForm(url))) large.push(url)
    return large
  }

  /**
   * Yields each body for one route only, a different route per `turn`: making a body takes longer than
   * sending it, and routes share their parsers.
   */
  function* bodyCosts(routes: readonly Endpoint[], bodies: Readonly<Record<string, MakeBody>>, turn = 0) {
    for (const [at, [what, make]] of Object.entries(bodies).entries()) {
      const made = new Map<number, Body>()
      for (const [n, url] of routes.entries()) {
        const prepare = (bytes: number) => {
          const { type, body } = made.get(bytes) ?? make(bytes)
          made.set(bytes, { type, body })
          return () => ask(url, { headers: type === '' ? {} : { 'content-type': type }, body })
        }
        const isLargest = (turn + at + n) % routes.length === 0
        yield { name: `${nameOf(url)}, ${what}`, bytes: isLargest ? LARGE_BYTES : MIDDLE_BYTES, prepare }
      }
    }
  }

  test('in a hostile form takes linear time', async () => {
    await renew()
    expect(await problemsOf(bodyCosts(await largeRoutes(), HOSTILE_BODIES))).toEqual([])
  })

  /** Each kind of push, with a prefix that makes its text pass the first checks of its parser. */
  const KINDS = Object.entries({ text: 'WIFI:S:', file: '', qr: 'WIFI:S:', wifi: '', other: '' })

  test('with hostile fields takes linear time', async () => {
    await renew()
    const [routes, names] = [await largeRoutes(), await namesOfFields()]
    expect(names).toEqual(expect.arrayContaining(['payload', 'note', 'link', 'wifi_network', 'files']))
    for (const [n, [alphabet, unit]] of Object.entries(ALPHABETS).entries()) {
      const [kind, start] = KINDS[n % KINDS.length] ?? ['text', '']
      const [url, other] = [
        hostileFields({ names, unit, start: 'http://', others: { kind: 'url' } }),
        hostileFields({ names, unit, start, others: { kind } }),
      ]
      const bodies = { 'form of a url': url.form, [`JSON of ${kind}`]: other.JSON, [kind]: other.multipart }
      const problems = await problemsOf(bodyCosts(routes, bodies, n))
      expect({ alphabet, problems }).toEqual({ alphabet, problems: [] })
    }
  })
})

/** Members of the API that the form does not have. */
const MORE_FIELDS = ['files', 'expire_after_days', 'notify_emails_to', 'notify_emails_to_locale', 'x']
/** Fields that refuse a form before its other fields are read, or that decide which fields it has. */
const UNTOUCHED: ReadonlySet<string> = new Set([...['form', 'opened_by', 'idempotency_key', 'kind']])

describe('stored data', () => {
  const PUSHES = 30

  test.each([
    ['text', '', 1_000_000],
    ['qr', 'WIFI:S:', 1000],
    ['url', 'http://a/', 1_000_000],
  ])('of a %s takes linear time to open', async (kind, start, most) => {
    await renew()
    function* costs(): Generator<Costing> {
      for (const [alphabet, unit] of Object.entries(ALPHABETS)) {
        const bytes = Math.min(most, (most / unit.length) * Buffer.byteLength(unit))
        const prepare = async (bytes: number) => {
          const payload = start + hostileText(unit, bytes - 100)
          const { status, body } = await api.post({ kind, payload }, { from: HERE })
          return () => (status === 201 ? open(body.url_token) : Promise.resolve())
        }
        yield { name: `${kind} of ${alphabet}`, bytes, prepare }
      }
    }
    expect(await problemsOf(costs())).toEqual([])
  })

  async function open(created: string): Promise<void> {
    await api.retrieve(created, { from: HERE })
    await people.get(`/p/${created}/preview`, { from: HERE })
    const [form] = formsIn((await people.get(`/p/${created}/r`, { from: HERE })).text)
    const nonce = form?.controls.find(({ name }) => name === 'nonce')?.value ?? ''
    const { status } = await people.post(`/p/${created}/r`, { nonce }, { from: HERE })
    expect(status).toBe(200)
  }

  test('in names and notes takes linear time to list, search and export', async () => {
    function* costs(): Generator<Costing> {
      for (const [alphabet, unit] of Object.entries(ALPHABETS)) {
        const bytes = Math.floor(9_000 / unit.length) * Buffer.byteLength(unit)
        const prepare = async (bytes: number) => {
          const owner = await ownerOf({ name: hostileText(unit, 250), note: hostileText(unit, bytes) })
          return async () => {
            for (const path of ['/pushes', '/pushes?q=word', '/account/list.csv', '/account/list.json'])
              expect((await owner.get(path, { from: HERE })).status).toBe(200)
          }
        }
        yield { name: `notes of ${alphabet}`, bytes: PUSHES * bytes, prepare: (all) => prepare(all / PUSHES) }
      }
    }
    expect(await problemsOf(costs())).toEqual([])
  })

  const newEmail = (
    (n) => () =>
      `owner${++n}@example.org`
  )(0)
  async function ownerOf(labels: { name: string; note: string }): Promise<Person> {
    const email = newEmail()
    const token = await api.addAccount(email)
    const name = labels.name.toWellFormed().slice(0, 200).toWellFormed()
    const note = labels.note.toWellFormed()
    for (let n = 0; n < PUSHES; n += 1) await api.create({ name, note }, { token, from: HERE })
    return people.signIn(email, { from: HERE })
  }
})
