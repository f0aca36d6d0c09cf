// The stops of the tour at which the browser encrypts or decrypts.

import { newKey } from '../../src/age/keys.ts'
import { sealText } from '../../src/age/sealing.ts'
import { SUBMIT } from './create-page.ts'
import { follow } from './pressing.ts'
import type { Stop, Tour } from './tour.ts'

const LINES = 'host: db.example.org\nuser: reports\npassword: k3m9-qx2v-n4t8'
const OPEN = 'main form button.primary'

/** Creates a push of the member that a program has encrypted. Resolves to its link with the key. */
async function sealedPush({ push }: Tour, fields: Record<string, unknown> = {}) {
  const { recipient, linkKey, keyCheck, identity } = await newKey()
  const payload = await sealText(LINES, [recipient])
  const sealed = { payload, end_to_end: true, key_check: keyCheck, ...fields }
  const { html_url, url_token } = await push(sealed)
  return { link: `${html_url}#${linkKey}`, url_token, identity }
}

export const SEALED_STOPS: Stop[] = [
  {
    name: 'sealed-create',
    as: 'member',
    visit: async (page, { url }) => {
      await page.goto(url)
      await page.check('#end_to_end')
      await page.fill('#payload', LINES)
    },
  },
  {
    name: 'sealed-created',
    as: 'member',
    visit: async (page, { url }) => {
      await page.goto(url)
      await page.check('#end_to_end')
      await page.fill('#payload', LINES)
      await page.click(SUBMIT)
      await page.waitForSelector('[data-lacks-key]:not([hidden])')
    },
  },
  {
    name: 'sealed-receive-cut',
    as: 'stranger',
    visit: async (page, tour) => {
      await page.goto((await sealedPush(tour)).link.slice(0, -1))
      await page.waitForSelector('#whole-link:visible')
    },
  },
  {
    name: 'sealed-receive-identity',
    as: 'stranger',
    visit: async (page, tour) => {
      await page.goto((await sealedPush(tour, { key_check: null })).link.replace(/#.*/, ''))
      await page.waitForSelector('#identity:visible')
    },
  },
  {
    name: 'sealed-revealed',
    as: 'stranger',
    visit: async (page, tour) => {
      await page.goto((await sealedPush(tour)).link)
      await page.click(OPEN)
      await page.waitForSelector('pre.lines')
    },
  },
  {
    name: 'sealed-refused',
    as: 'stranger',
    visit: async (page, tour) => {
      const foreign = await sealText('foreign', [(await newKey()).recipient])
      await page.goto((await sealedPush(tour, { payload: foreign })).link)
      await page.click(OPEN)
      await page.waitForSelector('[data-saves-sealed]:not([hidden])')
    },
  },
  {
    name: 'sealed-answer',
    as: 'stranger',
    visit: async (page, { ask }) => {
      const { recipient } = await newKey()
      await page.goto((await ask({ message: 'The contract, please.', recipient })).html_url)
      await page.waitForSelector(`${SUBMIT}:enabled`)
    },
  },
  {
    name: 'sealed-received',
    as: 'member',
    visit: async (page, { url, ask, send }) => {
      const { recipient } = await newKey()
      const { url_token } = await ask({ name: 'Router in Oslo', recipient })
      await send(url_token, { payload: 'sesame' })
      await page.goto(`${url}/requests/${url_token}`)
      await follow(page, () => page.click('#opened form button'))
      await page.waitForSelector('#identity:visible')
    },
  },
  {
    name: 'sealed-key',
    as: 'member',
    visit: async (page, { url }) => {
      await page.goto(`${url}/account`)
      await page.click('#age-key summary')
      await page.click('[data-makes-key]')
      await page.waitForSelector('#age-key [data-told]:not([hidden])')
      await page.locator('#age-key').scrollIntoViewIfNeeded()
    },
  },
]
