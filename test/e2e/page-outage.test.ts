// Forms in a real browser while another program holds the lock of the database: the create form keeps what
// was typed, and a secret link with one view opens once the lock is free.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { SUBMIT } from '../support/create-page.ts'
import { needs } from '../support/needs.ts'
import { MEMBER, signIn } from '../support/tour.ts'
import { SCRIPTED, UNSCRIPTED, useHandover } from '../support/use-handover.ts'

needs('chromium').describe('in a browser', () => {
  const it = useHandover({ isExpected: /status of 503/ })
  let other: Database
  beforeEach(() => {
    other = new Database(join(it.server.dataDir, 'oncebox.db'))
    other.run('PRAGMA busy_timeout = 60000')
  })
  afterEach(() => other.close())

  const lock = () => other.run('BEGIN IMMEDIATE')
  const unlock = () => other.run('ROLLBACK')
  const countPushes = () => other.query<{ n: number }, []>('SELECT count(*) AS n FROM pushes').get()?.n ?? 0

  const notice = (page: Page) => page.locator('main .notice.bad')
  const isOnNotice = (page: Page) => page.evaluate('document.activeElement.matches(".notice.bad")')

  async function openCreate(page: Page): Promise<void> {
    await signIn(page, it.server.url, MEMBER)
    await page.goto(it.server.url)
    const path = join(it.folder(), 'a.bin')
    writeFileSync(path, 'x'.repeat(100_000))
    await page.check('#kind-file')
    await page.setInputFiles('#files', path)
    await page.fill('#payload', 'beside the file')
    await page.fill('#passphrase', 'typed behind the file')
    await page.fill('#name', 'the name')
  }

  async function expectTyped(page: Page): Promise<void> {
    expect(await page.inputValue('#payload')).toBe('beside the file')
    expect(await page.inputValue('#passphrase')).toBe('typed behind the file')
    expect(await page.inputValue('#name')).toBe('the name')
  }

  test('with scripts the files stay chosen, and one push is created', async () => {
    const page = await it.open(SCRIPTED)
    await openCreate(page)
    const before = countPushes()
    lock()
    await page.click(SUBMIT)
    await notice(page).filter({ hasText: 'What you typed is still here' }).waitFor()
    expect(await isOnNotice(page)).toBe(true)
    expect(await page.innerText('[data-chosen]')).toContain('a.bin')
    await expectTyped(page)
    unlock()
    await page.click(SUBMIT)
    await page.waitForURL('**/preview')
    expect(countPushes()).toBe(before + 1)
  })

  test('without scripts the form keeps everything except the files and says so', async () => {
    const page = await it.open(UNSCRIPTED)
    await openCreate(page)
    const before = countPushes()
    lock()
    await page.click(SUBMIT)
    await notice(page).filter({ hasText: 'choose them again' }).waitFor()
    await expectTyped(page)
    expect(countPushes()).toBe(before)
    unlock()
  })

  test.each([
    ['with scripts', SCRIPTED],
    ['without scripts', UNSCRIPTED],
  ] as const)('a secret link leads back to its form, and opens with one view, %s', async (_name, options) => {
    const page = await it.open(options)
    const passphrase = 'Käse & Brot'
    const link = await it.createOn(page, { payload: 'the text', passphrase, views: 2 })
    await page.goto(link)
    await page.fill('#passphrase', passphrase)
    lock()
    await page.click('main form button.primary')
    await page.locator('main').filter({ hasText: 'nothing was counted' }).waitFor()
    unlock()
    await page.click('main a')
    await page.fill('#passphrase', passphrase)
    await it.press(page)
    expect(await it.readText(page)).toContain('the text')
    await page.goto(link)
    expect(await page.innerText('main')).toContain('It can be opened only one more time')
  })
})
