// The operator's name, logo, colour, contact and notice on the pages that other people see.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startInstance, type TestInstance } from '../support/instance.ts'
import { attributesIn, factsOf, textsIn } from '../support/page-facts.ts'

const folder = mkdtempSync(join(tmpdir(), 'oncebox-brand-'))
const SVG =
  '<?xml version="1.0"?>\n<!-- by hand -->\n<svg xmlns="http://www.w3.org/2000/svg"><script>a()</script></svg>'
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const WEBP = Buffer.from('RIFF\x04\x00\x00\x00WEBPVP8 ', 'latin1')
const JPEG = Buffer.from('ffd8ffe000104a464946', 'hex')

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a branded server', () => {
  let server: TestInstance
  let secretLink: string

  beforeAll(async () => {
    server = await startInstance({
      flags: {
        'brand-name': 'Ärzte & Co',
        'brand-logo': file('logo.bin', SVG),
        'brand-color': '#7a1f5c',
        contact: 'the IT desk, help@once.example, or see https://once.example/help.',
        notice: 'Maintenance on Saturday "at noon"',
      },
    })
    const created = await server.fetch('/api/v2/pushes', { json: { push: { payload: 'x' } } })
    secretLink = new URL((await created.json()).html_url).pathname
  })

  afterAll(() => server.close())

  const read = async (path: string) => (await server.fetch(path)).text()

  test.each([
    ['to create', () => '/'],
    ['of a secret link', () => secretLink],
    ['of a dead link', () => '/p/0123456789abcdefghjkmnpqrs'],
    ['for an unknown URL', () => '/nowhere'],
    ['to sign in', () => '/sign-in'],
  ])('has its name, its logo and its notice on the page %s', async (_, path) => {
    const text = await read(path())
    expect(factsOf(text).title).toEndWith(' · Ärzte & Co')
    const logo = expect.stringMatching(/^\/assets\/logo-\w+\.svg$/)
    expect(attributesIn(text, 'header img', 'src')).toEqual([logo])
    expect(textsIn(text, 'header bdi')).toContain('Ärzte & Co')
    expect(attributesIn(text, 'link[rel="icon"]', 'href')).toEqual([logo])
    expect(text).toContain('Maintenance on Saturday')
    expect(text).not.toContain('>Oncebox')
    expect(text).not.toMatch(/\sstyle=/)
  })

  test.each([
    ['a recipient', () => secretLink],
    ['a visitor with a dead link', () => '/p/0123456789abcdefghjkmnpqrs'],
    ['a visitor of an unknown page', () => '/nowhere'],
  ])('shows %s the contact, with links for its addresses', async (_, path) => {
    const text = await read(path())
    expect(textsIn(text, 'main').join()).toContain(
      'the IT desk, help@once.example, or see https://once.example/help.',
    )
    const addresses = attributesIn(text, 'main a', 'href')
    expect(addresses).toContain('mailto:help@once.example')
    expect(addresses).toContain('https://once.example/help')
  })

  test('shows a recipient the host to compare', async () => {
    expect(textsIn(await read(secretLink), '.host').join()).toContain('localhost')
  })

  test('serves an SVG logo with a policy that runs no scripts', async () => {
    const href = /\/assets\/logo-\w+\.svg/.exec(await read('/'))?.[0] ?? ''
    const { status, headers } = await server.fetch(href)
    expect([status, headers.get('content-type'), headers.get('x-content-type-options')]).toEqual([
      ...[200, 'image/svg+xml', 'nosniff'],
    ])
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    )
  })

  test('has its logo as its favicon too', async () => {
    const answer = await server.fetch('/favicon.ico')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    expect(answer.headers.get('content-security-policy')).toContain('sandbox')
  })

  test('puts its colour into the one style sheet', async () => {
    const href = /\/assets\/pages-\w+\.css/.exec(await read('/'))?.[0] ?? ''
    const sheet = await (await server.fetch(href)).text()
    expect(sheet.slice(sheet.lastIndexOf(':root{--accent:#7a1f5c;'))).toContain('prefers-color-scheme: dark')
  })
})

describe('a logo', () => {
  test.each([
    ['PNG', PNG, 'image/png'],
    ['JPEG', JPEG, 'image/jpeg'],
    ['WebP', WEBP, 'image/webp'],
    ['SVG', SVG, 'image/svg+xml'],
  ])('is recognized by its content: %s', async (_, content, type) => {
    const server = await startInstance({ flags: { 'brand-logo': file('no-extension', content) } })
    const href = /\/assets\/logo-[\w.]+/.exec(await (await server.fetch('/')).text())?.[0] ?? ''
    const answer = await server.fetch(href)
    expect(answer.headers.get('content-type')).toBe(type)
    expect(Buffer.from(await answer.arrayBuffer()).equals(Buffer.from(content))).toBe(true)
    await server.close()
  })

  test.each([
    [
      'a page in place of an image',
      () => file('page.svg', '<html><svg></svg></html>'),
      'is no PNG, SVG, JPEG or WebP',
    ],
    ['text that only mentions one', () => file('a.svg', 'see <svg>'), 'is no PNG, SVG, JPEG or WebP'],
    ['an empty file', () => file('empty.png', ''), 'is no PNG, SVG, JPEG or WebP'],
    [
      'a file that is too large',
      () => file('big.png', Buffer.concat([PNG, Buffer.alloc(262_144)])),
      '256 KiB',
    ],
    ['a missing file', () => join(folder, 'missing.png'), 'there is no such file'],
    [
      'a folder',
      () => {
        mkdirSync(join(folder, 'folder'), { recursive: true })
        return join(folder, 'folder')
      },
      'is not a file',
    ],
  ])('is refused at the start if it is %s', async (_, path, why) => {
    const start = startInstance({ flags: { 'brand-logo': path() } })
    expect(
      await start.then(
        () => 'started',
        (cause) => cause.message,
      ),
    ).toContain(why)
  })
})
