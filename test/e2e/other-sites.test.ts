// CSRF in a real browser: requests that other sites can cause, against the binary, on localhost and on a
// network without TLS.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { createStage, type Started } from '../support/binary.ts'
import { launchBrowser } from '../support/chromium.ts'
import { needs } from '../support/needs.ts'
import { follow } from '../support/pressing.ts'

/** Host names of a local network, which the browser does not treat as secure. */
const NAMES = ['nas', 'evil.example']

/** Serves an empty page on every name of this machine. */
function startSite() {
  const page = '<!doctype html><title>another site</title><body>'
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(page, { headers: { 'content-type': 'text/html' } }),
  })
}

type Target = { server: string; urlToken: string }

/** Scripts for a page of another site. Each resolves once the browser has sent its requests. */
const CREATES: Record<string, (target: Target) => unknown> = {
  'fetch of a form': ({ server }) =>
    fetch(`${server}/api/v2/pushes`, {
      method: 'POST',
      mode: 'no-cors',
      body: new URLSearchParams({ 'push[payload]': 'x' }),
    }),
  'fetch to the previous version': ({ server }) =>
    fetch(`${server}/p.json`, { method: 'POST', mode: 'no-cors', body: '{"password":{"payload":"x"}}' }),
  'fetch with a preflight': ({ server }) =>
    fetch(`${server}/api/v2/pushes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"push":{"payload":"x"}}',
    }).catch(() => undefined),
  beacon: ({ server }) =>
    navigator.sendBeacon(`${server}/p.json`, new URLSearchParams({ 'password[payload]': 'x' })),
}

const RETRIEVALS: Record<string, (target: Target) => unknown> = {
  fetch: ({ server, urlToken }) => fetch(`${server}/api/v2/pushes/${urlToken}`).catch(() => undefined),
  'delete after a preflight': ({ server, urlToken }) =>
    fetch(`${server}/api/v2/pushes/${urlToken}`, { method: 'DELETE' }).catch(() => undefined),
  'fetch without cors': ({ server, urlToken }) =>
    fetch(`${server}/p/${urlToken}.json`, { mode: 'no-cors' }).catch(() => undefined),
  image: ({ server, urlToken }) =>
    new Promise((resolve) => {
      const image = new Image()
      image.onerror = resolve
      image.src = `${server}/api/v2/pushes/${urlToken}`
    }),
  frame: ({ server, urlToken }) =>
    new Promise((resolve) => {
      const frame = document.createElement('iframe')
      frame.onload = resolve
      frame.src = `${server}/api/v2/pushes/${urlToken}`
      document.body.append(frame)
    }),
}

const PREFETCHES: Record<string, (target: Target) => unknown> = {
  prefetch: ({ server, urlToken }) =>
    new Promise((resolve) => {
      const link = document.createElement('link')
      link.rel = 'prefetch'
      link.onload = resolve
      link.onerror = resolve
      link.href = `${server}/api/v2/pushes/${urlToken}`
      document.head.append(link)
    }),
  'speculation rules': ({ server, urlToken }) => {
    const script = document.createElement('script')
    script.type = 'speculationrules'
    const urls = [`${server}/api/v2/pushes/${urlToken}`]
    const rules = [{ source: 'list', urls, eagerness: 'immediate' }]
    script.textContent = JSON.stringify({ prefetch: rules, prerender: rules })
    document.head.append(script)
    return new Promise((resolve) => setTimeout(resolve, 500))
  },
}

const FORMS = [
  ['/', 'multipart/form-data'],
  ['/sign-in', 'application/x-www-form-urlencoded'],
  ['/p.json', 'text/plain'],
  ['/api/v2/pushes', 'application/x-www-form-urlencoded'],
] as const

/** Requests that a page of another site can cause without a user's action. */
function submitForm({ action, enctype }: { action: string; enctype: string }): void {
  const form = document.createElement('form')
  Object.assign(form, { method: 'post', action, enctype })
  for (const name of ['push[payload]', 'password[payload]', 'payload']) {
    const input = document.createElement('input')
    Object.assign(input, { name, value: 'x' })
    form.append(input)
  }
  document.body.append(form)
  form.submit()
}

needs('chromium').describe('in a browser', () => {
  const stage = createStage()
  let browser: Browser
  /** One page that navigates between the sites, which is faster than a new page each time. */
  let visitor: Page
  let server: Started
  let site: ReturnType<typeof startSite>

  beforeAll(async () => {
    site = startSite()
    server = await stage.start({ flags: ['--host', '0.0.0.0'] })
    browser = await launchBrowser(NAMES)
    visitor = await browser.newPage()
  })

  afterAll(async () => {
    await browser?.close()
    site.stop(true)
    await stage.clear()
  })

  const entries = () => {
    const database = new Database(join(server.dataDir, 'oncebox.db'), { readonly: true })
    try {
      return database
        .query<{ kind: string }, []>('SELECT kind FROM audit_entries')
        .all()
        .map(({ kind }) => kind)
    } finally {
      database.close()
    }
  }
  const createPush = async () => String((await (await server.create({ payload: 'x' })).json()).url_token)
  const at = (name: string) => `http://${name}:${server.port}`
  const visitSite = async (name: string): Promise<Page> => {
    await visitor.goto(`http://${name}:${site.port}/`)
    return visitor
  }

  const PAIRS: [string, string, string][] = [
    ['another port of localhost', 'localhost', 'localhost'],
    ['another site beside localhost', '127.0.0.1', 'localhost'],
    ['a site of the internet beside localhost', 'evil.example', 'localhost'],
    ['a site beside a name of the network', 'evil.example', 'nas'],
    ['another port of a name of the network', 'nas', 'nas'],
  ]

  test.each(PAIRS)('%s creates nothing', async (_name, from, to) => {
    const before = entries()
    const page = await visitSite(from)
    for (const create of Object.values(CREATES))
      await page.evaluate(create, { server: at(to), urlToken: '' }).catch(() => undefined)
    for (const [path, enctype] of FORMS) {
      await page.goto(`http://${from}:${site.port}/`)
      const answered = page.waitForResponse((response) => response.url() === `${at(to)}${path}`)
      await follow(page, () => page.evaluate(submitForm, { action: `${at(to)}${path}`, enctype }))
      expect({ path, status: (await answered).status() }).toEqual({ path, status: 403 })
    }
    expect(entries()).toEqual(before)
  })

  // Without TLS on a network name, browsers send no Sec-Fetch headers, so this cannot be detected.
  test.each(PAIRS.filter(([, , to]) => to === 'localhost'))('%s uses up no view', async (_name, from, to) => {
    const urlToken = await createPush()
    const before = entries()
    const page = await visitSite(from)
    for (const ask of Object.values({ ...RETRIEVALS, ...PREFETCHES }))
      await page.evaluate(ask, { server: at(to), urlToken })
    expect(entries()).toEqual(before)
  })

  test('a prefetch uses up no view, not even from a page of this server', async () => {
    for (const [from, to] of [
      [`http://evil.example:${site.port}`, 'nas'],
      [at('nas'), 'nas'],
      [at('localhost'), 'localhost'],
    ] as const) {
      const urlToken = await createPush()
      const before = entries()
      const page = await browser.newPage({ bypassCSP: true })
      await page.goto(`${from}/`)
      for (const ask of Object.values(PREFETCHES)) await page.evaluate(ask, { server: at(to), urlToken })
      await page.close()
      expect(entries()).toEqual(before)
    }
  })

  test.each(['localhost', 'nas', '127.0.0.1'])('users create and open pushes on %s', async (name) => {
    const page = visitor
    await page.goto(at(name))
    await page.fill('#payload', 'correct horse')
    await page.click('form.create > .actions button[type=submit]')
    await page.waitForURL('**/preview')
    const link = ((await page.textContent('#link')) ?? '').trim()
    expect(link).toStartWith(at(name))
    // Follows the link from another site, as from a chat.
    const receiver = await visitSite('evil.example')
    await follow(receiver, () =>
      receiver.evaluate((href) => void setTimeout(() => location.assign(href)), link),
    )
    expect(receiver.url()).toBe(link)
    await follow(receiver, () => receiver.click('main form button.primary'))
    expect(await receiver.textContent('.secret')).toContain('correct horse')
  })

  test('a page of an allowed CORS origin can use the API and read its refusals', async () => {
    const origin = `http://evil.example:${site.port}`
    const listed = await stage.start({ flags: ['--cors-origins', origin] })
    await listed.command(['user', 'add', 'ann@example.org', '--password-stdin'], 'correct horse battery')
    const token = (await listed.command(['token', 'create', 'ann@example.org'])).stdout.trim()
    const page = await visitSite('evil.example')
    const seen = await page.evaluate(
      async ({ api, apiToken }) => {
        const files = [{ filename: 'a.txt', data: btoa('hello') }]
        const created = await fetch(api, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${apiToken}` },
          body: JSON.stringify({ push: { files, passphrase: 'open' } }),
        })
        const { url_token } = await created.json()
        const refused = await fetch(`${api}/${url_token}`)
        const headers = { 'x-push-passphrase': 'open' }
        const retrieved = await (await fetch(`${api}/${url_token}`, { headers })).json()
        const download = await fetch(retrieved.files[0].url, { headers: { range: 'bytes=1-' } })
        const ended = await fetch(`${api}/${url_token}`, { method: 'DELETE' })
        return {
          statuses: [created.status, refused.status, download.status, ended.status],
          message: (await refused.json()).message,
          hasId: refused.headers.has('x-request-id'),
          size: download.headers.get('x-file-size'),
          name: download.headers.get('content-disposition')?.includes('a.txt'),
          text: await download.text(),
        }
      },
      { api: `${listed.url}/api/v2/pushes`, apiToken: token },
    )
    expect(seen).toEqual({
      statuses: [201, 401, 206, 200],
      message: 'This push needs a passphrase.',
      hasId: true,
      size: '5',
      name: true,
      text: 'ello',
    })
  })
})
