// All files of an opened push in one archive: its page offers it, it is complete or refused, and it is
// available as long as its files.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Api, startApi } from '../support/api.ts'
import { readZip } from '../support/zip.ts'

const MIB = 1024 * 1024
const FORM = { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://localhost' }

let api: Api
let token: string

async function start(flags: Record<string, string> = {}): Promise<void> {
  api = await startApi({ flags })
  token = await api.addAccount('owner@example.org')
}

beforeEach(() => start())
afterEach(() => api.close())

const file = (filename: string, content: string | Buffer = filename) => ({
  filename,
  data: Buffer.from(content).toString('base64'),
})

/** Opens a push with these files on its page, as a recipient does. */
async function openPage(files: ReturnType<typeof file>[], push = {}) {
  const created = await api.create({ payload: '', kind: 'file', files, ...push }, { token })
  const path = new URL(created.html_url).pathname
  return { ...created, path, ...(await press(path)) }
}

async function press(path: string) {
  const shown = await (await api.fetch(path)).text()
  const nonce = /name="nonce" value="([\w-]+)"/.exec(shown)?.[1] ?? ''
  const body = new URLSearchParams({ nonce }).toString()
  const page = await (await api.fetch(path, { method: 'POST', headers: FORM, body })).text()
  const links = [...page.matchAll(/href="(\/d\/[\w-]+)"/g)].map(([, link = '']) => link)
  const archives = [
    ...page.matchAll(/class="button primary" download="oncebox-files.zip" href="(\/d\/[\w-]+)"/g),
  ]
  return { page, links, archives: archives.map(([, link = '']) => link) }
}

const archiveAt = async (link: string | undefined) =>
  readZip(Buffer.from(await (await api.fetch(link ?? '')).bytes()))

function storedPaths(): string[] {
  const folder = join(api.dataDir, 'files')
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
}

test('it contains every file unchanged, and its length is announced', async () => {
  const large = Buffer.alloc(3 * MIB + 7, 'oncebox ')
  const { archives, links } = await openPage([file('ä 日本.txt', 'hello'), file('large.bin', large)])
  expect(links).toHaveLength(3)
  expect(archives).toHaveLength(1)
  const [link = ''] = archives
  const head = await api.fetch(link, { method: 'HEAD' })
  expect(head.headers.get('content-type')).toBe('application/zip')
  expect(head.headers.get('content-disposition')).toStartWith('attachment; filename="oncebox-files.zip"')
  expect(head.headers.get('accept-ranges')).toBe('none')
  const response = await api.fetch(link, { headers: { range: 'bytes=0-1' } })
  expect(response.status).toBe(200)
  expect(response.headers.get('cache-control')).toContain('no-store')
  const bytes = Buffer.from(await response.bytes())
  expect(head.headers.get('content-length')).toBe(String(bytes.length))
  expect(head.headers.get('x-file-size')).toBe(String(bytes.length))
  expect(response.headers.get('x-file-size')).toBe(String(bytes.length))
  const [small, other] = readZip(bytes)
  expect(small).toMatchObject({ name: 'ä 日本.txt', content: Buffer.from('hello') })
  expect(other?.content.equals(large)).toBe(true)
})

test('unsafe names are replaced, and names that a system treats as equal get numbers', async () => {
  const { archives } = await openPage([
    file('report.pdf'),
    file('REPORT.pdf'),
    file('report.pdf'),
    file('a:b?.txt'),
    file('CON.txt'),
    file('x. .'),
    file(`${'n'.repeat(250)}.html`),
  ])
  const names = (await archiveAt(archives[0])).map(({ name }) => name)
  expect(names).toEqual([
    'report.pdf',
    'REPORT (2).pdf',
    'report (3).pdf',
    'a_b_.txt',
    '_CON.txt',
    'x',
    `${'n'.repeat(250)}.html`,
  ])
})

test('a push with a single file has no archive', async () => {
  const { archives, links } = await openPage([file('a')])
  expect(links).toHaveLength(1)
  expect(archives).toEqual([])
})

test('files whose names do not fit into one URL are split into several archives', async () => {
  await api.close()
  await start({ 'max-files': '60' })
  const { archives } = await openPage(
    Array.from({ length: 60 }, (_, n) => file(`${'日'.repeat(70)}-${n}.txt`, String(n))),
  )
  expect(archives.length).toBeGreaterThan(1)
  for (const link of archives) expect(link.length).toBeLessThan(7000)
  const entries = (await Promise.all(archives.map(archiveAt))).flat()
  expect(entries.map(({ content }) => content.toString())).toEqual(
    Array.from({ length: 60 }, (_, n) => String(n)),
  )
})

test('it can be downloaded as long as its files, even after the last view and a restart', async () => {
  const { archives } = await openPage([file('a'), file('b')], { expire_after_views: 1 })
  await api.restart()
  await api.sweep()
  api.clock.advance(10 * 60_000 - 1)
  expect(await archiveAt(archives[0])).toHaveLength(2)
  api.clock.advance(1)
  expect((await api.fetch(archives[0] ?? '')).status).toBe(403)
  await api.sweep()
  expect(storedPaths()).toEqual([])
})

test('its link ends when the push is deleted or expires, and an altered link is refused', async () => {
  const deleted = await openPage([file('a'), file('b')], { expire_after_views: 1 })
  await api.expire(deleted.url_token)
  expect((await api.fetch(deleted.archives[0] ?? '')).status).toBe(404)

  const lapsed = await openPage([file('a'), file('b')], { expire_after_duration: 0 })
  api.clock.advance(9 * 60_000)
  expect((await api.fetch(lapsed.archives[0] ?? '')).status).toBe(200)
  const again = await press(lapsed.path)
  api.clock.advance(6 * 60_000)
  expect((await api.fetch(again.archives[0] ?? '')).status).toBe(404)
  expect((await api.fetch(`${again.archives[0]}A`)).status).toBe(403)
})

test('the page shows how long files can be saved, which is at most until the push expires', async () => {
  const now = api.clock.now()
  const untilOf = (page: string) => /datetime="([^"]+)" data-clock/.exec(page)?.[1]
  const { page, path } = await openPage([file('a')], { expire_after_duration: 0 })
  expect(untilOf(page)).toBe(new Date(now + 10 * 60_000).toISOString())
  api.clock.advance(9 * 60_000)
  expect(untilOf((await press(path)).page)).toBe(new Date(now + 15 * 60_000).toISOString())
})

test('a missing file is reported, and there is no archive without it', async () => {
  const { archives, path } = await openPage([file('a', 'a'.repeat(100)), file('b')])
  const [first = ''] = storedPaths().filter((name) => readFileSync(name).length > 100)
  rmSync(first)
  expect((await api.fetch(archives[0] ?? '')).status).toBe(500)
  const again = await press(path)
  expect(again.archives).toEqual([])
  expect(again.links).toHaveLength(1)
  expect(again.page).toMatch(/<bdi>a<\/bdi>: damaged/)
  expect(api.log.join('\n')).toContain('a file of push 1')
})

test('an archive with an altered file breaks off', async () => {
  const { archives } = await openPage([file('a', Buffer.alloc(2 * MIB)), file('b')])
  const [large = ''] = storedPaths().filter((name) => readFileSync(name).length > MIB)
  const bytes = readFileSync(large)
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1
  writeFileSync(large, bytes)
  const response = await api.fetch(archives[0] ?? '')
  expect(response.status).toBe(200)
  await expect(response.bytes()).rejects.toThrow()
})
