// The installed app: its manifest, and content that the operating system shares with it.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Init, startInstance, type TestInstance } from '../support/instance.ts'

let instance: TestInstance
beforeAll(async () => {
  instance = await startInstance({ flags: { 'brand-name': 'Hanse Klinik' } })
})
afterAll(() => instance.close())

/** The headers with which Chromium sends shared content. */
const OF_BROWSER = { origin: 'null', 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }

function share(fields: Record<string, string | File>, headers: Record<string, string> = OF_BROWSER) {
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) body.append(name, value)
  const sent: Init = { method: 'POST', headers, body }
  return instance.fetch('/share', sent)
}

describe('the manifest', () => {
  test('names the app after the operator, and accepts shared texts and files by POST', async () => {
    const response = await instance.fetch('/manifest.webmanifest')
    expect(response.headers.get('content-type')).toBe('application/manifest+json')
    expect(await response.json()).toMatchObject({
      name: 'Hanse Klinik',
      start_url: '/',
      display: 'standalone',
      share_target: { action: '/share', method: 'POST', enctype: 'multipart/form-data' },
    })
  })

  test('lists icons that exist', async () => {
    const { icons }: { icons: { src: string; type: string }[] } = await (
      await instance.fetch('/manifest.webmanifest')
    ).json()
    for (const { src, type } of icons) {
      const icon = await instance.fetch(src)
      expect([icon.status, icon.headers.get('content-type')]).toEqual([200, type])
    }
  })

  test('pages link to it where the context is secure, but not the page of a secret link', async () => {
    const link = '<link rel="manifest" href="/manifest.webmanifest"'
    expect(await (await instance.fetch('/')).text()).toContain(link)
    expect(
      await (await instance.fetch('/', { headers: { host: '192.168.1.20:5100' } })).text(),
    ).not.toContain(link)
    expect(await (await instance.fetch('/p/abcdefghijklmnop')).text()).not.toContain(link)
  })
})

describe('shared content', () => {
  test('fills in the form without storing anything', async () => {
    const response = await share({ title: 'Wi-Fi', text: 'correct <horse>' })
    const page = await response.text()
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toContain('no-store')
    expect(page).toContain('correct &lt;horse&gt;')
    expect(page).toContain('name="push[payload]"')
  })

  test.each([[{ url: 'https://example.org/a?b=c' }], [{ text: 'https://example.org/a?b=c' }]])(
    '%j fills in a link',
    async (fields) => {
      expect(await (await share(fields)).text()).toContain('value="https://example.org/a?b=c"')
    },
  )

  test('a text with a URL stays a text', async () => {
    const page = await (await share({ text: 'Look here', url: 'https://example.org/' })).text()
    expect(page).toContain('Look here\nhttps://example.org/</textarea>')
  })

  test('files are in the page for its script', async () => {
    const page = await (
      await share({ files: new File(['a picture'], 'cat".png', { type: 'image/png' }) })
    ).text()
    expect(page).toContain(`value="${btoa('a picture')}"`)
    expect(page).toContain('data-type="image/png"')
  })

  test('more than 16 MiB of files are refused', async () => {
    expect((await share({ files: new File([new Uint8Array(17 * 1024 * 1024)], 'a.bin') })).status).toBe(413)
  })

  test.each([
    [{ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    [{ origin: 'null', 'sec-fetch-site': 'cross-site' }],
    [{ origin: 'null' }],
  ])('another site cannot share: %j', async (headers) => {
    expect((await share({ text: 'a trap' }, headers)).status).toBe(403)
  })

  test('a request that the browser itself sends may share, but do nothing else', async () => {
    const body = 'push%5Bpayload%5D=x'
    const headers = { ...OF_BROWSER, 'content-type': 'application/x-www-form-urlencoded' }
    expect((await instance.fetch('/', { method: 'POST', headers, body })).status).toBe(403)
  })

  test('a GET of its address redirects to the form', async () => {
    const response = await instance.fetch('/share')
    expect(response.headers.get('location')).toBe('/')
  })
})
