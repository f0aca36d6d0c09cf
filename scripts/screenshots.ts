// Writes a screenshot of every page in each state, in light, dark and on a phone: `npm run screenshots`.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContextOptions } from 'playwright-core'
import { createStage } from '../test/support/binary.ts'
import { launchBrowser } from '../test/support/chromium.ts'
import { prepareTour, STOPS, TOUR_OPTIONS, visitStop } from '../test/support/tour.ts'

const FOLDER = join(import.meta.dir, '..', 'screenshots')

const VARIANTS: Record<string, BrowserContextOptions> = {
  light: { viewport: { width: 1100, height: 800 }, colorScheme: 'light' },
  dark: { viewport: { width: 1100, height: 800 }, colorScheme: 'dark' },
  phone: { viewport: { width: 360, height: 740 }, colorScheme: 'light' },
}

const only = process.argv.slice(2)
const stage = createStage()
const browser = await launchBrowser()
mkdirSync(FOLDER, { recursive: true })
try {
  for (const [variant, options] of Object.entries(VARIANTS)) {
    const tour = await prepareTour(browser, await stage.start(TOUR_OPTIONS), options)
    for (const stop of STOPS) {
      if (only.length > 0 && !only.includes(stop.name)) continue
      const page = await visitStop(stop, tour)
      await page.screenshot({ path: join(FOLDER, `${stop.name}-${variant}.png`), fullPage: true })
      await page.close()
    }
    await tour.close()
  }
  console.log(`The pictures are in ${FOLDER}`)
} finally {
  await browser.close()
  await stage.clear()
}
