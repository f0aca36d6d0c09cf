// Writes a screenshot of every page in each state, in light, dark and on a phone: `npm run screenshots`.
// Names of stops restrict it. With `-- languages` and perhaps their codes: of the main pages in each
// language.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { LANGUAGES } from '../src/domain/language.ts'
import { createStage } from '../test/support/binary.ts'
import { launchBrowser } from '../test/support/chromium.ts'
import {
  prepareTour,
  STOPS,
  STOPS_OF_LANGUAGES,
  TOUR_OPTIONS,
  type Tour,
  tourWith,
  visitStop,
} from '../test/support/tour.ts'

const FOLDER = join(import.meta.dir, '..', 'screenshots')

const VARIANTS: Record<string, BrowserContextOptions> = {
  light: { viewport: { width: 1100, height: 800 }, colorScheme: 'light' },
  dark: { viewport: { width: 1100, height: 800 }, colorScheme: 'dark' },
  phone: { viewport: { width: 360, height: 740 }, colorScheme: 'light' },
}
const WIDTHS_OF_LANGUAGES = [1280, 320]

async function takePictures(
  tour: Tour,
  only: readonly string[],
  variant: string,
  widths?: readonly number[],
) {
  for (const stop of STOPS) {
    if (only.length > 0 && !only.includes(stop.name)) continue
    const page = await visitStop(stop, tour)
    for (const width of widths ?? [null]) {
      if (width !== null) await page.setViewportSize({ width, height: 800 })
      const size = width === null ? '' : `-${width}`
      await page.screenshot({ path: join(FOLDER, `${stop.name}-${variant}${size}.png`), fullPage: true })
    }
    await page.close()
  }
  await tour.close()
}

async function takeLanguages(browser: Browser, languages: readonly string[]): Promise<void> {
  const tour = await prepareTour(browser, await stage.start(TOUR_OPTIONS))
  for (const locale of languages) {
    const localized = await tourWith(browser, tour, { locale, timezoneId: 'UTC' })
    await takePictures(localized, STOPS_OF_LANGUAGES, locale, WIDTHS_OF_LANGUAGES)
  }
  await tour.close()
}

const [word, ...codes] = process.argv.slice(2)
const stage = createStage()
const browser = await launchBrowser()
mkdirSync(FOLDER, { recursive: true })
try {
  if (word === 'languages') await takeLanguages(browser, codes.length > 0 ? codes : LANGUAGES)
  else
    for (const [variant, options] of Object.entries(VARIANTS))
      await takePictures(
        await prepareTour(browser, await stage.start(TOUR_OPTIONS), options),
        process.argv.slice(2),
        variant,
      )
  console.log(`The pictures are in ${FOLDER}`)
} finally {
  await browser.close()
  await stage.clear()
}
