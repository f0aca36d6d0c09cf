// A browser that trusts the authority of a server: no warning by name or address, and no trust beyond its
// names.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { makeLeaf } from '../../src/crypto/certificates.ts'
import { makeFolder, removeFolder, type Started, startBinary } from '../support/binary.ts'
import { launchBrowser } from '../support/chromium.ts'
import { needs } from '../support/needs.ts'

const DAY = 24 * 60 * 60 * 1000
const home = makeFolder()
const stranger = makeFolder()

let server: Started
let browser: Browser
let page: Page

async function trust(pem: string): Promise<void> {
  const store = join(home, '.pki', 'nssdb')
  mkdirSync(store, { recursive: true })
  for (const words of [
    ['-N', '--empty-password'],
    ['-A', '-t', 'C,,', '-n', 'oncebox', '-i', pem],
  ]) {
    const { exitCode } = Bun.spawnSync(['certutil', '-d', `sql:${store}`, ...words])
    expect(exitCode).toBe(0)
  }
}

needs('chromium', 'certutil').describe('a browser', async () => {
  beforeAll(async () => {
    server = await startBinary({ flags: ['--lan', '--mdns', 'off', '--http-port', '0', '--host', '0.0.0.0'] })
    await trust(join(server.dataDir, 'tls-authority.pem'))
    browser = await launchBrowser(['localhost', 'bank.example', 'foreign.local'], { home })
    page = await browser.newPage()
  })

  afterAll(async () => {
    await browser?.close()
    await server?.end()
    for (const folder of [home, stranger, server?.dataDir ?? home]) removeFolder(folder)
  })

  const visit = (address: string) => page.goto(`https://${address}:${server.port}/`)

  /** Use a separate page: the error page of a refused address sometimes aborts the next navigation. */
  async function refusalOf(url: string, visitor = browser): Promise<string> {
    const own = await visitor.newPage()
    const refusal = await own.goto(url).then(
      (answer) => `opened with ${answer?.status()}`,
      (error: Error) => error.message,
    )
    await own.close()
    return refusal
  }

  test.each(['localhost', '127.0.0.1'])(
    'opens it as %s without a warning, as a secure context',
    async (address) => {
      const answer = await visit(address)
      expect(answer?.status()).toBe(200)
      expect(await page.evaluate(() => window.isSecureContext)).toBe(true)
    },
  )

  test('signs in with cookies that are sent only over TLS', async () => {
    await server.command(['user', 'add', 'ann@example.org', '--password-stdin'], 'correct horse battery')
    await page.goto(`https://localhost:${server.port}/sign-in`)
    await page.fill('input[name=email]', 'ann@example.org')
    await page.fill('input[name=password]', 'correct horse battery')
    await page.press('input[name=password]', 'Enter')
    await page.waitForURL((url) => !url.pathname.includes('sign-in'))
    const cookies = await page.context().cookies()
    expect(cookies.find(({ name }) => name.startsWith('__Host-oncebox_session'))?.secure).toBe(true)
  })

  test('refuses a name that the certificate does not contain', async () => {
    expect(await refusalOf(`https://foreign.local:${server.port}/`)).toContain('ERR_CERT_COMMON_NAME_INVALID')
  })

  test('refuses a foreign name even from a thief of the authority', async () => {
    const pem = readFileSync(join(server.dataDir, 'tls-authority.pem'), 'utf8')
    const [certificate = '', key = ''] = pem.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g) ?? []
    const validity = { from: Date.now() - DAY, until: Date.now() + DAY }
    const forged = await makeLeaf({ certificate, key }, { names: ['bank.example'], addresses: [], validity })
    const thief = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      tls: { cert: `${forged.certificate}\n${certificate}`, key: forged.key },
      fetch: () => new Response('forged'),
    })
    expect(await refusalOf(`https://bank.example:${thief.port}/`)).toContain('ERR_CERT')
    await thief.stop(true)
  })

  test('warns without the authority, except on the trust page over plain HTTP', async () => {
    const other = await launchBrowser([], { home: stranger })
    expect(await refusalOf(`https://127.0.0.1:${server.port}/`, other)).toContain(
      'ERR_CERT_AUTHORITY_INVALID',
    )
    const trustPage = /http:\/\/\S+:(\d+)\/trust/.exec(server.stdout())?.[1]
    expect(trustPage).toBeDefined()
    const visited = await other.newPage()
    const answer = await visited.goto(`http://127.0.0.1:${trustPage}/trust`)
    expect(answer?.status()).toBe(200)
    expect(await visited.locator('form').count()).toBe(0)
    await other.close()
  })
})
