// The main pages in every language, as narrow as a phone may be: nothing scrolls sideways or is cut off.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { LANGUAGES, tagOf } from '../../src/domain/language.ts'
import { createStage } from '../support/binary.ts'
import { launchBrowser } from '../support/chromium.ts'
import {
  createWalkers,
  prepareTour,
  STOPS,
  STOPS_OF_LANGUAGES,
  TOUR_OPTIONS,
  type Tour,
  tourWith,
} from '../support/tour.ts'

const WIDTH = 320
const stage = createStage()
let browser: Browser
let tour: Tour

beforeAll(async () => {
  browser = await launchBrowser()
  tour = await prepareTour(browser, await stage.start(TOUR_OPTIONS))
})

afterAll(async () => {
  await browser.close()
  await stage.clear()
})

/** Returns the texts of buttons and links that are wider than their place. */
const cutOff = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('button, a.button, summary, label, h1, h2, .tabs a')]
      .filter((element) => element.checkVisibility() && getComputedStyle(element).overflowX === 'hidden')
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
      .map(({ innerText }) => innerText),
  )

test.each(LANGUAGES)('the main pages fit a narrow phone in %s', async (language) => {
  const viewport = { width: WIDTH, height: 700 }
  const localized = await tourWith(browser, tour, { locale: tagOf(language), timezoneId: 'UTC', viewport })
  const { visit } = createWalkers(localized, async () => undefined)
  for (const stop of STOPS.filter(({ name }) => STOPS_OF_LANGUAGES.includes(name))) {
    const page = await visit(stop)
    const found = {
      lang: await page.getAttribute('html', 'lang'),
      width: await page.evaluate(() => document.documentElement.scrollWidth),
      cutOff: await cutOff(page),
    }
    expect({ stop: stop.name, ...found }).toEqual({
      stop: stop.name,
      lang: tagOf(language),
      width: WIDTH,
      cutOff: [],
    })
  }
  await localized.close()
})
