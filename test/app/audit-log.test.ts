// The audit log: the line of each act, with the account and address, and what no line contains.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openAccounts } from '../../src/app/account-commands.ts'
import { AUDIT_ACTIONS } from '../../src/operating/audit-trail.ts'
import { writeSettingsNote } from '../../src/store/folder/notes.ts'
import { type Api, PUSHES, startApi, type Wire } from '../support/api.ts'
import { createTestClock, type Init } from '../support/instance.ts'
import { createBrowser, flagsFor, signInBy, startLyingProvider } from '../support/lying-provider.ts'
import { createPeople, type People } from '../support/people.ts'
import { askChallenge, createAuthenticator, type Lies } from '../support/software-authenticator.ts'
import { waitUntil } from '../support/waiting.ts'

type Line = Record<string, unknown> & { 'event.action': string; 'event.outcome': string }

const ANN = 'ann@example.org'
const BOB = 'bob@example.org'
const PASSWORD = 'correct horse battery'

let folder = ''
let path = ''
let api: Api
let people: People

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'oncebox-audit-'))
  path = join(folder, 'audit.log')
  await start({})
})
afterEach(async () => {
  await api.close()
  rmSync(folder, { recursive: true, force: true })
})

async function start(flags: Record<string, string>) {
  api = await startApi({ flags: { 'audit-log': path, ...flags } })
  people = createPeople(api)
}

const readLines = (): Line[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/** Resolves to the lines of these actions, once there are `count`. */
async function linesOf(count: number, ...actions: string[]): Promise<Line[]> {
  const found = () => readLines().filter((line) => actions.includes(line['event.action']))
  await waitUntil(() => found().length >= count)
  return found()
}

const short = (line: Line) =>
  [line['event.action'], line['event.outcome'], line['event.reason'], line['user.name']].map(
    (one) => one ?? '-',
  )

test('a start records version, key and settings, and a stop ends the log', async () => {
  await api.close()
  const [line] = readLines()
  expect(line).toMatchObject({
    'event.action': 'server-start',
    'event.outcome': 'success',
    'ecs.version': '8.17.0',
  })
  expect(line?.['@timestamp']).toBe('2026-11-20T12:00:00.000Z')
  expect(line?.['oncebox.key']).toMatch(/^[\da-f]{4}-/)
  expect(line?.['oncebox.settings']).toMatchObject({ 'audit-log': path, port: '5100' })
  expect(readLines().at(-1)?.['event.action']).toBe('server-stop')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const smtp = { 'smtp-url': 'smtps://once:hunter2@127.0.0.1:1', 'mail-from': 'once@example.org' }
  await start({ ...smtp, 'base-url': 'http://localhost' })
  expect(readFileSync(path, 'utf8')).not.toContain('hunter2')
})

test('a sign-in records account and address, and never what was typed as a password', async () => {
  await api.addAccount(ANN)
  await people.signIn(ANN, { from: '198.51.100.7' })
  await people.post('/sign-in', { email: ANN, password: 'wrong horse battery' })
  await people.post('/sign-in', { email: PASSWORD, password: '' })
  const lines = await linesOf(3, 'sign-in')
  expect(lines.map(short)).toEqual([
    ['sign-in', 'success', '-', ANN],
    ['sign-in', 'failure', 'refused', ANN],
    ['sign-in', 'failure', 'refused', '-'],
  ])
  expect(lines.map((line) => line['source.ip'])).toEqual(['198.51.100.7', '192.0.2.1', '192.0.2.1'])
  expect(readFileSync(path, 'utf8')).not.toContain('horse')
})

test('an act of an administrator on an account names both', async () => {
  await api.addAccount(ANN, { isAdmin: true })
  await api.addAccount(BOB)
  const ann = await people.signIn(ANN)
  const id = (await api.accounts().requireAccount(BOB)).id
  await ann.post('/account/confirm', { password: PASSWORD })
  for (const act of ['promote', 'demote', 'disable', 'enable'])
    await ann.post(`/admin/accounts/${id}/${act}`, { current: PASSWORD })
  const lines = await linesOf(4, ...['promote', 'demote', 'disable', 'enable'].map((act) => `account-${act}`))
  expect(lines.map((line) => line['event.action'])).toEqual([
    ...['account-promote', 'account-demote', 'account-disable', 'account-enable'],
  ])
  for (const line of lines)
    expect(line).toMatchObject({ 'user.name': ANN, 'user.target.name': BOB, 'source.ip': '192.0.2.1' })
})

test('a push has the same id in all its lines, that of its events, from creation to last view', async () => {
  const token = await api.addAccount(ANN)
  const push = await api.create({ expire_after_views: 2, passphrase: 'sesame' }, { token })
  const ask = (headers: Record<string, string>, init: Init = {}) =>
    api.call(`${PUSHES}/${push.url_token}`, { headers, ...init })
  await ask({})
  await ask({ 'x-push-passphrase': 'mellon' })
  await ask({ 'x-push-passphrase': 'sesame' }, { from: '198.51.100.9' })
  await ask({ 'x-push-passphrase': 'sesame' }, { token })
  await ask({})
  const lines = await linesOf(7, 'push-create', 'push-open', 'push-expire')
  expect(lines.map(short)).toEqual([
    ['push-create', 'success', '-', ANN],
    ['push-open', 'failure', 'passphrase_required', '-'],
    ['push-open', 'failure', 'wrong_passphrase', '-'],
    ['push-open', 'success', '-', '-'],
    ['push-open', 'success', '-', ANN],
    ['push-expire', 'success', 'views', ANN],
    ['push-open', 'failure', 'expired', '-'],
  ])
  expect(lines[3]?.['source.ip']).toBe('198.51.100.9')
  const { body } = await api.call('/api/oncebox/events?after=0', { token })
  const [event] = body.events as { data: { push: string } }[]
  expect(new Set(lines.map((line) => line['oncebox.push.id']))).toEqual(new Set([event?.data.push]))
})

test('an anonymous push has one id too, and an expiry by time leaves one line without an address', async () => {
  const push = await api.create({ expire_after_days: 1 })
  api.clock.advance(24 * 60 * 60 * 1000 + 1000)
  await api.retrieve(push.url_token)
  await api.sweep()
  await api.retrieve(push.url_token)
  const lines = await linesOf(4, 'push-create', 'push-open', 'push-expire')
  expect(lines.map(short)).toEqual([
    ['push-create', 'success', '-', '-'],
    ['push-open', 'failure', 'expired', '-'],
    ['push-expire', 'success', 'time', '-'],
    ['push-open', 'failure', 'expired', '-'],
  ])
  expect(lines[2]?.['source.ip']).toBeUndefined()
  const ids = lines.map((line) => line['oncebox.push.id'])
  expect(new Set(ids).size).toBe(1)
  expect(ids[0]).toMatch(/^[\da-f]{20}$/)
})

test('the sweeper records which pushes it expires, and an owner those of a bulk action', async () => {
  const token = await api.addAccount(ANN)
  const short = await api.create({ expire_after_days: 1 }, { token })
  const [one, other] = [await api.create({}, { token }), await api.create({}, { token })]
  await api.call(`${PUSHES}/${one.url_token}`, { method: 'DELETE', token })
  const ann = await people.signIn(ANN)
  await ann.post('/pushes', { do: 'expire', sure: 'on', push: other.url_token })
  api.clock.advance(24 * 60 * 60 * 1000 + 1000)
  await api.sweep()
  expect(short.url_token).not.toBe('')
  const lines = await linesOf(2, 'push-expire')
  await waitUntil(() => readLines().some((line) => line['event.reason'] === 'time'))
  expect(lines[0]).toMatchObject({ 'event.reason': 'deleted', 'user.name': ANN })
  const swept = readLines().find((line) => line['event.reason'] === 'time')
  expect(swept?.['user.name']).toBeUndefined()
})

test('refused creates, unknown links and refused tokens leave lines', async () => {
  await api.post({ payload: '' })
  await api.retrieve('0123456789abcdefghjkmnpqrs')
  await api.call('/api/v2/pushes/active', { token: 'obx_wrong' })
  const lines = await linesOf(3, 'push-create', 'push-open', 'token-use')
  expect(lines.map(short)).toEqual([
    ['push-create', 'failure', 'status_422', '-'],
    ['push-open', 'failure', 'status_404', '-'],
    ['token-use', 'failure', 'status_401', '-'],
  ])
})

test('a request leaves lines for its creation, its answer and its end', async () => {
  const token = await api.addAccount(ANN)
  const made = await api.call('/api/oncebox/requests', { token, json: { request: { passphrase: 'sesame' } } })
  const request = String(made.body.url_token)
  const answers = `/api/oncebox/requests/${request}/answers`
  await people.get(`/q/${request}`)
  await api.call(answers, { json: { push: { payload: 'x', passphrase: 'mellon' } } })
  await api.call(answers, { json: { push: { payload: 'x', passphrase: 'sesame' } } })
  await api.call(`/api/oncebox/requests/${request}`, { method: 'DELETE', token })
  const lines = await linesOf(5, 'request-create', 'request-open', 'request-answer', 'request-close')
  expect(lines.map(short)).toEqual([
    ['request-create', 'success', '-', ANN],
    ['request-open', 'success', '-', '-'],
    ['request-answer', 'failure', 'wrong_passphrase', '-'],
    ['request-answer', 'success', '-', '-'],
    ['request-close', 'success', '-', ANN],
  ])
  expect(new Set(lines.map((line) => line['oncebox.request.id'])).size).toBe(1)
  expect(lines[3]?.['oncebox.push.id']).toMatch(/^\w{20}$/)
})

test('no line contains a link, a secret, a name, a note or a passphrase', async () => {
  const token = await api.addAccount(ANN)
  const wanted = {
    payload: 'needle-text',
    name: 'needle-name',
    note: 'needle-note',
    passphrase: 'needle-word',
  }
  const push = await api.create(
    { ...wanted, files: [{ filename: 'needle.txt', data: btoa('needle-file') }] },
    { token },
  )
  const headers = { 'x-push-passphrase': 'needle-word' }
  await api.call(`${PUSHES}/${push.url_token}`, { headers, token })
  await api.call(`${PUSHES}/${push.url_token}?passphrase=needle-wrong`)
  await api.call(`${PUSHES}/${push.url_token}`, {
    method: 'PATCH',
    token,
    json: { push: { name: 'needle-new' } },
  })
  const ann = await people.signIn(ANN)
  await ann.post('/users/token', { name: 'needle-token', current: PASSWORD })
  const made = await api.call('/api/oncebox/requests', {
    token,
    json: { request: { name: 'needle-ask', message: 'needle-please' } },
  })
  await linesOf(2, 'push-edit', 'request-create')
  const text = readFileSync(path, 'utf8')
  for (const needle of ['needle', push.url_token, String((made.body as Wire).url_token), token, PASSWORD])
    expect(text).not.toContain(needle)
})

test('lines are in the order of their commits, and go to the new file after a rotation', async () => {
  const pushes = await Promise.all(Array.from({ length: 20 }, () => api.create()))
  for (const { url_token } of pushes) await api.retrieve(url_token)
  const lines = await linesOf(40, 'push-create', 'push-open')
  const ids = lines.map((line) => line['oncebox.push.id'])
  expect(ids.slice(20).toSorted()).toEqual(ids.slice(0, 20).toSorted())
  renameSync(path, `${path}.1`)
  await api.reload()
  await api.create()
  expect(await linesOf(1, 'push-create')).toHaveLength(1)
})

test('lines that cannot be written to the file are counted, reported and sent to standard error', async () => {
  await api.close()
  path = '/dev/full'
  await start({ 'metrics-listen': '127.0.0.1:9100' })
  await api.create()
  await waitUntil(() => api.log.some((line) => line.includes('"event.action":"push-create"')))
  const ready = await api.call('/readyz', { from: '127.0.0.1' })
  expect((ready.body.checks as Wire).audit).toContain('audit log /dev/full cannot be written')
  const text = (await api.readMetrics()) ?? ''
  expect(Number(/^oncebox_audit_lines_lost_total (\d+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(2)
  path = join(folder, 'audit.log')
})

test('commands on accounts add their lines to the file that the server was started with', async () => {
  const { dataDir } = api
  const note = { keyFile: null, tlsAuthorityKey: null, minFreeSpace: 0 }
  const setting = { flag: 'audit-log', value: path, from: '--audit-log' }
  writeSettingsNote(dataDir, { ...note, settings: [setting] })
  const warnings: string[] = []
  const place = {
    dataDir,
    database: null,
    now: api.clock.now,
    warn: (warning: string) => warnings.push(warning),
  }
  {
    await using opened = await openAccounts(place)
    await opened.accounts.addAccount({ email: BOB, password: PASSWORD, isAdmin: false })
    await opened.apiTokens.createApiToken({ email: BOB })
    await expect(opened.accounts.disableAccount('nobody@example.org')).rejects.toThrow('no account')
  }
  const lines = await linesOf(3, 'account-create', 'token-create', 'account-disable')
  expect(
    lines.map((line) => [line['event.action'], line['event.outcome'], line['user.target.name']]),
  ).toEqual([
    ['account-create', 'success', BOB],
    ['token-create', 'success', BOB],
    ['account-disable', 'failure', 'nobody@example.org'],
  ])
  expect(lines[0]?.['event.provider']).toBe('command')
  writeSettingsNote(dataDir, {
    ...note,
    settings: [{ ...setting, value: join(folder, 'missing/audit.log') }],
  })
  {
    await using opened = await openAccounts(place)
    await opened.accounts.disableAccount(BOB)
  }
  expect(warnings).toEqual([expect.stringContaining('The audit log has no line of this.')])
})

test('sign-ins by the provider leave lines, with the account that they make and the group that they follow', async () => {
  await api.close()
  const provider = await startLyingProvider()
  try {
    const flags = { 'audit-log': path, ...flagsFor(provider), 'oidc-admin-group': 'groups=admins' }
    api = await startApi({ flags, clock: createTestClock(Date.now()) })
    await signInBy(provider, createBrowser(api))
    await signInBy(provider, createBrowser(api), { claims: { groups: ['admins'] } })
    await signInBy(provider, createBrowser(api), { claims: { sub: 'another' } })
    const lines = await linesOf(5, 'sign-in', 'account-create', 'account-promote')
    expect(lines.map(short)).toEqual([
      ['account-create', 'success', 'provider', ANN],
      ['sign-in', 'success', 'provider', ANN],
      ['account-promote', 'success', 'provider', '-'],
      ['sign-in', 'success', 'provider', ANN],
      ['sign-in', 'failure', 'userinfo_refused', '-'],
    ])
    expect(lines[2]?.['user.target.name']).toBe(ANN)
  } finally {
    await provider.close()
  }
})

test('linking a person, and signing them out at the provider, leave lines that name the account', async () => {
  await api.close()
  const provider = await startLyingProvider()
  try {
    api = await startApi({
      flags: { 'audit-log': path, ...flagsFor(provider) },
      clock: createTestClock(Date.now()),
    })
    await api.addAccount(ANN)
    const ann = createBrowser(api)
    const pending = ann.hidden((await signInBy(provider, ann)).text, 'pending')
    for (const password of ['not the password', PASSWORD])
      await ann.post('/sign-in/oidc', { pending, password })
    const body = new URLSearchParams({ logout_token: await provider.logoutToken() }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    for (let n = 0; n < 2; n += 1) await api.fetch('/sign-in/oidc/logout', { method: 'POST', headers, body })
    const lines = await linesOf(6, 'sign-in', 'provider-link', 'session-end')
    expect(lines.map((line) => [...short(line), line['user.target.name'] ?? '-'])).toEqual([
      ['sign-in', 'unknown', 'password_needed', ANN, '-'],
      ['sign-in', 'failure', 'wrong', ANN, '-'],
      ['provider-link', 'success', '-', '-', ANN],
      ['sign-in', 'success', 'provider', ANN, '-'],
      ['session-end', 'success', 'provider', '-', ANN],
      ['session-end', 'failure', 'logout_token_used', '-', '-'],
    ])
  } finally {
    await provider.close()
  }
})

test('a half-written line after a power cut does not swallow the next line', async () => {
  await api.close()
  writeFileSync(path, '{"@timestamp":"2026', { mode: 0o600 })
  await start({})
  const [half, next] = readFileSync(path, 'utf8').split('\n')
  expect(half).toBe('{"@timestamp":"2026')
  expect(JSON.parse(next ?? '')).toMatchObject({ 'event.action': 'server-start' })
})

test('acts with passkeys leave lines, and that of a possibly copied passkey has the reason', async () => {
  await api.close()
  const flags = { 'audit-log': path, 'base-url': 'http://localhost' }
  api = await startApi({ flags, clock: createTestClock(Date.now()) })
  await api.addAccount(ANN)
  const key = createAuthenticator()
  const ann = createBrowser(api)
  await ann.post('/sign-in', { email: ANN, password: PASSWORD })
  const added = key.create(await askChallenge(ann, { for: 'add' }))
  await ann.post('/account/passkeys', { name: 'needle', passkey: JSON.stringify(added) })
  const enter = async (lies: Lies) => {
    const browser = createBrowser(api)
    const passkey = JSON.stringify(key.get(await askChallenge(browser), lies))
    await browser.post('/sign-in/passkey', { passkey })
  }
  for (const lies of [{ counter: 7 }, { origin: 'https://evil.example' }, { counter: 7 }]) await enter(lies)
  await ann.post('/account/passkeys/remove', { id: '1' })
  const lines = await linesOf(6, 'sign-in', 'passkey-add', 'passkey-remove')
  expect(lines.map(short)).toEqual([
    ['sign-in', 'success', '-', ANN],
    ['passkey-add', 'success', '-', ANN],
    ['sign-in', 'success', 'passkey', ANN],
    ['sign-in', 'failure', 'passkey_wrong', '-'],
    ['sign-in', 'failure', 'copied', ANN],
    ['passkey-remove', 'success', '-', ANN],
  ])
  expect(readFileSync(path, 'utf8')).not.toContain('needle')
})

test('the documented list of actions is the closed list of the program', () => {
  const text = readFileSync(join(import.meta.dir, '../../docs/audit-log.md'), 'utf8')
  const [, table = ''] = text.split('## The actions')
  const [listed = ''] = table.split('## What is promised')
  expect([...listed.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, action]) => action)).toEqual([...AUDIT_ACTIONS])
})

test('sign-ins by the header of a proxy leave lines', async () => {
  await api.close()
  const secret = join(folder, 'secret')
  writeFileSync(secret, 'a-secret-of-the-proxy')
  await start({ 'auth-header': 'Remote-Email', 'auth-header-secret-file': secret })
  const come = (word: string) =>
    api.fetch('/sign-in/header', { headers: { 'remote-email': ANN, 'x-oncebox-proxy-secret': word } })
  await come('a-secret-of-the-proxy')
  await come('another-secret-of-it')
  const lines = await linesOf(3, 'sign-in', 'account-create')
  expect(lines.map(short)).toEqual([
    ['account-create', 'success', 'header', ANN],
    ['sign-in', 'success', 'header', ANN],
    ['sign-in', 'failure', 'header_missing', '-'],
  ])
})
