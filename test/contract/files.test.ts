// Files: pushed as parts or in JSON, handed out by grant, gone with their push.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Api, PUSHES, type PushBody, startApi } from '../support/api.ts'
import { BOUNDARY, multipart, type Part } from './multipart.ts'

let api: Api
let token: string

beforeEach(async () => {
  api = await startApi()
  token = await api.addAccount('owner@example.org')
})

afterEach(() => api.close())

type FileBody = { filename: string; content_type: string; size: number; url: string }

const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
const MIB = 1024 * 1024

function post(parts: Part[], init: { token?: string | undefined; end?: string } = { token }) {
  const { end, token: as } = init
  const body = multipart(parts, end === undefined ? {} : { end })
  return api.call<{ url_token: string; files: FileBody[] }>(PUSHES, {
    headers,
    body,
    ...(as ? { token: as } : {}),
  })
}

const part = (content: string | Uint8Array, disposition = 'filename="a.txt"'): Part => ({
  name: 'push[files][]',
  content,
  disposition,
})

async function filesOf(urlToken: string): Promise<FileBody[]> {
  return (await api.retrieve(urlToken)).body.files as FileBody[]
}

/** Downloads are no endpoints of the reference: asked past it. */
const download = (url: string, init: RequestInit & { from?: string } = {}) =>
  api.fetch(url.replace('http://localhost', ''), init as never)

function stored(): string[] {
  const folder = join(api.dataDir, 'files')
  return existsSync(folder)
    ? readdirSync(folder, { recursive: true })
        .map(String)
        .filter((name) => name.includes('/'))
    : []
}

async function eventually(check: () => boolean): Promise<void> {
  for (let i = 0; i < 100 && !check(); i += 1) await Bun.sleep(10)
  expect(check()).toBe(true)
}

const noise = (size: number) => Buffer.from(new Uint8Array(size).map((_, i) => (i * 7 + (i >> 9)) & 255))

test('files come back as they were, with name, type and size', async () => {
  const large = noise(3 * MIB + 5)
  const { status, body } = await post([
    part('hello'),
    { ...part(large, 'filename="böse datei.bin"'), headers: ['Content-Type: application/x-thing'] },
    { ...part('', 'filename="empty.pdf"'), headers: ['Content-Type: application/pdf; x=y'] },
    { name: 'push[payload]', content: 'with a note' },
  ])
  expect(status).toBe(201)
  expect(body.files).toEqual([
    { filename: 'a.txt', content_type: 'application/octet-stream', size: 5 },
    { filename: 'böse datei.bin', content_type: 'application/octet-stream', size: large.length },
    { filename: 'empty.pdf', content_type: 'application/pdf', size: 0 },
  ] as never)
  const retrieved = await api.retrieve(body.url_token)
  expect(retrieved.body).toMatchObject({ kind: 'file', payload: 'with a note' })
  const contents = [Buffer.from('hello'), large, Buffer.alloc(0)]
  for (const [index, { url, size }] of (retrieved.body.files as FileBody[]).entries()) {
    const response = await download(url)
    expect(response.status).toBe(200)
    expect(response.headers.get('x-file-size')).toBe(String(size))
    expect(Buffer.from(await response.bytes()).equals(contents[index] ?? Buffer.alloc(0))).toBe(true)
  }
})

test('files in JSON are base64, and accompany any kind', async () => {
  const files = [
    { filename: 'k.json', content_type: 'application/json', data: Buffer.from('{"a":1}').toString('base64') },
  ]
  const { body } = await api.post({ payload: 'text', kind: 'text', files }, { token })
  expect(body).toMatchObject({
    kind: 'text',
    files: [{ filename: 'k.json', content_type: 'application/json', size: 7 }],
  })
  const [file] = await filesOf(body.url_token)
  expect(await (await download(file?.url ?? '')).text()).toBe('{"a":1}')
})

test.each([
  [{ files: ['x'] }, 'files'],
  [{ files: [null] }, 'files'],
  [{ files: [{ filename: 'a', data: 'not base64!' }] }, 'files'],
  [{ files: [{ data: 'aGk=' }] }, 'files'],
  [{ files: 'a.txt' }, 'files'],
  [{ kind: 'file' }, 'files'],
  [{ files: Array(11).fill({ filename: 'a', data: '' }) }, 'files'],
  [{ files: [{ filename: `${'n'.repeat(256)}`, data: '' }] }, 'files'],
])('%p is refused', async (push, field) => {
  const { status, body } = await api.post({ payload: 'x', ...push }, { token })
  expect(status).toBe(422)
  expect(Object.keys(body)).toContain(field)
  await eventually(() => stored().length === 0)
})

describe('failures leave nothing behind', () => {
  test.each<[string, () => Promise<{ status: number }>, number]>([
    ['a visitor', () => post([part('x')], { token: undefined }), 401],
    [
      'a field after the files that is invalid',
      () => post([part(noise(MIB)), { name: 'push[expire_after_days]', content: '999' }]),
      422,
    ],
    ['a missing last boundary', () => post([part(noise(MIB))], { token, end: '' }), 400],
    ['more files than allowed', () => post(Array.from({ length: 11 }, () => part('x'))), 422],
    ['a name that is too long', () => post([part('x'), part('x', `filename="${'n'.repeat(300)}"`)]), 422],
  ])('%s', async (_, send, status) => {
    expect((await send()).status).toBe(status)
    await eventually(() => stored().length === 0)
    expect(await api.list('active', token)).toEqual([])
  })

  test('a body without an end behind its last boundary', async () => {
    await api.close()
    api = await startApi({
      flags: { 'max-file-bytes': '1KiB', 'max-files': '1', 'max-payload-bytes': '1KiB' },
    })
    token = await api.addAccount('owner@example.org')
    const { status, text } = await post([part('fits'), { name: 'push[payload]', content: 'x' }], {
      token,
      end: `--${BOUNDARY}--\r\n${'x'.repeat(MIB)}`,
    })
    expect(status).toBe(413)
    expect(text).toContain('--max-files')
    await eventually(() => stored().length === 0)
  })

  test('a file beyond the limit, which the answer names', async () => {
    await api.close()
    api = await startApi({ flags: { 'max-file-bytes': '1MiB' } })
    token = await api.addAccount('owner@example.org')
    const { status, text } = await post([part('fits'), part(noise(MIB + 1))])
    expect(status).toBe(413)
    expect(text).toContain('--max-file-bytes')
    await eventually(() => stored().length === 0)
  })
})

test('a file name may have 255 characters of any part of Unicode', async () => {
  const filename = '𝔫'.repeat(255)
  const named = await api.create({ payload: 'x', files: [{ filename, data: '' }] }, { token })
  expect(named.files).toEqual([{ filename, content_type: 'application/octet-stream', size: 0 }])
  const longer = [{ filename: `${filename}𝔫`, data: '' }]
  expect((await api.post({ payload: 'x', files: longer }, { token })).status).toBe(422)
})

test('an upload of an account that is removed meanwhile creates no push', async () => {
  const body = multipart([part(noise(MIB))])
  const removed = Promise.withResolvers<void>()
  const sent = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(body.subarray(0, MIB / 2))
      await removed.promise
      controller.enqueue(body.subarray(MIB / 2))
      controller.close()
    },
  })
  const upload = api.call(PUSHES, { headers, body: sent, token })
  await eventually(() => stored().length > 0)
  await api.accounts().removeAccount('owner@example.org')
  const next = await api.addAccount('next@example.org')
  removed.resolve()
  expect((await upload).status).toBe(401)
  expect(await api.list('active', next)).toEqual([])
  await eventually(() => stored().length === 0)
})

test('below the floor of free space nothing is created, and everything else works', async () => {
  await api.close()
  api = await startApi({ flags: { 'min-free-space': '1000TiB' } })
  token = await api.addAccount('owner@example.org')
  expect((await post([part('x')])).status).toBe(507)
  expect((await api.post({ payload: 'x' })).status).toBe(507)
  expect(await api.list('active', token)).toEqual([])
  await eventually(() => stored().length === 0)
})

test('an empty part without a name is no file', async () => {
  const { status, body } = await post([
    { ...part('', 'filename=""') },
    { name: 'push[payload]', content: 'x' },
  ])
  expect(status).toBe(201)
  expect(body).toMatchObject({ kind: 'text', files: [] })
  await eventually(() => stored().length === 0)
})

test.each([
  ['filename="../../etc/passwd"', 'passwd'],
  ['filename="C:\\\\dir\\\\x.txt"', 'x.txt'],
  ["filename*=UTF-8''%e2%82%ac%20rates.txt", '€ rates.txt'],
  ['filename="=?UTF-8?B?w6TDtsO8LnR4dA==?="', 'äöü.txt'],
  ['filename="=?utf-8?Q?a=C3=A4_b.txt?="', 'aä b.txt'],
  ['filename="a\u202etxt.exe"', 'atxt.exe'],
  ['filename=".."', 'file'],
  ['filename="a%22b%22.txt"', 'a"b".txt'],
  ['filename="two%0D%0Alines.txt"', 'twolines.txt'],
  ['filename="100%25 %2e%20%0a.txt"', '100%25 %2e%20%0a.txt'],
  ['filename="plain.txt"; filename*=UTF-8\'\'%E2%82%AC.txt', '€.txt'],
  ['filename*=UTF-8\'en\'%E2%82%AC.txt; filename="plain.txt"', '€.txt'],
  ["filename=plain.txt; filename*=utf-8''%C3%A9.txt", 'é.txt'],
  ["filename*=iso-8859-1''%E9.txt", 'é.txt'],
  ['filename*="utf-8\'\'%C3%A9.txt"', 'é.txt'],
  ["filename*=utf-8''a%2522b.txt", 'a%22b.txt'],
  ["filename*=utf-8''..%2F..%2Fpasswd", 'passwd'],
  ['filename="plain.txt"; filename*=utf-8\'\'%FF.txt', 'plain.txt'],
  ['filename="plain.txt"; filename*=nonsense\'\'a.txt', 'plain.txt'],
  ['filename="a; filename*=utf-8\'\'b.txt"', "a; filename*=utf-8''b.txt"],
  ['filename="=?utf-8?B?w6k/w6kvYj8udHh0?="', 'b?.txt'],
])('a part with %s is the file %p', async (disposition, filename) => {
  const { body, text } = await post([part('x', disposition)])
  expect(text).toContain('url_token')
  expect(body.files[0]?.filename).toBe(filename)
})

test('downloads are attachments that run nothing', async () => {
  const { body } = await post([
    { ...part('<script>', `filename="a'%22\\"x;.html"`), headers: ['Content-Type: text/html'] },
  ])
  const [file] = await filesOf(body.url_token)
  const { headers: sent } = await download(file?.url ?? '')
  expect(sent.get('content-type')).toBe('application/octet-stream')
  expect(sent.get('content-disposition')).toStartWith('attachment; filename="')
  expect(sent.get('content-security-policy')).toStartWith('sandbox')
  expect(sent.get('x-content-type-options')).toBe('nosniff')
})

describe('parts of a file', () => {
  const content = noise(2 * MIB + 100)
  let url: string
  let etag: string

  beforeEach(async () => {
    const { body } = await post([part(content)])
    url = (await filesOf(body.url_token))[0]?.url ?? ''
    const head = await download(url, { method: 'HEAD' })
    etag = head.headers.get('etag') ?? ''
    expect(head.headers.get('content-length')).toBe(String(content.length))
    expect(etag).toMatch(/^"\w+"$/)
  })

  test.each([
    ['bytes=0-0', 0, 1],
    ['bytes=262143-262144', 262_143, 262_145],
    ['bytes=1000000-', 1_000_000, content.length],
    ['bytes=-100', content.length - 100, content.length],
    [`bytes=5-${10 * MIB}`, 5, content.length],
    ['bytes=-99999999', 0, content.length],
  ])('%s', async (range, start, end) => {
    const response = await download(url, { headers: { range, 'if-range': etag } })
    expect(response.status).toBe(206)
    expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${content.length}`)
    expect(Buffer.from(await response.bytes()).equals(content.subarray(start, end))).toBe(true)
  })

  test.each([['bytes=0-1,5-6'], ['bytes=5-1'], ['lines=1-2'], ['bytes=-']])(
    '%s is ignored',
    async (range) => {
      const response = await download(url, { headers: { range } })
      expect(response.status).toBe(200)
      expect((await response.bytes()).length).toBe(content.length)
    },
  )

  test('of another file are not given', async () => {
    const response = await download(url, { headers: { range: 'bytes=0-1', 'if-range': '"other"' } })
    expect(response.status).toBe(200)
    await response.body?.cancel()
  })

  test('outside of it are refused', async () => {
    const response = await download(url, { headers: { range: `bytes=${content.length}-` } })
    expect(response.status).toBe(416)
    expect(response.headers.get('content-range')).toBe(`bytes */${content.length}`)
  })

  test('can be had after a restart', async () => {
    await api.restart()
    expect((await download(url, { headers: { range: 'bytes=1-2' } })).status).toBe(206)
  })
})

describe('grants', () => {
  async function pushed(push: Part[] = []): Promise<{ urlToken: string; url: string }> {
    const { body } = await post([part('hello'), ...push])
    return { urlToken: body.url_token, url: (await filesOf(body.url_token))[0]?.url ?? '' }
  }

  test('that were altered or have run out are refused', async () => {
    const { url } = await pushed()
    for (const altered of [
      `${url}A`,
      url.slice(0, -2),
      `${url.slice(0, -12)}AAAAAAAAAAAA`,
      `${url.split('/d/')[0]}/d/x`,
    ]) {
      expect((await download(altered)).status).toBe(403)
    }
    api.clock.advance(10 * 60_000 - 1)
    expect((await download(url)).status).toBe(200)
    api.clock.advance(1)
    expect((await download(url)).status).toBe(403)
  })

  test('end with a deletion, and the files are gone', async () => {
    const { urlToken, url } = await pushed()
    await api.expire(urlToken)
    expect((await download(url)).status).toBe(404)
    await eventually(() => stored().length === 0)
  })

  test('end when the time of the push is over, before anybody sweeps', async () => {
    const { body } = await post([part('hello'), { name: 'push[expire_after_duration]', content: '0' }])
    api.clock.advance(14 * 60_000)
    const [file] = await filesOf(body.url_token)
    expect((await download(file?.url ?? '')).status).toBe(200)
    api.clock.advance(60_000)
    expect((await download(file?.url ?? '')).status).toBe(404)
    await api.sweep()
    await eventually(() => stored().length === 0)
  })

  test('of the last view still work, and the files go when they end', async () => {
    const { urlToken, url } = await pushed([{ name: 'push[expire_after_views]', content: '1' }])
    expect((await api.retrieve(urlToken)).body).toMatchObject({ expired: true, files: [] })
    await api.restart()
    await api.sweep()
    expect(await (await download(url)).text()).toBe('hello')
    api.clock.advance(10 * 60_000)
    await api.sweep()
    expect(stored()).toEqual([])
    expect((await download(url)).status).toBe(403)
  })

  test.each([
    ['the API', (path: string) => `${PUSHES}/${path}`],
    ['the previous version', (path: string) => `/p/${path}.json`],
  ])('of the last view end with a deletion through %s, which marks the push deleted', async (_, pathOf) => {
    const { urlToken, url } = await pushed([{ name: 'push[expire_after_views]', content: '1' }])
    const ended = await api.retrieve(urlToken)
    const answer = await api.call<PushBody>(pathOf(urlToken), { method: 'DELETE', token })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      expired: true,
      deleted: true,
      expired_on: ended.body.expired_on,
      views_remaining: 0,
    })
    expect((await download(url)).status).toBe(404)
    await eventually(() => stored().length === 0)
    const again = await api.call<PushBody>(pathOf(urlToken), { method: 'DELETE', token })
    expect(again.body).toEqual(answer.body)
    const kinds = (await api.audit(urlToken, token)).map(({ kind }) => kind)
    expect(kinds).toEqual(['creation', 'view', 'failed_view', 'expire'])
    expect((await api.list('expired', token))[0]).toMatchObject({ url_token: urlToken, deleted: true })
  })

  test('of a last view that a former version counted end with a deletion, too', async () => {
    const { urlToken, url } = await pushed([{ name: 'push[expire_after_views]', content: '1' }])
    await api.retrieve(urlToken)
    // Former versions did not write down to which push a file that waits belongs.
    const database = new Database(join(api.dataDir, 'oncebox.db'))
    database.run('UPDATE files_due SET push_id = NULL')
    database.close()
    expect((await download(url)).status).toBe(200)
    const { body } = await api.call<PushBody>(`${PUSHES}/${urlToken}`, { method: 'DELETE', token })
    expect(body.deleted).toBe(true)
    expect((await download(url)).status).toBe(404)
  })

  test('of the last view end with a deletion by a viewer, and with the account', async () => {
    const byViewer = await pushed([{ name: 'push[expire_after_views]', content: '1' }])
    expect((await api.expire(byViewer.urlToken)).body).toMatchObject({ deleted: true })
    expect((await download(byViewer.url)).status).toBe(404)
    const ofAccount = await pushed([{ name: 'push[expire_after_views]', content: '1' }])
    await api.accounts().removeAccount('owner@example.org')
    expect((await download(ofAccount.url)).status).toBe(404)
    await eventually(() => stored().length === 0)
  })

  test('that have ended by themselves leave a deletion nothing to do', async () => {
    const { urlToken } = await pushed([{ name: 'push[expire_after_views]', content: '1' }])
    api.clock.advance(10 * 60_000)
    expect((await api.expire(urlToken, { token })).body).toMatchObject({ expired: true, deleted: false })
    const { url_token } = await api.create({ expire_after_views: 1 })
    await api.retrieve(url_token)
    expect((await api.expire(url_token)).body).toMatchObject({ expired: true, deleted: false })
  })

  test('of the last view end with the time of the push, and so do its files', async () => {
    const { body } = await post([
      part('hello'),
      { name: 'push[expire_after_duration]', content: '0' },
      { name: 'push[expire_after_views]', content: '1' },
    ])
    api.clock.advance(14 * 60_000)
    const [file] = await filesOf(body.url_token)
    api.clock.advance(60_000 - 1)
    expect((await download(file?.url ?? '')).status).toBe(200)
    api.clock.advance(1)
    expect((await download(file?.url ?? '')).status).toBe(404)
    await api.sweep()
    expect(stored()).toEqual([])
    expect((await api.expire(body.url_token, { token })).body).toMatchObject({ deleted: false })
  })

  test('that are being used are broken off by a deletion, and not by time', async () => {
    const content = noise(12 * MIB)
    const push = async () => {
      const { body } = await post([part(content), { name: 'push[expire_after_duration]', content: '0' }])
      const [file] = await filesOf(body.url_token)
      const reader = (await download(file?.url ?? '')).body?.getReader()
      if (reader === undefined) throw new Error('there is no body')
      await reader.read()
      return { urlToken: body.url_token, reader }
    }
    const readOn = async (reader: ReadableStreamDefaultReader<Uint8Array>): Promise<number> => {
      let bytes = 0
      for (let read = await reader.read(); !read.done; read = await reader.read()) bytes += read.value.length
      return bytes
    }
    const deleted = await push()
    await api.expire(deleted.urlToken, { token })
    await expect(readOn(deleted.reader)).rejects.toThrow()
    const lapsed = await push()
    api.clock.advance(15 * 60_000)
    expect(await readOn(lapsed.reader)).toBeGreaterThan(11 * MIB)
  })
})

test('nothing of a file is in the clear on disk, and an altered one is not served', async () => {
  const content = Buffer.from('PLANTED-CONTENT '.repeat(100_000))
  const { body } = await post([part(content, 'filename="PLANTED-NAME.txt"')])
  const [path = ''] = stored().map((name) => join(api.dataDir, 'files', name))
  expect(readFileSync(path).includes('PLANTED')).toBe(false)
  expect(readFileSync(join(api.dataDir, 'oncebox.db')).includes('PLANTED')).toBe(false)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const [file] = await filesOf(body.url_token)
  const bytes = readFileSync(path)
  const ask = async () => (await download(file?.url ?? '', { headers: { range: 'bytes=0-9' } })).status
  for (const at of [0, 3, 7, 8, 1000]) {
    const altered = Buffer.from(bytes)
    altered[at] = (altered[at] ?? 0) ^ 1
    await Bun.write(path, altered)
    expect({ at, status: await ask() }).toEqual({ at, status: 500 })
  }
  await Bun.write(path, Buffer.concat([bytes, Buffer.from('more')]))
  expect(await ask()).toBe(500)
  await Bun.write(path, bytes.subarray(0, -1))
  expect(await ask()).toBe(500)
  await Bun.write(path, bytes)
  expect(await ask()).toBe(206)
})

test('an upload that a crash cut off is removed at the next start', async () => {
  const { body } = await post([part('kept')])
  const { Database } = await import('bun:sqlite')
  const database = new Database(join(api.dataDir, 'oncebox.db'))
  const id = 'zz'.padEnd(26, '0')
  database.run('INSERT INTO files_due (id, at) VALUES (?, NULL)', [id])
  database.close()
  await Bun.write(join(api.dataDir, 'files', 'zz', `${id}.part`), 'half')
  await api.restart()
  await api.sweep()
  await eventually(() => stored().length === 1)
  expect(await (await download((await filesOf(body.url_token))[0]?.url ?? '')).text()).toBe('kept')
})
