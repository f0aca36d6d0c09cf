// A real browser for the tests, disconnected from every network, and a record of everything that it requests.

import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  chromium,
  type Page,
} from 'playwright-core'
import { findBrowser } from '../../scripts/programs.ts'

/** The timeout of every page action, generous for a busy machine. */
const PATIENCE_MS = 120_000

/**
 * Playwright's own list, which ours would replace, and two more features, last: each would start a second
 * process for every page, because its COOP header differs from that of the blank page before it, or in
 * advance for a page that may never be opened.
 */
const DISABLED_FEATURES = [
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'MediaRouter',
  'OptimizationHints',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'CrossOriginOpenerPolicy',
  'SpareRendererForSitePerProcess',
]

const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${DISABLED_FEATURES.join(',')}`,
  // Send external requests to a port without a listener; connect to loopback directly.
  '--proxy-server=http://127.0.0.1:9',
]

/** `names`: hosts that resolve to this machine. `home`: holds the authorities that the browser trusts. */
export async function launchBrowser(
  names: readonly string[] = [],
  { home }: { home?: string } = {},
): Promise<Browser> {
  const executablePath = findBrowser()
  if (executablePath === null) throw new Error('Chromium is missing: npm run test:tools')
  const rules = names.map((name) => `MAP ${name} 127.0.0.1`).join(',')
  const args = names.length === 0 ? [] : [`--host-resolver-rules=${rules}`]
  const bypass = ['127.0.0.1', 'localhost', ...names].join(';')
  const env = home === undefined ? {} : { env: { ...process.env, HOME: home } }
  const browser = await chromium.launch({
    executablePath,
    args: [...ARGS, `--proxy-bypass-list=${bypass}`, ...args],
    timeout: PATIENCE_MS,
    ...env,
  })
  return browser.on('context', (context) => context.setDefaultTimeout(PATIENCE_MS))
}

/** Requests of a page beyond its origin, and complaints of the browser: both stay empty. */
/** Gives a page an authenticator that is built into the device and recognises its owner. Returns its id. */
export async function plugInAuthenticator(client: CDPSession): Promise<string> {
  await client.send('WebAuthn.enable')
  const options = {
    ...({ protocol: 'ctap2', transport: 'internal' } as const),
    ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
    automaticPresenceSimulation: true,
  }
  return (await client.send('WebAuthn.addVirtualAuthenticator', { options })).authenticatorId
}

export type Watched = { outside: string[]; complaints: string[] }

/**
 * Records what the pages of a context must not do. Only listens: routing requests through this process would
 * take a tenth of the browser's time, and would disable its cache.
 */
export function watch(context: BrowserContext, url: string): Watched {
  const { origin } = new URL(url)
  const watched: Watched = { outside: [], complaints: [] }
  context.on('request', (request) => {
    const asked = request.url()
    if (!asked.startsWith(`${origin}/`) && !asked.startsWith('data:') && !asked.startsWith('blob:'))
      watched.outside.push(asked)
  })
  // A violated content security policy is an error on the console.
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') watched.complaints.push(message.text())
  })
  context.on('weberror', (error) => watched.complaints.push(error.error().message))
  context.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText
    // The page was closed or left, or the request became a download. That is no failure.
    if (reason !== 'net::ERR_ABORTED') watched.complaints.push(`${request.url()} failed: ${reason}`)
  })
  return watched
}

type Visitor = { context: BrowserContext; page: Page; watched: Watched }

/**
 * Separate contexts for the people of a test, closed at its end, and pages that the tests of a file share.
 */
export function createVisitors() {
  let visitors: Visitor[] = []
  const shared = new Map<BrowserContextOptions, Visitor>()

  async function make(browser: Browser, url: string, options: BrowserContextOptions): Promise<Visitor> {
    const context = await browser.newContext({ locale: 'en-GB', ...options })
    return { context, watched: watch(context, url), page: await context.newPage() }
  }

  async function open(browser: Browser, url: string, options: BrowserContextOptions): Promise<Page> {
    const visitor = await make(browser, url, options)
    visitors.push(visitor)
    return visitor.page
  }

  /**
   * Returns the page that an earlier test had with the same options object, without its cookies and storage:
   * a new page takes a quarter of a second of CPU time. A test that gives its page a script, a route, a clock
   * or another size must open a new one.
   */
  async function openAgain(browser: Browser, url: string, options: BrowserContextOptions): Promise<Page> {
    const known = shared.get(options)
    if (known === undefined) {
      const visitor = await make(browser, url, options)
      shared.set(options, visitor)
      // A form that was filled in asks before it is left.
      visitor.page.on('dialog', (dialog) => dialog.accept())
      return visitor.page
    }
    const { page, context } = known
    await page.goto(`${url}/up`)
    await page.evaluate('localStorage.clear(); sessionStorage.clear()')
    await context.clearCookies()
    return page
  }

  /** Closes all that are not shared, and returns what they must not have done. */
  async function leave(): Promise<Watched> {
    // Reset first, so that a fault of one test is not reported by the next.
    const left = visitors
    visitors = []
    for (const { context } of left) await context.close()
    const all = [...left, ...shared.values()]
    return {
      outside: all.flatMap(({ watched }) => watched.outside.splice(0)),
      complaints: all.flatMap(({ watched }) => watched.complaints.splice(0)),
    }
  }

  return { open, openAgain, leave }
}

/** Opens a URL in a new context, which is closed with the page. */
export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}) {
  const page = await browser.newPage(options)
  const { outside, complaints } = watch(page.context(), url)
  const response = await page.goto(url)
  return { page, outside, complaints, status: response?.status() ?? 0 }
}

/** Runs in the browser: returns the short words of prose that the page breaks in two. */
export function findBrokenWords(): string[] {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  const broken: string[] = []
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    if (text.parentElement?.closest('pre, code, textarea, bdi, .visually-hidden, [dir=ltr]') !== null)
      continue
    for (const { 0: word, index } of (text.textContent ?? '').matchAll(/[\p{Script=Latin}\d]{2,15}/gu)) {
      range.setStart(text, index)
      range.setEnd(text, index + word.length)
      const lines = new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom)))
      if (lines.size > 1) broken.push(word)
    }
  }
  return broken
}

/**
 * Runs in the browser: returns how much wider the page is than the window, and the contrast of its text
 * against the background, as WCAG defines it.
 */
export function measureLooks() {
  const { documentElement: root, body } = document
  const canvas = document.createElement('i')
  canvas.style.cssText = 'background: Canvas'
  const colourOf = (colour: string) => (colour.match(/[\d.]+/g) ?? []).map(Number)
  const backgroundOf = (element: Element | null): string => {
    if (element === null) return getComputedStyle(body.appendChild(canvas)).backgroundColor
    const { backgroundColor } = getComputedStyle(element)
    return colourOf(backgroundColor)[3] === 0 ? backgroundOf(element.parentElement) : backgroundColor
  }
  const luminance = (colour: string) => {
    const [red = 0, green = 0, blue = 0] = colourOf(colour).map((part) => {
      const share = part / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const contrastOf = (element: Element) => {
    const lights = [luminance(getComputedStyle(element).color), luminance(backgroundOf(element))].sort(
      (a, b) => a - b,
    )
    return ((lights[1] ?? 0) + 0.05) / ((lights[0] ?? 0) + 0.05)
  }
  const texts = [...document.querySelectorAll('h1, p, li, a, code')]
  return {
    // Do not use clientWidth, which includes the space of a hidden scrollbar.
    overflow: root.scrollWidth - root.offsetWidth,
    isDark: luminance(backgroundOf(body)) < 0.2,
    isReadable: texts.every((element) => contrastOf(element) >= 4.5),
  }
}
