// Filling in the form that creates a push, in a real browser: texts, generated passwords and files.

import { expect, test } from 'bun:test'
import { statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fillCreateForm, generateWords, SUBMIT, unfold } from '../support/create-page.ts'
import { needs } from '../support/needs.ts'
import { follow } from '../support/pressing.ts'
import { MEMBER, signIn } from '../support/tour.ts'
import { SCRIPTED, UNSCRIPTED, useHandover } from '../support/use-handover.ts'
import { waitUntil } from '../support/waiting.ts'

needs('chromium').describe('in a browser', () => {
  const it = useHandover({ flags: ['--max-file-bytes', '1GiB'], isExpected: /status of 422/ })
  const { open: openNew, openAgain: open, linkOf, press } = it

  test('a refused form keeps what was typed and shows each problem beside its field', async () => {
    for (const options of [UNSCRIPTED, SCRIPTED]) {
      const page = await open(options)
      await page.goto(it.server.url)
      const typed = { kind: 'url', payload: 'javascript:alert(1)', passphrase: 'sesame' }
      await fillCreateForm(page, { ...typed, time: [12, 'hours'] })
      await unfold(page, 'options')
      await page.uncheck('#deletable_by_viewer')
      await follow(page, () => page.click(SUBMIT))
      await page.waitForSelector('.notice.bad')
      expect(await page.textContent('#link-problem')).toContain('begins with https://')
      expect(await page.inputValue('#link')).toBe('javascript:alert(1)')
      expect(await page.isChecked('#kind-url')).toBe(true)
      expect(await page.inputValue('#expire_after')).toBe('12')
      expect(await page.inputValue('[name="push[expire_unit]"]')).toBe('hours')
      expect(await page.inputValue('#passphrase')).toBe('sesame')
      expect(await page.isChecked('#deletable_by_viewer')).toBe(false)
      await page.fill('#link', 'https://example.org/')
      await page.click(SUBMIT)
      await page.waitForURL('**/preview')
      expect(await page.textContent('.lead')).toContain('It can be opened 5 times, until')
      const until = Date.parse((await page.getAttribute('.lead time', 'datetime')) ?? '')
      expect(Math.round((until - Date.now()) / 3_600_000)).toBe(12)
    }
  })

  test('the generator obeys and remembers its options', async () => {
    const page = await open(SCRIPTED)
    await page.goto(it.server.url)
    const made = new Set<string>()
    for (let n = 0; n < 20; n += 1) {
      await page.click('[data-generates]')
      made.add(await page.inputValue('#payload'))
    }
    expect(made.size).toBe(20)
    for (const text of made)
      expect(text).toMatch(/^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[!#$%&*+\-=?@^_~]).{20}$/)
    await unfold(page, 'generator')
    expect(await page.textContent('[data-strength]')).toContain('Excellent')
    await page.fill('#generator-length', '8')
    await page.locator('#generator-length').press('Enter')
    for (const name of ['upper', 'marks', 'lower']) await page.uncheck(`#generator-${name}`)
    expect(await page.inputValue('#payload')).toMatch(/^\d{8}$/)
    expect(await page.textContent('[data-strength]')).toContain('Weak')
    await generateWords(page)
    expect(page.url()).toBe(`${it.server.url}/`)
    await page.reload()
    await page.click('[data-generates]')
    await waitUntil(async () => /^[a-z]+(-[a-z]+){5}$/.test(await page.inputValue('#payload')))
    expect(await page.isChecked('#generator-upper')).toBe(false)
  })

  test('one press generates a password and a second creates the link; generating again replaces only the password', async () => {
    const page = await open(SCRIPTED)
    await page.goto(it.server.url)
    const button = page.locator('[data-generates]')
    expect(await button.textContent()).toBe('Generate a password')
    await page.fill('#payload', 'user: ann\npassword: ')
    await button.click()
    const first = await page.inputValue('#payload')
    expect(first).toMatch(/^user: ann\npassword: \S{20}$/)
    expect(await button.textContent()).toBe('Generate another')
    await button.click()
    const second = await page.inputValue('#payload')
    expect(second).toMatch(/^user: ann\npassword: \S{20}$/)
    expect(second).not.toBe(first)
    // The generator must not replace what was typed.
    await page.fill('#payload', 'my own')
    await unfold(page, 'generator')
    await page.fill('#generator-length', '9')
    await page.locator('#generator-length').press('Enter')
    expect(await page.inputValue('#payload')).toBe('my own')
    await page.keyboard.press('Escape')
    await page.fill('#payload', '')
    await button.click()
    const made = await page.inputValue('#payload')
    expect(made).toHaveLength(9)
    await page.click(SUBMIT)
    await page.waitForURL('**/preview')
    await page.goto(await linkOf(page))
    await press(page)
    expect(await it.readText(page)).toBe(made)
  })

  test('the options of the generator overlay the page without moving it', async () => {
    const page = await open(SCRIPTED)
    await page.goto(it.server.url)
    const places = () =>
      page.locator('.create > *').evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().y))
    const before = await places()
    await unfold(page, 'generator')
    await page.locator('.generator .sheet').waitFor()
    expect(await places()).toEqual(before)
    await page.keyboard.press('Escape')
    await page.locator('.generator .sheet').waitFor({ state: 'hidden' })
    expect(await page.locator('.generator > summary:focus').count()).toBe(1)
  })

  test('a typed text is counted, hidden and shown', async () => {
    const page = await open(SCRIPTED)
    await page.goto(it.server.url)
    await page.fill('#payload', 'zwei\nZeilen 🔑')
    expect(await page.textContent('[data-counts]')).toBe('Characters: 13 · Lines: 2')
    await page.getByRole('button', { name: 'Hide' }).click()
    expect(
      await page.evaluate('getComputedStyle(document.getElementById("payload")).webkitTextSecurity'),
    ).toBe('disc')
    await page.locator('[data-masks]').click()
    expect(
      await page.evaluate('getComputedStyle(document.getElementById("payload")).webkitTextSecurity'),
    ).toBe('none')
  })

  test('files are chosen, dropped, pasted and removed', async () => {
    const page = await open(SCRIPTED)
    await signIn(page, it.server.url, MEMBER)
    await page.goto(it.server.url)
    const give = (event: string, name: string) =>
      page.evaluate(
        ([kind, filename]) => {
          const transfer = new DataTransfer()
          transfer.items.add(new File(['x'], filename ?? ''))
          const init = { bubbles: true, cancelable: true }
          const target = document.querySelector('form.create')
          target?.dispatchEvent(
            kind === 'paste'
              ? new ClipboardEvent('paste', { ...init, clipboardData: transfer })
              : new DragEvent(kind ?? '', { ...init, dataTransfer: transfer }),
          )
        },
        [event, name],
      )
    await give('drop', 'dropped.txt')
    await give('paste', 'pasted.png')
    expect(await page.isChecked('#kind-file')).toBe(true)
    expect(await page.locator('.chosen bdi').allTextContents()).toEqual(['dropped.txt', 'pasted.png'])
    await page.getByRole('button', { name: 'Remove: dropped.txt' }).click()
    expect(await page.locator('.chosen bdi').allTextContents()).toEqual(['pasted.png'])
    await page.click(SUBMIT)
    await page.waitForURL('**/preview')
  })

  test('an upload of 200 MB shows progress and can be cancelled', async () => {
    const path = join(it.folder(), 'large.bin')
    writeFileSync(path, '')
    truncateSync(path, 200_000_000)
    const page = await openNew(SCRIPTED)
    await signIn(page, it.server.url, MEMBER)
    const client = await page.context().newCDPSession(page)
    const throttle = (uploadThroughput: number) =>
      client.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput,
      })
    const send = async () => {
      await page.goto(it.server.url)
      await page.check('#kind-file')
      await page.setInputFiles('#files', path)
      await page.click(SUBMIT)
    }

    // Slow enough that the test can cancel the upload on a busy machine.
    await throttle(5_000_000)
    await send()
    await page.locator('[data-progress] output', { hasText: /[1-9]\d? % · .+\/s/ }).waitFor()
    const value = () => page.locator('#upload-progress').evaluate((bar) => (bar as HTMLProgressElement).value)
    expect(await value()).toBeGreaterThan(0)
    await page.click('[data-cancel]')
    await page.locator('[data-progress] [role=alert]', { hasText: 'Cancelled' }).waitFor()
    expect(await page.locator('.chosen bdi').allTextContents()).toEqual(['large.bin'])

    await throttle(-1)
    await page.click(SUBMIT)
    await page.waitForURL('**/preview')
    const link = await linkOf(page)

    const reader = await open(SCRIPTED)
    await reader.goto(link)
    await press(reader)
    const [download] = await Promise.all([
      reader.waitForEvent('download'),
      reader.getByRole('link', { name: 'large.bin' }).click(),
    ])
    expect(statSync(await download.path()).size).toBe(200_000_000)
    expect(await reader.textContent('.download output.done')).toBe('Saved.')
  }, 600_000)

  test('a file that is too large is refused before it is sent', async () => {
    const path = join(it.folder(), 'too-large.bin')
    writeFileSync(path, '')
    truncateSync(path, 1_100_000_000)
    const page = await open(SCRIPTED)
    await signIn(page, it.server.url, MEMBER)
    await page.goto(it.server.url)
    await page.check('#kind-file')
    await page.setInputFiles('#files', path)
    expect(await page.textContent('#files-problem')).toBe(
      '“\u2068too-large.bin\u2069” is too large: a file can have at most 1\u00a0GiB.',
    )
    expect(await page.textContent('#files-hint')).toContain('1\u00a0GiB')
  })
})
