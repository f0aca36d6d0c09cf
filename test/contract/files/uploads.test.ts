// Uploads of files, as parts or in JSON: names, limits, failures, and the bytes on disk.

import { describe, expect, test } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { PUSHES, startApi } from '../../support/api.ts'
import { waitUntil } from '../../support/waiting.ts'
import { BOUNDARY, multipart } from '../multipart.ts'
import { type FileBody, MIB, MULTIPART, noise, part, useFiles } from './files.ts'

const { at, post, filesOf, download, stored } = useFiles()

test('files are returned unchanged, with name, type and size', async () => {
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
  const retrieved = await at.api.retrieve(body.url_token)
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
  const { body } = await at.api.post({ payload: 'text', kind: 'text', files }, { token: at.token })
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
])('a push with the fields %p is refused', async (push, field) => {
  const { status, body } = await at.api.post({ payload: 'x', ...push }, { token: at.token })
  expect(status).toBe(422)
  expect(Object.keys(body)).toContain(field)
  await waitUntil(() => stored().length === 0)
})

describe('a failed upload leaves nothing behind', () => {
  test.each<[string, () => Promise<{ status: number }>, number]>([
    ['a visitor', () => post([part('x')], { token: undefined }), 401],
    [
      'a field after the files that is invalid',
      () => post([part(noise(MIB)), { name: 'push[expire_after_days]', content: '999' }]),
      422,
    ],
    ['a missing last boundary', () => post([part(noise(MIB))], { token: at.token, end: '' }), 400],
    ['more files than allowed', () => post(Array.from({ length: 11 }, () => part('x'))), 422],
    ['a name that is too long', () => post([part('x'), part('x', `filename="${'n'.repeat(300)}"`)]), 422],
  ])('%s', async (_, send, status) => {
    expect((await send()).status).toBe(status)
    await waitUntil(() => stored().length === 0)
    expect(await at.api.list('active', at.token)).toEqual([])
  })

  test('a body without an end after its last boundary', async () => {
    await at.api.close()
    at.api = await startApi({
      flags: { 'max-file-bytes': '1KiB', 'max-files': '1', 'max-payload-bytes': '1KiB' },
    })
    at.token = await at.api.addAccount('owner@example.org')
    const { status, text } = await post([part('fits'), { name: 'push[payload]', content: 'x' }], {
      token: at.token,
      end: `--${BOUNDARY}--\r\n${'x'.repeat(MIB)}`,
    })
    expect(status).toBe(413)
    expect(text).toContain('--max-files')
    await waitUntil(() => stored().length === 0)
  })

  test('a file beyond the limit, which the answer names', async () => {
    await at.api.close()
    at.api = await startApi({ flags: { 'max-file-bytes': '1MiB' } })
    at.token = await at.api.addAccount('owner@example.org')
    const { status, text } = await post([part('fits'), part(noise(MIB + 1))])
    expect(status).toBe(413)
    expect(text).toContain('--max-file-bytes')
    await waitUntil(() => stored().length === 0)
  })
})

test('a file name may have 255 characters of any part of Unicode', async () => {
  const filename = '𝔫'.repeat(255)
  const named = await at.api.create({ payload: 'x', files: [{ filename, data: '' }] }, { token: at.token })
  expect(named.files).toEqual([{ filename, content_type: 'application/octet-stream', size: 0 }])
  const longer = [{ filename: `${filename}𝔫`, data: '' }]
  expect((await at.api.post({ payload: 'x', files: longer }, { token: at.token })).status).toBe(422)
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
  const upload = at.api.call(PUSHES, { headers: MULTIPART, body: sent, token: at.token })
  await waitUntil(() => stored().length > 0)
  await at.api.accounts().removeAccount('owner@example.org')
  const next = await at.api.addAccount('next@example.org')
  removed.resolve()
  expect((await upload).status).toBe(401)
  expect(await at.api.list('active', next)).toEqual([])
  await waitUntil(() => stored().length === 0)
})

test('below the floor of free space creates are refused, and everything else works', async () => {
  const { dataDir } = at.api
  await at.api.stop()
  at.api = await startApi({ dataDir, flags: { 'min-free-space': '1000TiB' } })
  expect((await post([part('x')])).status).toBe(507)
  expect((await at.api.post({ payload: 'x' })).status).toBe(507)
  expect(await at.api.list('active', at.token)).toEqual([])
  await waitUntil(() => stored().length === 0)
})

test('an empty part without a name is no file', async () => {
  const { status, body } = await post([
    { ...part('', 'filename=""') },
    { name: 'push[payload]', content: 'x' },
  ])
  expect(status).toBe(201)
  expect(body).toMatchObject({ kind: 'text', files: [] })
  await waitUntil(() => stored().length === 0)
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

test('no plaintext of a file is on disk, and an altered file is not served', async () => {
  const content = Buffer.from('PLANTED-CONTENT '.repeat(100_000))
  const { body } = await post([part(content, 'filename="PLANTED-NAME.txt"')])
  const [path = ''] = stored().map((name) => join(at.api.dataDir, 'files', name))
  expect(readFileSync(path).includes('PLANTED')).toBe(false)
  expect(readFileSync(join(at.api.dataDir, 'oncebox.db')).includes('PLANTED')).toBe(false)
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

test('an upload that a crash interrupted is removed at the next start', async () => {
  const { body } = await post([part('kept')])
  const { Database } = await import('bun:sqlite')
  const database = new Database(join(at.api.dataDir, 'oncebox.db'))
  const id = 'zz'.padEnd(26, '0')
  database.run("INSERT INTO files_due (id, node) VALUES (?, x'00')", [id])
  database.close()
  await Bun.write(join(at.api.dataDir, 'files', 'zz', `${id}.part`), 'half')
  await at.api.restart()
  await at.api.sweep()
  await waitUntil(() => stored().length === 1)
  expect(await (await download((await filesOf(body.url_token))[0]?.url ?? '')).text()).toBe('kept')
})
