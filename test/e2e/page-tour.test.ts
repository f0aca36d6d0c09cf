// Checks every page in every state: accessibility, phones and touch, light and dark colour schemes.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { type FindFaults, prepareAxe } from '../support/axe.ts'
import { createStage } from '../support/binary.ts'
import { findBrokenWords, launchBrowser, measureLooks, watch } from '../support/chromium.ts'
import { needs } from '../support/needs.ts'
import { createWalkers, prepareTour, STOPS, type Stop, TOUR_OPTIONS } from '../support/tour.ts'

/** The tour takes a minute, or ten on a busy machine. */
const TOUR_MS = 1_200_000

const FRAME = join(import.meta.dir, '../../src/pages/frame')

const PHONE = { width: 320, height: 640 }
const DESK = { width: 1100, height: 800 }

type Look = { on: 'phone' | 'desk'; scheme: 'light' | 'dark' }

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

/** Returns the faults of the page as it is shown now. */
async function expectGoodLooks(page: Page, look: Look & { stop: string }, faults: string[]): Promise<void> {
  expect({ ...look, faults }).toEqual({ ...look, faults: [] })
  const broken = await page.evaluate(findBrokenWords)
  expect({ ...look, broken }).toEqual({ ...look, broken: [] })
  const { overflow, isDark } = await page.evaluate(measureLooks)
  expect({ ...look, overflow, isDark }).toEqual({ ...look, overflow: 0, isDark: look.scheme === 'dark' })
}

/**
 * Runs in the browser: lists controls that are too small for a finger. A checkbox counts together with its
 * label.
 */
function findSmall(): string[] {
  const pressed = 'button, .button, input:not([type=hidden]), select, summary, nav a, .list .title, .rows a'
  return [...document.querySelectorAll(pressed)]
    .filter((element) => element.checkVisibility())
    .filter((element) => {
      const label = element.matches('[type=checkbox], [type=radio]') ? element.closest('label') : null
      const beside = element.parentElement?.querySelector(`.tick > label[for="${element.id}"]`)
      const { width, height } = (label ?? beside ?? element).getBoundingClientRect()
      return Math.min(width, height) < 43.9
    })
    .map((element) => element.outerHTML.slice(0, 80))
}

/** Runs in the browser: lists the elements that are visible now and were not at the last call. */
function findNew(): string {
  const all = [...document.querySelectorAll('body *')].filter((element) => element.checkVisibility())
  const before: unknown = Reflect.get(window, 'shown')
  Object.assign(window, { shown: new Set(all) })
  return before instanceof Set
    ? all.flatMap((element) => (before.has(element) ? [] : element.outerHTML)).join('')
    : ''
}

/** Finds the styles and scripts that match a pattern, except those of the create form. */
function findOutsideCreating(pattern: RegExp): string[] {
  return [...new Glob('{styles,browser}/**/*.{css,js}').scanSync(FRAME)].filter(
    (path) =>
      !/^(styles\/create\.css|browser\/create\/)/.test(path) &&
      pattern.test(readFileSync(join(FRAME, path), 'utf8')),
  )
}

const readStyles = () =>
  [...new Glob('styles/*.css').scanSync(FRAME)]
    .map((path) => readFileSync(join(FRAME, path), 'utf8'))
    .join('\n')

needs('chromium').describe('in a browser', () => {
  const stage = createStage()
  let browser: Browser

  beforeAll(async () => {
    browser = await launchBrowser()
  })

  afterAll(async () => {
    await browser?.close()
    await stage.clear()
  })

  /**
   * Checks a page that was loaded on a phone: nothing has moved, and every control is large enough for a
   * finger.
   */
  async function expectFitForFingers(page: Page, stop: string): Promise<void> {
    const shifts = await page.evaluate(() => Reflect.get(window, 'shifts'))
    // The limit of a good page load, by the Web Vitals.
    expect({ stop, shifts: shifts < 0.1 }).toEqual({ stop, shifts: true })
    expect({ stop, small: await page.evaluate(findSmall) }).toEqual({ stop, small: [] })
  }

  /** The elements that a desktop shows and a phone hides, which axe has already checked. */
  const seenOnDesk = new Set([''])

  /**
   * Checks a page that was loaded on a phone, in light colours, then the same page on a desktop, in dark
   * ones. There, axe checks more than colours only if the desktop shows elements that no earlier page has
   * shown.
   */
  async function lookAtBoth(page: Page, stop: string, findFaults: FindFaults): Promise<void> {
    await expectFitForFingers(page, stop)
    await expectGoodLooks(page, { stop, on: 'phone', scheme: 'light' }, await findFaults())
    await page.evaluate(findNew)
    await page.setViewportSize(DESK)
    await page.emulateMedia({ colorScheme: 'dark' })
    const added = await page.evaluate(findNew)
    const faults = await findFaults(seenOnDesk.has(added) ? 'colours' : 'all')
    seenOnDesk.add(added)
    await expectGoodLooks(page, { stop, on: 'desk', scheme: 'dark' }, faults)
    await page.emulateMedia({ colorScheme: 'light' })
    await page.setViewportSize(PHONE)
  }

  /** Checks each stop. Meanwhile no page may load from another machine or break its policy. */
  async function goRound(
    stops: readonly Stop[],
    options: BrowserContextOptions,
    look: typeof lookAtBoth,
  ): Promise<void> {
    const server = await stage.start(TOUR_OPTIONS)
    // Colours that are still changing would be read as faults of contrast.
    const tour = await prepareTour(browser, server, {
      colorScheme: 'light',
      reducedMotion: 'reduce',
      ...options,
    })
    const contexts = Object.values(tour.people)
    const watched = contexts.map((context) => watch(context, server.url))
    const walkers = createWalkers(tour, countShifts)
    for (const one of stops) {
      const page = await walkers.visit(one)
      const client = await page.context().newCDPSession(page)
      await look(page, one.name, await prepareAxe(client))
      const withoutFocus = await page.evaluate(
        () => document.querySelectorAll('main [role=alert][autofocus]:not(:focus)').length,
      )
      expect({ stop: one.name, withoutFocus }).toEqual({ stop: one.name, withoutFocus: 0 })
      await client.detach()
    }
    await tour.close()
    const outside = watched.flatMap((one) => one.outside)
    expect(outside.filter((url) => !/^http:\/\/other\.localhost:/.test(url))).toEqual([])
    const complaints = watched.flatMap((one) => one.complaints)
    expect(complaints.filter((text) => !/status of (404|409|410|422)/.test(text))).toEqual([])
  }

  // If so, it is enough to check each page in one colour scheme on a phone, and in the other on a desktop.
  test('no colour rule applies only to wide windows', () => {
    const parts = readStyles().match(/@media[^{]*min-width[^{]*\{(?:[^{}]*\{[^{}]*\})*/g) ?? []
    expect(parts.length).toBeGreaterThan(3)
    expect(parts.filter((part) => /(^|[\s-])(color|background):/m.test(part))).toEqual([])
  })

  test(
    'no page has a fault that axe knows, loads from elsewhere, breaks its policy, is too wide, too small for a finger, or moves while it loads',
    () => goRound(STOPS, { viewport: PHONE, hasTouch: true }, lookAtBoth),
    TOUR_MS,
  )

  test(
    'no page has such a fault on a desktop with a mouse, where only the create form differs: a drop target for files, and a shortcut',
    async () => {
      expect(findOutsideCreating(/\((any-)?(pointer|hover):/)).toEqual([])
      const creating = STOPS.filter(({ name }) => name === 'create' || name === 'create-files')
      expect(creating).toHaveLength(2)
      await goRound(creating, { viewport: DESK }, async (page, stop, findFaults) =>
        expectGoodLooks(page, { stop, on: 'desk', scheme: 'light' }, await findFaults()),
      )
    },
    TOUR_MS,
  )
})
