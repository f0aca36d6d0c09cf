// A file of 300 MiB that a browser encrypts and another opens, in memory and to the disk.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { closeSync, createReadStream, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { createStage, type Started } from '../support/binary.ts'
import { launchBrowser } from '../support/chromium.ts'
import { SUBMIT } from '../support/create-page.ts'
import { needs } from '../support/needs.ts'
import { MEMBER, PASSWORD, signIn } from '../support/tour.ts'

const MIB = 1024 * 1024
const PIECES = 300
const LONG_MS = 900_000
const OPEN = 'main form button.primary'
/** A host name that is not a secure context: there, browsers offer no dialog for files. */
const NAME_OF_HOST = 'box.local'

async function digestOf(path: string): Promise<string> {
  const digest = createHash('sha256')
  for await (const piece of createReadStream(path)) digest.update(piece)
  return digest.digest('hex')
}

/**
 * Runs in the browser: replaces the dialog by one that saves to the browser's private folder and reports the
 * digest.
 */
function answerDialogs(): void {
  Object.assign(window, {
    showSaveFilePicker: async ({ suggestedName }: { suggestedName: string }) => {
      const folder = await navigator.storage.getDirectory()
      return folder.getFileHandle(suggestedName, { create: true })
    },
  })
}

needs('chromium').describe('in a browser', () => {
  const stage = createStage()
  let browser: Browser
  let server: Started

  beforeAll(async () => {
    browser = await launchBrowser([NAME_OF_HOST])
    server = await stage.start({ flags: ['--host', '0.0.0.0'] })
    await server.command(['user', 'add', MEMBER, '--password-stdin'], PASSWORD)
  })

  afterAll(async () => {
    await browser?.close()
    await stage.clear()
  })

  /** Writes chunks that all differ, so that a swapped one is noticed. */
  function writeLarge(): string {
    const path = join(stage.folder(), 'large.bin')
    const file = openSync(path, 'w')
    for (let n = 0; n < PIECES; n += 1) writeSync(file, Buffer.alloc(MIB, `${n} of ${PIECES} `))
    closeSync(file)
    return path
  }

  async function openFile(page: Page, link: string): Promise<void> {
    page.setDefaultTimeout(LONG_MS)
    await page.goto(link)
    await page.click(OPEN)
    await page.waitForSelector('[data-file="0"]:has-text("File 1")')
  }

  test(
    'a file of 300 MiB is received unchanged, in memory and on disk, and not at all if it is truncated',
    async () => {
      const local = `http://localhost:${server.port}`
      const path = writeLarge()
      const digest = await digestOf(path)
      const sender = await browser.newPage()
      sender.setDefaultTimeout(LONG_MS)
      await signIn(sender, local, MEMBER)
      await sender.goto(local)
      await sender.check('#kind-file')
      await sender.check('#end_to_end')
      await sender.setInputFiles('#files', path)
      await sender.click(SUBMIT)
      await sender.waitForSelector('[data-lacks-key]:not([hidden])')
      const link = ((await sender.textContent('#link')) ?? '').trim()

      const named = await browser.newPage()
      await openFile(named, link.replace(local, `http://${NAME_OF_HOST}:${server.port}`))
      const [download] = await Promise.all([named.waitForEvent('download'), named.click('[data-file="0"]')])
      expect(download.suggestedFilename()).toBe('large.bin')
      expect(await digestOf(await download.path())).toBe(digest)
      await named.close()

      const disk = await browser.newPage()
      await disk.addInitScript(answerDialogs)
      await openFile(disk, link)
      await disk.click('[data-file="0"]')
      await disk.waitForSelector('.download output:has-text("Saved")')
      const size = () =>
        disk.evaluate(async () => {
          const folder = await navigator.storage.getDirectory()
          return (await (await folder.getFileHandle('large.bin')).getFile()).size
        })
      expect(await size()).toBe(PIECES * MIB)
      // A download that is cut short leaves the saved file unchanged.
      await disk.route('**/d/**', async (route) => {
        const response = await fetch(route.request().url())
        const start = await new Response(response.body?.pipeThrough(cutAt(40 * MIB))).arrayBuffer()
        await route.fulfill({ body: Buffer.from(start) })
      })
      await disk.click('[data-file="0"]')
      await disk.waitForSelector('.download output:has-text("Not saved")')
      expect(await size()).toBe(PIECES * MIB)
    },
    LONG_MS,
  )
})

function cutAt(bytes: number): TransformStream<Uint8Array, Uint8Array> {
  let passed = 0
  return new TransformStream({
    transform(piece, controller) {
      if (passed < bytes) controller.enqueue(piece)
      passed += piece.length
      if (passed >= bytes) controller.terminate()
    },
  })
}
