// Every page in each of its states: for screen readers, phones and fingers, in the light and in the dark.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { createStage } from '../support/binary.ts'
import { launchBrowser, measureLooks, skipBrowserTests, watch } from '../support/chromium.ts'
import { prepareTour, STOPS, TOUR_OPTIONS, visitStop } from '../support/tour.ts'

/** A round takes a minute or two; other tests beside it may make it several. */
const ROUND_MS = 600_000

type Violation = { id: string; nodes: { html: string; failureSummary?: string }[] }

/** Everything axe-core knows: WCAG 2.2 AA and its best practices. */
async function findFaults(page: Page): Promise<string[]> {
  // The policy of the pages forbids scripts from elsewhere; the browser's own tools may run them all the same.
  const client = await page.context().newCDPSession(page)
  await client.send('Runtime.evaluate', { expression: axe.source })
  const { result } = await client.send('Runtime.evaluate', {
    expression:
      'axe.run(document, { resultTypes: ["violations"] }).then((found) => JSON.stringify(found.violations))',
    awaitPromise: true,
  })
  await client.detach()
  const violations: Violation[] = JSON.parse(result.value)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  )
}

/** Adds up the layout shifts of a page in `window.shifts`. */
function countShifts(page: Page) {
  return page.addInitScript(() => {
    Object.assign(window, { shifts: 0 })
    let isUsed = false
    const use = () => {
      isUsed = true
    }
    for (const name of ['pointerdown', 'keydown', 'input']) addEventListener(name, use, true)
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & {
        value: number
        hadRecentInput: boolean
      })[]) {
        if (!isUsed && !entry.hadRecentInput)
          Object.assign(window, { shifts: Reflect.get(window, 'shifts') + entry.value })
      }
    }).observe({ type: 'layout-shift', buffered: true })
  })
}

/** Faults that a person would meet on this page, by the scheme that it shows now. */
async function expectGoodLooks(page: Page, stop: string, scheme: 'light' | 'dark'): Promise<void> {
  expect({ stop, scheme, faults: await findFaults(page) }).toEqual({ stop, scheme, faults: [] })
  const { overflow, isDark } = await page.evaluate(measureLooks)
  expect({ stop, overflow, isDark }).toEqual({ stop, overflow: 0, isDark: scheme === 'dark' })
}

/** Runs in the page: colours that are still changing would be read as faults of contrast. */
async function endTransitions(): Promise<void> {
  const changing = document.getAnimations().filter((one) => one instanceof CSSTransition)
  await Promise.all(changing.map(({ finished }) => finished.catch(() => undefined)))
}

/** What can be pressed and is smaller than a finger needs. */
function findSmall(page: Page): Promise<string[]> {
  return page
    .locator('button, .button, input:not([type=hidden]), select, summary, nav a')
    .evaluateAll((elements) =>
      elements
        .filter((element) => element.checkVisibility())
        .map((element) => ({
          html: element.outerHTML.slice(0, 80),
          ...element.getBoundingClientRect().toJSON(),
        }))
        .filter(({ width, height }) => Math.min(width, height) < 24)
        .map(({ html }) => html),
    )
}

describe.skipIf(skipBrowserTests)('in a browser', () => {
  const stage = createStage()
  let browser: Browser

  beforeAll(async () => {
    browser = await launchBrowser()
  })

  afterAll(async () => {
    await browser?.close()
    await stage.clear()
  })

  type Visit = {
    prepare?: (page: Page) => Promise<unknown>
    look: (page: Page, stop: string) => Promise<void>
  }

  /** Visits every page, which neither leaves the machine nor breaks its policy meanwhile. */
  async function goRound(
    options: Parameters<typeof prepareTour>[2],
    { prepare, look }: Visit,
  ): Promise<void> {
    const server = await stage.start(TOUR_OPTIONS)
    const tour = await prepareTour(browser, server, options)
    const watched = await Promise.all(Object.values(tour.people).map((context) => watch(context, server.url)))
    for (const one of STOPS) {
      const page = await visitStop(one, tour, prepare)
      await look(page, one.name)
      const focused = page.locator('main [role=alert][autofocus]:not(:focus)')
      expect({ stop: one.name, withoutFocus: await focused.count() }).toEqual({
        stop: one.name,
        withoutFocus: 0,
      })
      await page.close()
    }
    await tour.close()
    expect(watched.flatMap(({ outside }) => outside)).toEqual([])
    const complaints = watched.flatMap((one) => one.complaints)
    expect(complaints.filter((text) => !/status of (404|409|422)/.test(text))).toEqual([])
  }

  test(
    'no page has a fault that axe knows, leaves the machine or its policy, or is too wide: light and dark',
    () =>
      goRound(
        { colorScheme: 'light', viewport: { width: 1100, height: 800 } },
        {
          look: async (page, stop) => {
            await expectGoodLooks(page, stop, 'light')
            await page.emulateMedia({ colorScheme: 'dark' })
            await page.evaluate(endTransitions)
            await expectGoodLooks(page, stop, 'dark')
          },
        },
      ),
    ROUND_MS,
  )

  test(
    'nor on a phone, where everything is large enough for a finger, and nothing moves while a page loads',
    () =>
      goRound(
        { colorScheme: 'light', viewport: { width: 320, height: 640 }, hasTouch: true },
        {
          prepare: countShifts,
          look: async (page, stop) => {
            const shifts = await page.evaluate(() => Reflect.get(window, 'shifts'))
            // The limit of a good page load, by the Web Vitals.
            expect({ stop, shifts: shifts < 0.1 }).toEqual({ stop, shifts: true })
            expect({ stop, small: await findSmall(page) }).toEqual({ stop, small: [] })
            await expectGoodLooks(page, stop, 'light')
          },
        },
      ),
    ROUND_MS,
  )
})
