// Takes the pictures of the README, light and dark: `npm run readme:pictures`.

import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { createStage } from '../test/support/binary.ts'
import { launchBrowser } from '../test/support/chromium.ts'
import { prepareTour, type Tour } from '../test/support/tour.ts'

const FOLDER = join(import.meta.dir, '..', 'docs', 'images')
const VIEWPORT = { width: 1100, height: 720 }
/** The limit for all pictures together, of which a reader loads half: those in light or in dark. */
const MAX_BYTES = 640_000

/** The name of the server in the pictures. */
const NAME = 'once.example'

/** Pages by the name of the picture. */
const PICTURES: Record<string, (tour: Tour) => Promise<Page>> = {
  start: async ({ people, url }) => {
    const page = await people.stranger.newPage()
    // The card of the recipient is closed to `nameServer`.
    await page.route('**/?card=*', async (route) => {
      const response = await route.fetch()
      const body = (await response.text()).replaceAll(new URL(url).host, NAME)
      await route.fulfill({ response, body })
    })
    await page.goto(url)
    await page.fill('#payload', 'The new key of the office safe: 38-14-71')
    return page
  },
  receive: async ({ people, push }) => {
    const page = await people.stranger.newPage()
    await page.goto((await push({ expire_after_views: 1 })).html_url)
    return page
  },
  ask: async ({ people, url }) => {
    const page = await people.member.newPage()
    await page.goto(`${url}/requests`)
    await page.fill('#message', 'The password of the old router, please.')
    return page
  },
  list: async ({ people, push, server, url }) => {
    for (const { opened, ...fields } of SHARED) {
      const { url_token } = await push(fields)
      for (let n = 0; n < opened; n += 1) await server.retrieve(url_token)
    }
    const page = await people.member.newPage()
    await page.goto(`${url}/pushes`)
    return page
  },
}

const SHARED = [
  { name: 'Anna: contract with the bank', expire_after_views: 3, opened: 1 },
  { name: 'Ben: password of the printer', expire_after_views: 1, opened: 1 },
  { name: 'Meeting room, Wi-Fi', kind: 'qr', expire_after_views: 50, opened: 4 },
  { name: 'Cleo: keys of the new server', expire_after_views: 1, expire_after_days: 1, opened: 0 },
]

const stage = createStage()
const browser = await launchBrowser()
try {
  let bytes = 0
  for (const colorScheme of ['light', 'dark'] as const) {
    const server = await stage.start()
    const tour = await prepareTour(browser, server, { viewport: VIEWPORT, colorScheme })
    for (const [name, open] of Object.entries(PICTURES)) {
      const page = await open(tour)
      await page.evaluate(nameServer, { from: new URL(server.url).host, to: NAME })
      bytes += (await page.screenshot({ path: join(FOLDER, `${name}-${colorScheme}.png`) })).length
      await page.close()
    }
    await tour.close()
  }
  if (bytes > MAX_BYTES) throw new Error(`the pictures have ${bytes} bytes, at most ${MAX_BYTES} are wanted`)
  console.log(`The pictures are in ${FOLDER}: ${bytes} bytes`)
} finally {
  await browser.close()
  await stage.clear()
}

/** Runs in the page: replaces the address of this machine by a name. */
function nameServer({ from, to }: { from: string; to: string }): void {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
    text.nodeValue = text.nodeValue?.replaceAll(from, to) ?? ''
  window.scrollTo(0, 0)
}
