// The binary with a real OpenID provider, as a process of its own on loopback.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { runBinary, type Started, startBinary } from '../support/binary.ts'
import { freePort } from '../support/free-port.ts'

type Answer = { status: number; url: string; location: string | null; text: string }

let provider: Bun.Subprocess<'ignore', 'pipe', 'ignore'>
let server: Started
let base: string

beforeAll(async () => {
  const port = freePort()
  base = `http://localhost:${port}`
  const program = join(import.meta.dir, '../support/honest-provider.ts')
  provider = Bun.spawn([process.execPath, program, `${base}/sign-in/oidc/callback`], {
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' },
  })
  const { value } = await provider.stdout.getReader().read()
  const issuer = new TextDecoder().decode(value).trim()
  server = await startBinary({
    flags: [
      ...['--port', String(port), '--base-url', base, '--oidc-issuer', issuer, '--oidc-client-id', 'oncebox'],
      ...['--oidc-signup', 'yes', '--oidc-admin-group', 'groups=admins', '--oidc-name', 'Honest'],
    ],
    env: { ONCEBOX_OIDC_CLIENT_SECRET: 'a secret of the client' },
  })
})
afterAll(async () => {
  provider?.kill()
  await server?.end()
})

/** A browser that keeps the cookies of both servers, and follows redirects between them. */
function createBrowser() {
  const jars = new Map<string, Map<string, string>>()

  async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
    const { origin } = new URL(url)
    const jar = jars.get(origin) ?? new Map<string, string>()
    jars.set(origin, jar)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(init.headers as Record<string, string>), ...(cookie === '' ? {} : { cookie }) }
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';', 1)
      const name = pair.slice(0, pair.indexOf('='))
      const value = pair.slice(name.length + 1)
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    const location = response.headers.get('location')
    return { status: response.status, url, location, text: await response.text() }
  }

  async function follow(url: string, init: RequestInit = {}): Promise<Answer> {
    let answer = await ask(url, init)
    for (let hops = 0; answer.location !== null && hops < 15; hops += 1)
      answer = await ask(new URL(answer.location, answer.url).href)
    return answer
  }

  /** Sends the form of a page with these fields beside its hidden ones. */
  function submit({ text, url }: Answer, fields: Record<string, string>): Promise<Answer> {
    const action = /<form[^>]*action="([^"]+)"/.exec(text)?.[1] ?? url
    const hidden = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
    const all = { ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])), ...fields }
    const { origin } = new URL(url)
    return follow(new URL(action, url).href, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin },
      body: new URLSearchParams(all as Record<string, string>).toString(),
    })
  }

  /** Types the name of a person at the provider, and agrees. */
  async function signIn(name: string, from = `${base}/sign-in/oidc?next=/account`): Promise<Answer> {
    const login = await follow(from)
    const consent = await submit(login, { login: name, password: 'any' })
    return consent.text.includes('name="prompt" value="consent"') ? submit(consent, {}) : consent
  }

  return { ask, follow, submit, signIn }
}

test('a person signs up at the provider, and comes back as the same account', async () => {
  const page = await createBrowser().signIn('ann')
  expect(page.url).toBe(`${base}/account`)
  expect(page.text).toContain('ann@example.org')
  expect((await createBrowser().signIn('ann')).text).toContain('Honest signs you in to this account')
})

test('groups of the provider make an administrator', async () => {
  const browser = createBrowser()
  await browser.signIn('root')
  expect((await browser.ask(`${base}/admin`)).status).toBe(200)
  const other = createBrowser()
  await other.signIn('ann')
  expect((await other.ask(`${base}/admin`)).status).toBe(403)
})

test('an account with a password is linked by it', async () => {
  const added = await runBinary(
    ['user', 'add', 'bob@example.org', '--password-stdin', '--data-dir', server.dataDir],
    {
      input: 'correct horse battery\n',
    },
  )
  expect(added.code).toBe(0)
  const browser = createBrowser()
  const asked = await browser.signIn('bob')
  expect(asked.text).toContain('There is an account with your address already')
  const page = await browser.submit(asked, { password: 'correct horse battery' })
  expect(page.url).toBe(`${base}/account`)
  expect((await createBrowser().signIn('bob')).text).toContain('bob@example.org')
})

test('a token is created after the provider has authenticated the person again', async () => {
  const browser = createBrowser()
  const account = await browser.signIn('ann')
  const form = /name="form" value="([^"]+)"/.exec(account.text)?.[1] ?? ''
  const create = () =>
    browser.submit({ ...account, text: '', url: `${base}/users/token` }, { form, name: 'of the provider' })
  const asked = await create()
  const path = /href="(\/sign-in\/oidc\?ticket[^"]+)"/.exec(asked.text)?.[1] ?? 'none'
  expect((await browser.signIn('ann', `${base}${path}`)).url).toBe(`${base}/users/token`)
  expect((await create()).text).toContain('obx_')
})

test('signing out at the provider ends the session here', async () => {
  const browser = createBrowser()
  const { text } = await browser.signIn('ann')
  expect(text).toContain('ann@example.org')
  const issuer = /--oidc-issuer|(http:\/\/127\.0\.0\.1:\d+)/.exec(
    (await browser.ask(`${base}/sign-in/oidc`)).location ?? '',
  )
  const end = await browser.ask(`${issuer?.[0]}/session/end`)
  await browser.submit(end, { logout: 'yes' })
  expect((await browser.ask(`${base}/account`)).status).toBe(303)
})
