// Requests every endpoint of the URL map in four roles, and counts the rows that each request leaves.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { API, type Endpoint, FILES, PAGES, PREVIOUS_API, PREVIOUS_FAMILIES } from '../../src/http/urls.ts'
import { type Api, PUSHES } from './api.ts'
import type { Init } from './instance.ts'
import { formsIn } from './page-facts.ts'
import { createPeople } from './people.ts'

/** A guesser knows the links of pushes and requests with a passphrase, and sends wrong passphrases. */
export const ROLES = ['stranger', 'recipient', 'guesser', 'owner'] as const
export type Role = (typeof ROLES)[number]

const MAPS = [API, ...Object.values(PREVIOUS_FAMILIES), PREVIOUS_API, FILES, PAGES]
/** All endpoints except redirects. */
export const ENDPOINTS: readonly Endpoint[] = MAPS.flatMap((map) => Object.values<Endpoint>(map))

const PASSPHRASE = 'sesame'
const NOWHERE = '0123456789abcdefghjkmnpqrs'
/** More views than the requests to one endpoint use. */
const VIEWS = 100

/** The fields of all forms; each page reads its own. */
const fieldsFor = (n: number) => ({
  'push[kind]': 'text',
  'push[payload]': 'x',
  email: `new${n}@example.org`,
  is_admin: 'true',
  name: `name ${n}`,
  note: `note ${n}`,
  views: String(VIEWS),
  message: `{link} ${n}`,
  contact: `contact ${n}`,
  notice: `notice ${n}`,
  url: 'https://hooks.example.org/x',
  current: 'wrong',
  id: '999',
})

/** Returns a body for the API, by the end of the path. */
function jsonFor(path: string, n: number) {
  if (path.endsWith('notify_emails')) return { push: { notify_emails_to: 'bob@example.org' } }
  if (path.endsWith('/answers')) return { push: { payload: 'x' } }
  if (path.endsWith('/requests')) return { request: { name: `request ${n}` } }
  if (path.endsWith('/webhooks')) return { webhook: { url: 'https://hooks.example.org/x' } }
  const payload = path === '/r.json' ? 'https://example.org' : 'x'
  return { push: path.endsWith('.json') || path === PUSHES ? { payload } : { name: `name ${n}` } }
}

export type EveryRequest = Awaited<ReturnType<typeof prepareEveryRequest>>

/** Creates everything that the roles need, while there is free space. */
export async function prepareEveryRequest(api: Api) {
  const token = await api.addAccount('ann@example.org', { isAdmin: true })
  await api.addAccount('bob@example.org')
  const pushes = { owned: [] as string[], guarded: [] as string[] }
  const requests = { owned: [] as string[], guarded: [] as string[] }
  for (let n = 0; n < 200; n += 1) {
    const push = { expire_after_views: VIEWS, deletable_by_viewer: true }
    pushes.owned.push((await api.create(push, { token })).url_token)
    pushes.guarded.push((await api.create({ ...push, passphrase: PASSPHRASE }, { token })).url_token)
  }
  const ask = async (more: object) => {
    const json = { request: { max_answers: 100, ...more } }
    return String((await api.call(API.createRequest.path, { token, json })).body.url_token)
  }
  for (let n = 0; n < 50; n += 1) {
    requests.owned.push(await ask({}))
    requests.guarded.push(await ask({ passphrase: PASSPHRASE }))
  }
  const webhook = { url: 'https://hooks.example.org/x' }
  await api.call(API.addWebhook.path, { token, json: { webhook } })
  return { token, pushes, requests }
}

type Hammering = { endpoint: Endpoint; role: Role; times: number }

/** Requests one endpoint `times` in one role. Returns the number of rows by which each table grew. */
export async function hammer(api: Api, prepared: EveryRequest, { endpoint, role, times }: Hammering) {
  const { token } = prepared
  const people = createPeople(api)
  const isSignedIn = role === 'owner' && !isApi(endpoint)
  const as = isSignedIn ? await people.signIn('ann@example.org', { from: '127.0.0.1' }) : people
  const path = pathFor(endpoint, role, prepared)
  // A recipient may delete what they have opened.
  const opened = endpoint === PAGES.expire ? await openFirst() : {}
  const before = countRows(api)
  for (let n = 0; n < times; n += 1) await (isApi(endpoint) ? askApi(n) : askPage(n))
  return growth(before, countRows(api))

  async function askApi(n: number) {
    const { method } = endpoint
    const body = method === 'GET' || method === 'DELETE' ? {} : { json: jsonFor(path, n) }
    const headers = role === 'guesser' ? { 'x-push-passphrase': 'wrong' } : {}
    const from = addressOf(role, n)
    const init: Init = { method, from, headers, ...body, ...(role === 'owner' ? { token } : {}) }
    await (await api.fetch(path, init)).arrayBuffer()
  }

  /** Behaves like a browser: gets the page, and sends its form with every field filled in. */
  async function askPage(n: number) {
    const from = addressOf(role, n)
    if (endpoint.method === 'GET') return void (await as.get(path, { from }))
    const { action, kept, preset } = formFor(path, (await as.get(pageOf(path), { from })).text)
    const secret = role === 'guesser' ? 'wrong' : PASSPHRASE
    const typed = { ...fieldsFor(n), passphrase: secret, ...signInFor(path, role) }
    await as.post(action, { ...preset, ...typed, ...opened, ...kept }, { from })
  }

  async function openFirst() {
    const step = path.replace(/expire$/, 'r')
    const { action, kept } = formFor(step, (await as.get(step)).text)
    const shown = await as.post(action, { ...kept, passphrase: PASSPHRASE })
    return formFor(path, shown.text).kept
  }
}

function isApi({ path }: Endpoint): boolean {
  return path.startsWith('/api/') || path.endsWith('.json')
}

/** Fills a path with an unused push or request; a stranger only guesses links. */
function pathFor({ path }: Endpoint, role: Role, { pushes, requests }: EveryRequest): string {
  const some = /^\/(q|requests|api\/oncebox)\//.test(path) ? requests : pushes
  const urlToken = () =>
    role === 'stranger' ? NOWHERE : (some[role === 'guesser' ? 'guarded' : 'owned'].pop() ?? '')
  return path
    .replace(':url_token', urlToken)
    .replace(':locale', 'en')
    .replace(':id', path.includes('/accounts/') ? '2' : '999')
    .replace(/:\w+/, 'x')
}

/** Returns the address of a role. Each stranger has another one. */
function addressOf(role: Role, n: number): string {
  return role === 'stranger' ? `198.51.100.${n}` : role === 'owner' ? '203.0.113.8' : '203.0.113.9'
}

/**
 * Returns credentials: those of unknown accounts for a stranger, the right ones for the owner, a wrong
 * password for others.
 */
function signInFor(path: string, role: Role) {
  if (role === 'owner' && path === '/sign-in')
    return { email: 'ann@example.org', password: 'correct horse battery' }
  const owner = { password: 'correct horse battery' }
  if (role === 'owner') return path.startsWith('/admin') ? { ...owner, email: `invited@example.org` } : owner
  return role === 'stranger' ? { password: 'wrong' } : { email: 'ann@example.org', password: 'wrong' }
}

/** Returns the page whose form is sent to this path. */
function pageOf(path: string): string {
  return path.startsWith('/admin') ? '/admin' : path.replace(/\/(expire|save|edit|unlock|close)$/, '')
}

/** Returns the form of a page. `kept`: its hidden fields, empty if the page has no such form. */
function formFor(path: string, html: string) {
  const forms = formsIn(html)
  const isOwn = (action: string) => action.split('?')[0] === path
  const form =
    forms.find(({ action }) => isOwn(action)) ?? forms.find(({ action }) => action.startsWith(`${path}/`))
  const valuesOf = (isKept: boolean) =>
    Object.fromEntries(
      (form?.controls ?? [])
        .filter(({ type }) => (type === 'hidden') === isKept)
        .map(({ name, value }) => [name, value]),
    )
  return {
    action: form !== undefined && isOwn(form.action) ? form.action : path,
    kept: valuesOf(true),
    preset: valuesOf(false),
  }
}

/** Counts the rows of each table. */
export function countRows({ dataDir }: Pick<Api, 'dataDir'>): Record<string, number> {
  const database = new Database(join(dataDir, 'oncebox.db'), { readonly: true })
  try {
    const tables = database
      .query<{ name: string }, []>(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
      )
      .all()
    const count = (name: string) =>
      database.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${name}`).get()?.n
    return Object.fromEntries(tables.map(({ name }) => [name, count(name) ?? 0]))
  } finally {
    database.close()
  }
}

function growth(before: Record<string, number>, after: Record<string, number>): Record<string, number> {
  const grown = Object.entries(after).map(([table, rows]) => [table, rows - (before[table] ?? 0)] as const)
  return Object.fromEntries(grown.filter(([, rows]) => rows > 0))
}

/** Reads and deletes unused pushes, and resolves to the results. */
export async function readAndDelete(api: Api, { pushes }: EveryRequest): Promise<(number | string)[]> {
  const [read = '', deleted = ''] = [pushes.owned.pop(), pushes.owned.pop()]
  const { status, body } = await api.retrieve(read)
  const { status: ended } = await api.call(`${PUSHES}/${deleted}`, { method: 'DELETE' })
  return [status, String(body.payload), ended]
}
