// The pages as an installed app: Chromium accepts the manifest, and shared content fills in the form.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { createStage, type Started } from '../support/binary.ts'
import { createVisitors, launchBrowser } from '../support/chromium.ts'
import { needs } from '../support/needs.ts'
import { MEMBER, PASSWORD, signIn } from '../support/tour.ts'

needs('chromium').describe('in a browser', () => {
  const stage = createStage()
  const visitors = createVisitors()
  let browser: Browser
  let server: Started

  beforeAll(async () => {
    server = await stage.start()
    await server.command(['user', 'add', MEMBER, '--password-stdin'], PASSWORD)
    browser = await launchBrowser()
  })

  afterAll(async () => {
    const { outside, complaints } = await visitors.leave()
    expect([outside, complaints]).toEqual([[], []])
    await browser?.close()
    await stage.clear()
  })

  test('Chromium accepts the manifest and can install the app', async () => {
    const page = await visitors.open(browser, server.url, {})
    await page.goto(server.url)
    const session = await page.context().newCDPSession(page)
    const { errors, url } = await session.send('Page.getAppManifest')
    expect([url, errors]).toEqual([`${server.url}/manifest.webmanifest`, []])
    const { installabilityErrors } = await session.send('Page.getInstallabilityErrors')
    // Tests run in private windows, where nothing is installed.
    expect(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito')).toEqual([])
  })

  test('a shared file is filled into the form and sent with it', async () => {
    const page = await visitors.open(browser, server.url, {})
    await signIn(page, server.url, MEMBER)
    await page.goto(server.url)
    await page.evaluate(() => {
      const form = document.createElement('form')
      Object.assign(form, { method: 'post', action: '/share', enctype: 'multipart/form-data' })
      const input = Object.assign(document.createElement('input'), { type: 'file', name: 'files' })
      const transfer = new DataTransfer()
      transfer.items.add(new File(['a picture'], 'cat.png', { type: 'image/png' }))
      input.files = transfer.files
      form.append(input)
      document.body.append(form)
      form.submit()
    })
    await page.waitForURL(`${server.url}/share`)
    expect(await page.locator('[data-chosen] bdi').allTextContents()).toEqual(['cat.png'])
    await page.click('form.create > .actions button[type=submit]')
    await page.waitForURL(/\/p\/.*\/preview/)
    expect(await page.title()).not.toBe('')
  })
})
