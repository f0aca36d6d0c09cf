// The pages in a real browser, with the network cut.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { createStage, type Started } from '../support/binary.ts'
import { launchBrowser, openPage } from '../support/chromium.ts'
import { needs } from '../support/needs.ts'

const ENDPOINTS = [
  ['GET', '/api/v2/version'],
  ['POST', '/api/v2/pushes'],
  ['GET', '/api/v2/pushes/{url_token}'],
  ['DELETE', '/api/v2/pushes/{url_token}'],
  ['PATCH', '/api/v2/pushes/{url_token}'],
  ['GET', '/api/v2/pushes/{url_token}/preview'],
  ['GET', '/api/v2/pushes/{url_token}/audit'],
  ['GET', '/api/v2/pushes/active'],
  ['GET', '/api/v2/pushes/expired'],
  ['GET', '/api/oncebox/events'],
  ['GET', '/api/oncebox/requests'],
  ['POST', '/api/oncebox/requests'],
  ['GET', '/api/oncebox/requests/{url_token}'],
  ['DELETE', '/api/oncebox/requests/{url_token}'],
  ['POST', '/api/oncebox/requests/{url_token}/answers'],
  ['GET', '/api/oncebox/webhooks'],
  ['POST', '/api/oncebox/webhooks'],
  ['DELETE', '/api/oncebox/webhooks/{id}'],
  ['POST', '/api/oncebox/webhooks/{id}/test'],
  ['GET', '/api/v1/version'],
  ...['p', 'f', 'r'].flatMap((family) => [
    ['POST', `/${family}.json`],
    ['GET', `/${family}/{url_token}.json`],
    ['DELETE', `/${family}/{url_token}.json`],
    ['GET', `/${family}/{url_token}/preview.json`],
    ['GET', `/${family}/{url_token}/audit.json`],
    ['GET', `/${family}/active.json`],
    ['GET', `/${family}/expired.json`],
  ]),
]

const NOTHING_WRONG = { outside: [], complaints: [] }

needs('chromium').describe('in a browser', () => {
  const stage = createStage()
  const proxies: ReturnType<typeof Bun.serve>[] = []
  let browser: Browser
  const places = ['direct', 'behind a proxy that strips the path', 'behind a proxy that keeps the path']
  /** The URLs that a browser opens, by the deployment of the server. */
  const addresses: Record<string, string> = {}
  /** One push for each deployment. */
  const urlTokens: Record<string, string> = {}

  beforeAll(async () => {
    const direct = await stage.start()
    const behind = await stage.start({
      flags: ['--base-url', 'http://localhost/box', '--trusted-proxy', '127.0.0.1'],
    })
    addresses.direct = direct.url
    addresses['behind a proxy that strips the path'] = startProxy(behind.url, { strip: true })
    addresses['behind a proxy that keeps the path'] = startProxy(behind.url, { strip: false })
    const push = async (server: Started) =>
      (await (await server.create({ payload: 'x' }, { host: 'localhost' })).json()).url_token
    urlTokens.direct = await push(direct)
    for (const place of places.slice(1)) urlTokens[place] = await push(behind)
    browser = await launchBrowser()
  })

  afterAll(async () => {
    await browser?.close()
    for (const proxy of proxies) proxy.stop(true)
    await stage.clear()
  })

  /**
   * Starts a reverse proxy at /box. `strip` removes that prefix before it asks the server. All other paths
   * are 404.
   */
  function startProxy(target: string, { strip }: { strip: boolean }): string {
    const proxy = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: (request) => {
        const { pathname, search } = new URL(request.url)
        if (!pathname.startsWith('/box/')) return new Response('not here', { status: 404 })
        const path = strip ? pathname.slice('/box'.length) : pathname
        const headers = { host: 'localhost', 'accept-encoding': 'gzip' }
        // Retry: the server may close a kept-alive connection just when it is used again.
        return fetch(`${target}${path}${search}`, { headers, decompress: false, keepalive: false })
      },
    })
    proxies.push(proxy)
    return `http://127.0.0.1:${proxy.port}/box`
  }

  test.each(places)('the reference shows every endpoint, %s', async (place) => {
    const { page, outside, complaints } = await openPage(browser, `${addresses[place]}/api/v2/docs`)
    const shown = await page
      .locator('article.operation')
      .evaluateAll((operations) =>
        operations.map((operation) => (operation.querySelector('.place')?.textContent ?? '').split(' ')),
      )
    expect(shown.sort()).toEqual([...ENDPOINTS].sort())
    expect(await page.textContent('#createPush pre')).toContain(
      `'${place === 'direct' ? addresses.direct : 'http://localhost/box'}/api/v2/pushes'`,
    )
    expect({ outside, complaints }).toEqual(NOTHING_WRONG)
    await page.close()
  })

  test.each(places)('every page loads its style sheet and links correctly, %s', async (place) => {
    const { page, outside, complaints } = await openPage(browser, `${addresses[place]}/`)
    for (const path of ['/', '/api', `/p/${urlTokens[place]}`, `/p/${urlTokens[place]}/r`]) {
      expect((await page.goto(`${addresses[place]}${path}`))?.status()).toBe(200)
      expect(await page.locator('h1').count()).toBe(1)
      expect(await page.evaluate('getComputedStyle(document.querySelector("main")).maxWidth')).not.toBe(
        'none',
      )
      expect({ path, outside, complaints }).toEqual({ path, ...NOTHING_WRONG })
    }
    await page.close()
  })

  test('following a link, viewing its source and previewing it count no view', async () => {
    const server = await stage.start()
    const push = await (await server.create({ payload: 'x', expire_after_views: 1 })).json()
    const { page } = await openPage(browser, push.html_url)
    await page.reload()
    expect(await page.content()).not.toContain('"payload"')
    await page.close()
    expect((await (await server.retrieve(push.url_token)).json()).payload).toBe('x')
  })
})
