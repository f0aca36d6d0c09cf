// The pages in a real browser, with the network cut.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { removeFolder, type Started, startBinary } from '../support/binary.ts'
import { launchBrowser, openPage, skipBrowserTests } from '../support/chromium.ts'

describe.skipIf(skipBrowserTests)('in a browser', () => {
  let server: Started
  let browser: Browser
  const proxies: ReturnType<typeof Bun.serve>[] = []

  beforeAll(async () => {
    server = await startBinary({
      flags: ['--base-url', 'http://localhost/box', '--trusted-proxy', '127.0.0.1'],
    })
    browser = await launchBrowser()
  })

  afterAll(async () => {
    await browser?.close()
    for (const proxy of proxies) proxy.stop(true)
    await server.end('SIGKILL')
    removeFolder(server.dataDir)
  })

  /** A reverse proxy at /box; `strip` cuts that off before it asks the server. */
  function startProxy({ strip }: { strip: boolean }): string {
    const proxy = Bun.serve({
      port: 0,
      fetch: (request) => {
        const { pathname, search } = new URL(request.url)
        const path = strip ? pathname.replace(/^\/box/, '') : pathname
        return fetch(`${server.url}${path}${search}`, { headers: { host: 'localhost' } })
      },
    })
    proxies.push(proxy)
    return `http://localhost:${proxy.port}/box`
  }

  test.each([{ strip: true }, { strip: false }])(
    'the reference shows every endpoint behind a proxy: %p',
    async (options) => {
      const { page, outside, complaints } = await openPage(browser, `${startProxy(options)}/api/v2/docs`)
      await page.waitForSelector('.opblock')
      const text = await page.innerText('body')
      for (const path of [
        '/api/v2/version',
        '/api/v2/pushes',
        '/api/v2/pushes/{url_token}/audit',
        '/api/v2/pushes/expired',
      ]) {
        expect(text).toContain(path)
      }
      expect({ outside, complaints }).toEqual({ outside: [], complaints: [] })
      await page.close()
    },
  )

  test.each(['/', '/api', '/p/7k3m9qx2vn4t8bw5hj6r0yzacd'])(
    '%s is drawn with its style and nothing from outside',
    async (path) => {
      const { page, outside, complaints } = await openPage(browser, `${startProxy({ strip: true })}${path}`)
      expect(await page.locator('h1').count()).toBe(1)
      expect(await page.evaluate('getComputedStyle(document.querySelector("main")).maxWidth')).not.toBe(
        'none',
      )
      expect({ outside, complaints }).toEqual({ outside: [], complaints: [] })
      await page.close()
    },
  )
})
