// The main pages in every language, at the width of the narrowest phone: nothing scrolls sideways, is cut off
// or reads oddly.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { LANGUAGES, tagOf } from '../../src/domain/language.ts'
import { createStage } from '../support/binary.ts'
import { launchBrowser, measureLooks } from '../support/chromium.ts'
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

/**
 * Returns the words for the kinds that are broken across lines. Japanese and similar languages may break
 * anywhere.
 */
const brokenWords = (page: Page) =>
  page.evaluate(() => {
    const range = document.createRange()
    return [...document.querySelectorAll('.kinds label')]
      .flatMap((label) => [...label.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE))
      .flatMap((text) =>
        [...(text.nodeValue ?? '').matchAll(/[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]+/gu)]
          .filter(({ 0: word, index }) => {
            range.setStart(text, index)
            range.setEnd(text, index + word.length)
            return range.getClientRects().length > 1
          })
          .map(([word]) => word),
      )
  })

/** Returns dates without a name of the month, and sentences with two full stops: "2:05 p.m..". */
const oddTexts = async (page: Page) =>
  (await page.innerText('body')).match(/\d M\d+ \d|^Today$|[^.]\.\.(?!\.)/gm) ?? []

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
      brokenWords: await brokenWords(page),
      oddTexts: language === 'en' ? [] : await oddTexts(page),
    }
    expect({ stop: stop.name, ...found }).toEqual({
      stop: stop.name,
      lang: tagOf(language),
      width: WIDTH,
      cutOff: [],
      brokenWords: [],
      oddTexts: [],
    })
  }
  await localized.close()
})

/** The languages with the longest words in the header, and the narrowest windows with a row of links. */
test.each(['ru', 'uk', 'el'] as const)(
  'the header of an administrator fits a tablet in %s',
  async (language) => {
    const localized = await tourWith(browser, tour, { locale: tagOf(language), timezoneId: 'UTC' })
    const page = await localized.people.admin.newPage()
    await page.goto(localized.url)
    for (const width of [737, 816]) {
      await page.setViewportSize({ width, height: 800 })
      const { overflow } = await page.evaluate(measureLooks)
      const isApart = await page.evaluate(() => {
        const [brand, links] = [...document.querySelectorAll('.top .brand, .top nav > ul')]
        const gap = (links?.getBoundingClientRect().left ?? 0) - (brand?.getBoundingClientRect().right ?? 0)
        return gap >= 0 && (brand?.scrollWidth ?? 0) <= (brand?.clientWidth ?? 0)
      })
      expect({ language, width, overflow, isApart }).toEqual({ language, width, overflow: 0, isApart: true })
    }
    await localized.close()
  },
)
