// Takes the pictures of the README, light and dark: `npm run readme:pictures`.

import { join } from 'node:path'
import { createStage } from '../test/support/binary.ts'
import { launchBrowser } from '../test/support/chromium.ts'

const FOLDER = join(import.meta.dir, '..', 'docs', 'images')
const VIEWPORT = { width: 1100, height: 720 }
/** Both together, so that the page of the repository stays light. */
const MAX_BYTES = 300_000

const stage = createStage()
const browser = await launchBrowser()
try {
  const { url } = await stage.start()
  let bytes = 0
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ viewport: VIEWPORT, colorScheme, locale: 'en-GB' })
    await page.goto(url)
    await page.fill('#payload', 'The new key of the office safe: 38-14-71')
    await page.evaluate(() => window.scrollTo(0, 0))
    bytes += (await page.screenshot({ path: join(FOLDER, `start-${colorScheme}.png`) })).length
    await page.close()
  }
  if (bytes > MAX_BYTES) throw new Error(`the pictures have ${bytes} bytes, at most ${MAX_BYTES} are wanted`)
  console.log(`The pictures are in ${FOLDER}: ${bytes} bytes`)
} finally {
  await browser.close()
  await stage.clear()
}
