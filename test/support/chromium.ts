// A real browser for the tests, and a record of everything it asks for.

import { type Browser, chromium } from 'playwright-core'

const executablePath = Bun.which('chromium') ?? Bun.which('chromium-browser') ?? Bun.which('google-chrome')

/** Browser tests are skipped without one, except where continuous integration must have it. */
export const skipBrowserTests = executablePath === null && process.env.CI !== 'true'

if (skipBrowserTests) console.log('No Chromium was found: the tests in a browser are skipped.')

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export function launchBrowser(): Promise<Browser> {
  if (executablePath === null) throw new Error('Chromium is missing: apt-get install chromium')
  return chromium.launch({ executablePath, args: ARGS })
}

/** A page that reaches one origin only; tells what else it tried and what it complained about. */
export async function openPage(browser: Browser, url: string) {
  const { origin } = new URL(url)
  const outside: string[] = []
  const complaints: string[] = []
  const page = await browser.newPage()
  await page.route('**/*', (route) => {
    const asked = route.request().url()
    if (asked.startsWith(origin) || asked.startsWith('data:')) return route.continue()
    outside.push(asked)
    return route.abort()
  })
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.goto(url)
  return { page, outside, complaints }
}
