// Headers and links of every page, and an instance without anonymous access.

import { describe, expect, test } from 'bun:test'
import { startApi } from '../../support/api.ts'
import { attributesIn } from '../../support/page-facts.ts'
import { FORM, nonceOf, pathOf, SAME, usePages } from './pages.ts'

const pages = usePages()
const { fetchPage, send, signIn } = pages

describe('every page', () => {
  const PATHS = [
    '/',
    '/sign-in',
    '/api',
    '/nowhere',
    '/welcome/x',
    '/p/0123456789abcdefghjkmnpqrs',
    '/pushes/x',
    '/pushes',
    '/requests',
    '/requests/x',
    '/q/0123456789abcdefghjkmnpqrs',
    '/account',
    '/account/message',
    '/account/two-factor',
    '/users/token',
    '/admin',
    '/admin/welcome',
  ]

  test.each(PATHS)(
    '%s is not cached or framed, has unique ids, and runs only scripts of this server',
    async (path) => {
      const { headers, text } = await fetchPage(path)
      const { cookie } = await signIn('ann@example.org')
      for (const answer of [{ headers, text }, await fetchPage(path, { headers: { cookie } })]) {
        expect(answer.headers.get('cache-control')).toBe('no-store')
        if (answer.headers.get('location') !== null) continue
        const policy = answer.headers.get('content-security-policy') ?? ''
        expect(policy).toStartWith("default-src 'none'; base-uri 'none'; frame-ancestors 'none'; ")
        expect(policy).not.toMatch(/unsafe|\*|https?:|data:/)
        expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
        expect(answer.headers.get('x-robots-tag')).toContain('noindex')
        expect(answer.headers.get('referrer-policy')).toMatch(/^(same-origin|no-referrer)$/)
        expect(answer.text).not.toMatch(
          /<script(?! type="module" src="\/assets\/)|<style| style=| on\w+="|javascript:/,
        )
        const ids = attributesIn(answer.text, '[id]', 'id')
        expect(ids).toEqual([...new Set(ids)])
        // All resources come from this origin.
        expect(answer.text.replaceAll(/xmlns="[^"]+"/g, '')).not.toMatch(/(src|href|action)="(https?:)?\/\//)
      }
    },
  )

  test('assets are compressed for clients that accept it, and cached immutably', async () => {
    const { text } = await fetchPage('/')
    const [stylesheet] = /\/assets\/pages-[\w]+\.css/.exec(text) ?? ['']
    const plain = await pages.api.fetch(stylesheet)
    const packed = await pages.api.fetch(stylesheet, { headers: { 'accept-encoding': 'br, gzip' } })
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    expect(packed.headers.get('vary')).toBe('accept-encoding')
    expect(packed.headers.get('cache-control')).toContain('immutable')
    const bytes = new Uint8Array(await packed.arrayBuffer())
    expect(Buffer.from(Bun.gunzipSync(bytes)).toString()).toBe(await plain.text())
  })

  // During a rolling upgrade, the page and its assets may come from two versions.
  test('a page of another version gets current styles and texts, but no scripts, and nothing is cached', async () => {
    const { text } = await fetchPage('/')
    const links = [...new Set(text.match(/\/assets\/[\w-]+\.\w+/g))]
    expect(links.length).toBeGreaterThan(5)
    for (const link of links) {
      const own = await pages.api.fetch(link)
      const [other, foreign] = [0, 1].map((n) => link.replace(/-\w{8,}\./, `-${n}23456789abc.`))
      const answer = await pages.api.fetch(other ?? '', { headers: { 'accept-encoding': 'gzip' } })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.get('content-type')).toBe(own.headers.get('content-type'))
      const plain = await (await pages.api.fetch(foreign ?? '')).text()
      const runs = link.endsWith('.js') && !link.includes('/words-')
      if (runs) expect(plain).toMatch(/^\/\/.*\n$/)
      else expect(plain).toBe(await own.text())
      expect(Buffer.from(Bun.gunzipSync(await answer.bytes())).toString()).toBe(plain)
    }
    for (const unknown of [
      'nothing-0123456789abc.js',
      'pages-0123456789abc.js',
      'pages-.css',
      'pages.css',
      'none.js',
    ])
      expect((await pages.api.fetch(`/assets/${unknown}`)).status).toBe(404)
  })

  test('a page with a secret is never compressed', async () => {
    const { html_url } = await pages.api.create({ payload: 'x'.repeat(5000) })
    const { text } = await fetchPage(pathOf(html_url))
    const opened = await send(
      pathOf(html_url),
      { nonce: nonceOf(text) },
      { headers: { 'accept-encoding': 'gzip' } },
    )
    expect(opened.text).toContain('x'.repeat(5000))
    expect(opened.headers.get('content-encoding')).toBeNull()
  })
})

describe('an instance without anonymous access', () => {
  test('lets only accounts create, and anyone open links', async () => {
    const closed = await startApi({ flags: { 'anonymous-access': 'false' } })
    const token = await closed.addAccount('bob@example.org')
    expect((await closed.fetch('/')).status).toBe(303)
    const body = 'push%5Bpayload%5D=x'
    const refused = await closed.fetch('/', { body, headers: { 'content-type': FORM, ...SAME } })
    expect(refused.status).toBe(303)
    const { html_url, url_token } = await closed.create({}, { token })
    const page = await (await closed.fetch(pathOf(html_url))).text()
    const opened = await closed.fetch(pathOf(html_url), {
      body: new URLSearchParams({ nonce: nonceOf(page) }).toString(),
      headers: { 'content-type': FORM },
    })
    expect(await opened.text()).toContain('correct horse')
    expect((await closed.fetch(`/p/${url_token}/preview`)).status).toBe(200)
    await closed.close()
  })
})
