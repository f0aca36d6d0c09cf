// Account and token commands beside a running server.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createStage, runBinary, type Started } from '../support/binary.ts'
import { untilTaken, waitUntil } from '../support/waiting.ts'

const stage = createStage()
const PASSWORD = 'long enough password\n'
let server: Started

beforeAll(async () => {
  server = await stage.start()
})

afterAll(stage.clear)

const run = (args: string[], input?: string) => server.command(args, input)

async function addAccount(email: string): Promise<void> {
  const { code, stderr } = await run(['user', 'add', email, '--password-stdin'], PASSWORD)
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
}

async function createToken(email: string, name: string): Promise<Record<string, string>> {
  const { stdout, code } = await run(['token', 'create', email, '--name', name])
  expect(code).toBe(0)
  // The token alone is on standard output, for scripts.
  expect(stdout).toMatch(/^obx_[0-9a-z]{32}\n$/)
  return { authorization: `Bearer ${stdout.trim()}` }
}

const statusFor = async (headers: Record<string, string>) =>
  (await server.ask('/api/v2/pushes/active', { headers })).status

test('an account and a token created beside a running server work at once', async () => {
  const email = 'ann@example.org'
  expect((await run(['user', 'list'])).stdout).not.toContain(email)
  await addAccount(email)
  const headers = await createToken(email, 'laptop')
  expect(await statusFor(headers)).toBe(200)
  const { url_token } = await (await server.create({ payload: 'x', name: 'n' }, headers)).json()
  const [push] = await (await server.ask('/api/v2/pushes/active', { headers })).json()
  expect(push).toMatchObject({ url_token, name: 'n' })
})

test('disabling an account stops its tokens at once, enabling brings them back', async () => {
  const email = 'bob@example.org'
  await addAccount(email)
  const headers = await createToken(email, 'ci')
  expect((await run(['user', 'disable', email])).code).toBe(0)
  expect(await statusFor(headers)).toBe(401)
  expect((await server.create({ payload: 'x' }, headers)).status).toBe(401)
  expect((await run(['user', 'list'])).stdout).toMatch(/bob@example\.org\s+user\s+disabled/)
  expect((await run(['user', 'enable', email])).code).toBe(0)
  expect(await statusFor(headers)).toBe(200)
})

test('a token is revoked by its name or its first characters, at once and alone', async () => {
  const email = 'cy@example.org'
  await addAccount(email)
  const [one, two, three] = [
    await createToken(email, 'one'),
    await createToken(email, 'two'),
    await createToken(email, 'three'),
  ]
  const { stdout } = await run(['token', 'list', email])
  for (const name of ['one', 'two', 'three']) expect(stdout).toContain(name)
  const prefix = /two\s+(obx_\w+)/.exec(stdout)?.[1] ?? ''
  expect(prefix.length).toBeLessThan(16)
  expect((await run(['token', 'revoke', email, 'one'])).code).toBe(0)
  expect((await run(['token', 'revoke', email, prefix])).code).toBe(0)
  expect([await statusFor(one), await statusFor(two), await statusFor(three)]).toEqual([401, 401, 200])
})

test('the list of tokens shows when each was last used, and never the token', async () => {
  const email = 'dee@example.org'
  await addAccount(email)
  const headers = await createToken(email, 'used')
  await createToken(email, 'unused')
  await statusFor(headers)
  // The last use is recorded after the response.
  let stdout = ''
  const isNoted = () => /^used .*\d{4}-\d\d-\d\dT\S+Z\s+\d{4}-\d\d-\d\dT\S+Z$/m.test(stdout)
  await waitUntil(async () => {
    stdout = (await run(['token', 'list', email])).stdout
    return isNoted()
  })
  expect(stdout).toMatch(/^unused .* never$/m)
  expect(stdout).not.toContain(headers.authorization?.slice(-20) ?? '?')
})

test('removing an account removes its tokens and pushes at once', async () => {
  const email = 'eve@example.org'
  await addAccount(email)
  const headers = await createToken(email, 'gone')
  const { url_token } = await (await server.create({ payload: 'x' }, headers)).json()
  const { url_token: anonymous } = await (await server.create({ payload: 'stays' })).json()
  expect((await run(['user', 'remove', email, '--yes'])).stdout).toContain('1 push')
  expect(await statusFor(headers)).toBe(401)
  expect((await server.retrieve(url_token)).status).toBe(404)
  expect((await (await server.retrieve(anonymous)).json()).payload).toBe('stays')
  expect((await run(['user', 'list'])).stdout).not.toContain(email)
})

test('removing without --yes asks first, and an empty answer means no', async () => {
  await addAccount('fay@example.org')
  expect((await run(['user', 'remove', 'fay@example.org'], '')).code).toBe(1)
  expect((await run(['user', 'list'])).stdout).toContain('fay@example.org')
})

test.each([
  ['a short password', ['user', 'add', 'gil@example.org', '--password-stdin'], 'short\n', 1, '12'],
  ['no password at all', ['user', 'add', 'gil@example.org', '--password-stdin'], '', 1, 'password'],
  ['no address', ['user', 'add', 'not an address', '--password-stdin'], PASSWORD, 2, 'not an address'],
  ['a missing address', ['user', 'add', '--password-stdin'], PASSWORD, 2, 'EMAIL'],
  ['an unknown account', ['user', 'disable', 'nobody@example.org'], '', 1, 'nobody@example.org'],
  ['an unknown token', ['token', 'revoke', 'ann@example.org', 'nothing'], '', 1, 'nothing'],
  ['an unknown command', ['user', 'promote', 'ann@example.org'], '', 2, 'promote'],
  ['an unknown flag', ['token', 'list', 'ann@example.org', '--secret=hunter2'], '', 2, '--secret'],
])('%s is refused in words', async (_, args, input, code, word) => {
  const refused = await run(args, input)
  expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code, stdout: '' })
  expect(refused.stderr).toContain(word)
  expect(refused.stderr).not.toContain('hunter2')
  expect(refused.stderr).not.toMatch(/^\s+at |bug in Oncebox/m)
})

test('an existing account is not added again, in any letter case', async () => {
  await addAccount('hal@example.org')
  for (const email of ['hal@example.org', 'HAL@Example.org']) {
    const { code, stderr } = await run(['user', 'add', email, '--password-stdin'], PASSWORD)
    expect(code).toBe(1)
    expect(stderr).toContain('already')
  }
})

test('many commands at once succeed beside a busy server', async () => {
  let created = 0
  let stopped = false
  const load = Promise.all(
    Array.from({ length: 8 }, async () => {
      while (!stopped) {
        expect((await untilTaken(() => server.create({ payload: 'x' }))).status).toBe(201)
        created += 1
      }
    }),
  )
  const emails = Array.from({ length: 6 }, (_, index) => `load-${index}@example.org`)
  await Promise.all(emails.map(addAccount))
  await Promise.all(emails.map((email) => createToken(email, 'token')))
  await waitUntil(() => created > 50)
  stopped = true
  await load
})

test('account commands other than "user add" refuse a folder without data, and create none', async () => {
  const path = join(stage.folder(), 'missing')
  const commands = [
    ['user', 'list'],
    ['user', 'password', 'x@example.org', '--password-stdin'],
    ['token', 'create', 'x@example.org'],
  ]
  for (const command of commands) {
    const { code, stderr } = await runBinary([...command, '--data-dir', path], { input: PASSWORD })
    expect(code).toBe(1)
    expect(stderr).toContain(path)
    expect(stderr).toContain('--data-dir')
    expect(existsSync(path)).toBe(false)
  }
  mkdirSync(path)
  expect((await runBinary(['user', 'list', '--data-dir', path])).code).toBe(1)
  expect(readdirSync(path)).toEqual([])
})

test('a command says on standard error which folder it works on', async () => {
  expect((await run(['user', 'list'])).stderr).toContain(server.dataDir)
})
