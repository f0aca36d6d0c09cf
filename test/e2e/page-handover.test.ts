// Handing over and receiving in a real browser, against the binary: with scripts and without, on a desk and
// on a phone.

import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContextOptions } from 'playwright-core'
import { measureLooks } from '../support/chromium.ts'
import { fillCreateForm, SUBMIT } from '../support/create-page.ts'
import { needs } from '../support/needs.ts'
import { follow } from '../support/pressing.ts'
import { readQr } from '../support/qr.ts'
import { MODES, PHONE, SCRIPTED, UNSCRIPTED, useHandover } from '../support/use-handover.ts'

needs('chromium').describe('in a browser', () => {
  const it = useHandover({ isExpected: /status of (404|409)/ })
  const { open: openNew, openAgain: open, createOn, linkOf, press, readText, expectGone } = it
  const openAsMember = (options: BrowserContextOptions) => it.openAsMember(options, open)

  const linkTo = async (push: Record<string, unknown>): Promise<string> =>
    (await (await it.server.create(push)).json()).html_url

  test.each(MODES)('a text is created, opened once and then gone, %s', async (_name, options) => {
    const payload = '  pa$$ <b>&amp; \u202eליא 🔑\n\nsecond line\tend '
    const link = await createOn(await open(options), { payload, views: 1 })
    const reader = await open(options)
    await reader.goto(link)
    expect(await reader.content()).not.toContain('second line')
    await press(reader)
    expect(await readText(reader)).toBe(payload)
    expect(await reader.textContent('.notice.last')).toContain('the last time it could be opened')
    expect(await reader.context().cookies()).toEqual([])
    await expectGone(reader, link)
  })

  test.each([['on a desk', SCRIPTED] as const, ['on a phone', PHONE] as const])(
    'the lock opens on the card where it was, and nothing jumps, %s',
    async (_name, options) => {
      const wifi = { kind: 'qr', payload: 'WIFI:T:WPA;S:guests;P:welcome;;' }
      const reader = await open(options)
      for (const fields of [{ payload: 'one line' }, wifi]) {
        await reader.goto(await linkTo(fields))
        const places = async () => ({
          emblem: await reader.locator('main .card > .emblem').boundingBox(),
          // Ignore the height: the card grows with its content.
          card: { ...(await reader.locator('main .card').boundingBox()), height: 0 },
        })
        const before = await places()
        expect(await reader.locator('.emblem use').getAttribute('href')).toBe('#icon-lock')
        await press(reader)
        await reader.waitForSelector('h1:text("Your secret")')
        expect(await reader.locator('.emblem use').getAttribute('href')).toBe('#icon-lock-open')
        expect(await places()).toEqual(before)
      }
    },
  )

  test('the page of a new link reports when it is opened and used up', async () => {
    const sender = await openNew(SCRIPTED)
    const link = await createOn(sender, { payload: 'to be opened', views: 2 })
    expect(await sender.textContent('#opened')).toContain('not opened yet')
    const readOnce = async () => {
      const reader = await open(SCRIPTED)
      await reader.goto(link)
      await press(reader)
    }
    await readOnce()
    await sender.waitForFunction(() => document.title.startsWith('(1) '))
    expect(await sender.textContent('#opened')).toContain('Opened 1 of 2 times')
    await readOnce()
    await sender.waitForSelector('h1:text("It was opened")')
    expect(await sender.textContent('main')).toContain('link used up')
  })

  test('without scripts, reloading the page of a new link reports that it was opened', async () => {
    const sender = await openNew(UNSCRIPTED)
    const link = await createOn(sender, { payload: 'to be opened', views: 1 })
    const reader = await open(UNSCRIPTED)
    await reader.goto(link)
    await press(reader)
    await sender.click('.opened a')
    expect(await sender.textContent('h1')).toBe('It was opened')
  })

  test('a shared address shows its host before it is followed', async () => {
    const address = 'https://files.example.org/a?b=c&d=%20#e'
    const reader = await open(UNSCRIPTED)
    await reader.goto(await linkTo({ kind: 'url', payload: address }))
    await press(reader)
    expect(await reader.textContent('.secret strong')).toBe('files.example.org')
    expect(await reader.textContent('#payload')).toBe(address)
    const go = reader.locator('a.button.primary')
    expect(await go.getAttribute('href')).toBe(address)
    expect(await go.getAttribute('rel')).toContain('noreferrer')
  })

  test('a QR code is drawn and readable', async () => {
    const payload = 'WIFI:T:WPA;S:büro;P:k3m9-qx2v;;'
    const reader = await open(UNSCRIPTED)
    await reader.goto(await linkTo({ kind: 'qr', payload }))
    await press(reader)
    expect(readQr(await reader.locator('svg.qr').evaluate((svg) => svg.outerHTML))).toBe(payload)
    expect(await reader.textContent('#payload')).toBe(payload)
    expect(await reader.textContent('#wifi-network')).toBe('büro')
    expect(await reader.textContent('#wifi-password')).toBe('k3m9-qx2v')
  })

  test.each(MODES)('files are sent, opened and saved, %s', async (_name, options) => {
    const folder = it.folder()
    const small = join(folder, 'ünï “quoted”.txt')
    writeFileSync(small, 'the content')
    const large = join(folder, 'large.bin')
    writeFileSync(large, Buffer.alloc(3_000_000, 'abc'))
    const sender = await openAsMember(options)
    await sender.goto(it.server.url)
    await sender.check('#kind-file')
    await sender.setInputFiles('#files', [small, large])
    await fillCreateForm(sender, { kind: 'file', views: 1 })
    await sender.click(SUBMIT)
    await sender.waitForURL('**/preview')
    const link = await linkOf(sender)

    const reader = await open(options)
    await reader.goto(link)
    await press(reader)
    for (const [path, name] of [
      [small, 'ünï “quoted”.txt'],
      [large, 'large.bin'],
    ] as const) {
      const [download] = await Promise.all([
        reader.waitForEvent('download'),
        reader.getByRole('link', { name }).click(),
      ])
      expect(download.suggestedFilename()).toBe(name)
      expect(readFileSync(await download.path())).toEqual(readFileSync(path))
    }
    await expectGone(reader, link)
  })

  test('going back, reloading and opening a second tab count no view', async () => {
    const link = await linkTo({ payload: 'kept', expire_after_views: 2 })
    const first = await openNew(SCRIPTED)
    const second = await first.context().newPage()
    await first.goto(link)
    await second.goto(link)
    await press(first)
    await first.waitForSelector('.secret')
    await first.reload()
    expect(await first.textContent('.notice')).toContain('already pressed this button')
    expect(await first.isVisible('#payload')).toBe(false)
    await first.goBack()
    expect(await first.locator('.secret').count()).toBe(0)
    // The other tab opens the second view.
    await press(second)
    expect(await readText(second)).toBe('kept')
    expect(await second.textContent('.notice.last')).toContain('the last time it could be opened')
    await first.reload()
    expect(await first.textContent('h1')).toBe('This link no longer works')
  })

  test('a recipient deletes a push that allows it', async () => {
    const link = await linkTo({ payload: 'x' })
    const reader = await open(UNSCRIPTED)
    await reader.goto(link)
    await press(reader)
    await reader.locator('details', { hasText: 'Delete it now' }).locator('summary').click()
    await follow(reader, () => reader.click('button.danger'))
    expect(await reader.textContent('h1')).toBe('It is deleted')
    await expectGone(reader, link)

    await reader.goto(await linkTo({ payload: 'x', deletable_by_viewer: false }))
    await press(reader)
    expect(await reader.locator('button.danger').count()).toBe(0)
  })

  test('scanners and link previews count no view', async () => {
    const { url_token, html_url } = await (
      await it.server.create({ payload: 'left-alone-4711', expire_after_views: 1 })
    ).json()
    const agents = [
      'Slackbot-LinkExpanding 1.0',
      'facebookexternalhit/1.1',
      'WhatsApp/2.23',
      'Microsoft Office',
    ]
    for (const agent of agents) {
      for (const path of [
        html_url,
        html_url.replace(/\/r$/, ''),
        `${html_url.replace(/\/r$/, '')}/preview`,
      ]) {
        const headers = { 'user-agent': agent }
        const page = await (await fetch(path, { headers })).text()
        expect(page).not.toContain('left-alone-4711')
        expect(page).not.toMatch(/name="description"|name="twitter:/)
        const told = path.endsWith('/preview') ? [] : ['og:title', 'og:description']
        expect([...page.matchAll(/property="(og:\w+)"/g)].map(([, name]) => name)).toEqual(told)
        expect(page).toContain('noindex')
        expect((await fetch(path, { headers, method: 'HEAD' })).status).toBe(200)
        // A scanner that sends the form without having the page, or sends it twice.
        if (path.endsWith('/preview')) continue
        for (const body of ['', 'nonce=', 'nonce=abc']) {
          const type = { 'content-type': 'application/x-www-form-urlencoded' }
          const pressed = await fetch(path, { method: 'POST', headers: { ...headers, ...type }, body })
          expect(pressed.status).toBe(409)
          expect(await pressed.text()).not.toContain('left-alone-4711')
        }
      }
    }
    const retrieved = await (await it.server.retrieve(url_token)).json()
    expect(retrieved.payload).toBe('left-alone-4711')
  })

  test('the owner opens a push without using up a view', async () => {
    const page = await openAsMember(UNSCRIPTED)
    const link = await createOn(page, { payload: 'mine', views: 1 })
    await page.goto(link)
    expect(await page.textContent('main')).toContain('looking at it does not count')
    await press(page)
    expect(await readText(page)).toBe('mine')
    await page.goto(`${it.server.url}/pushes`)
    await follow(page, () => page.locator('.list a.title').first().click())
    expect(await page.textContent('.log')).toContain('Looked at by you')
    expect(await page.textContent('.standing')).toContain('Opened 0 of 1 time')
    const reader = await open(UNSCRIPTED)
    await reader.goto(link)
    await press(reader)
    expect(await readText(reader)).toBe('mine')
  })

  test('every page fits the narrowest phone', async () => {
    const page = await open(PHONE)
    await page.goto(await linkTo({ payload: `${'x'.repeat(4000)}\n${'y'.repeat(100)}` }))
    await press(page)
    await page.waitForSelector('.secret')
    expect((await page.evaluate(measureLooks)).overflow).toBe(0)
  })
})
