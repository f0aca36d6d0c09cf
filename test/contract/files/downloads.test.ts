// Downloads of files by grant: headers, ranges, and the end of grants.

import { beforeEach, describe, expect, test } from 'bun:test'
import { PUSHES, type PushBody } from '../../support/api.ts'
import { waitUntil } from '../../support/waiting.ts'
import type { Part } from '../multipart.ts'
import { MIB, noise, part, useFiles } from './files.ts'

const { at, post, filesOf, download, stored } = useFiles()

test('downloads are attachments that browsers do not run', async () => {
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

describe('ranges of a file', () => {
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
    [`bytes= 5 - 9${' '.repeat(88)}`, 5, 10],
  ])('%s', async (range, start, end) => {
    const response = await download(url, { headers: { range, 'if-range': etag } })
    expect(response.status).toBe(206)
    expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${content.length}`)
    expect(Buffer.from(await response.bytes()).equals(content.subarray(start, end))).toBe(true)
  })

  const long = [`bytes=${'0'.repeat(100)}-1`, `bytes=${' '.repeat(15_000)}x`]
  test.each(['bytes=0-1,5-6', 'bytes=5-1', 'lines=1-2', 'bytes=-', 'bytes=1 2-3', ...long])(
    '%s is ignored',
    async (range) => {
      const response = await download(url, { headers: { range } })
      expect(response.status).toBe(200)
      expect((await response.bytes()).length).toBe(content.length)
    },
  )

  test('of another file are refused', async () => {
    const response = await download(url, { headers: { range: 'bytes=0-1', 'if-range': '"other"' } })
    expect(response.status).toBe(200)
    await response.body?.cancel()
  })

  test('outside of it are refused', async () => {
    const response = await download(url, { headers: { range: `bytes=${content.length}-` } })
    expect(response.status).toBe(416)
    expect(response.headers.get('content-range')).toBe(`bytes */${content.length}`)
  })

  test('can be downloaded after a restart', async () => {
    await at.api.restart()
    expect((await download(url, { headers: { range: 'bytes=1-2' } })).status).toBe(206)
  })
})

describe('grants', () => {
  async function pushed(push: Part[] = []): Promise<{ urlToken: string; url: string }> {
    const { body } = await post([part('hello'), ...push])
    return { urlToken: body.url_token, url: (await filesOf(body.url_token))[0]?.url ?? '' }
  }

  test('that were altered or have expired are refused', async () => {
    const { url } = await pushed()
    for (const altered of [
      `${url}A`,
      url.slice(0, -2),
      `${url.slice(0, -12)}AAAAAAAAAAAA`,
      `${url.split('/d/')[0]}/d/x`,
    ]) {
      expect((await download(altered)).status).toBe(403)
    }
    at.api.clock.advance(10 * 60_000 - 1)
    expect((await download(url)).status).toBe(200)
    at.api.clock.advance(1)
    expect((await download(url)).status).toBe(403)
  })

  test('end when the push is deleted, and the files are gone', async () => {
    const { urlToken, url } = await pushed()
    await at.api.expire(urlToken)
    expect((await download(url)).status).toBe(404)
    await waitUntil(() => stored().length === 0)
  })

  test('end when the push expires, before the sweeper runs', async () => {
    const { body } = await post([part('hello'), { name: 'push[expire_after_duration]', content: '0' }])
    at.api.clock.advance(14 * 60_000)
    const [file] = await filesOf(body.url_token)
    expect((await download(file?.url ?? '')).status).toBe(200)
    at.api.clock.advance(60_000)
    expect((await download(file?.url ?? '')).status).toBe(404)
    await at.api.sweep()
    await waitUntil(() => stored().length === 0)
  })

  test('of the last view still work, and the files are removed when they end', async () => {
    const { urlToken, url } = await pushed([{ name: 'push[expire_after_views]', content: '1' }])
    expect((await at.api.retrieve(urlToken)).body).toMatchObject({ expired: true, files: [] })
    await at.api.restart()
    await at.api.sweep()
    expect(await (await download(url)).text()).toBe('hello')
    at.api.clock.advance(10 * 60_000)
    await at.api.sweep()
    expect(stored()).toEqual([])
    expect((await download(url)).status).toBe(403)
  })

  test.each([
    ['the API', (path: string) => `${PUSHES}/${path}`],
    ['the previous version', (path: string) => `/p/${path}.json`],
  ])('of the last view end with a deletion through %s, which marks the push deleted', async (_, pathOf) => {
    const { urlToken, url } = await pushed([{ name: 'push[expire_after_views]', content: '1' }])
    const ended = await at.api.retrieve(urlToken)
    const answer = await at.api.call<PushBody>(pathOf(urlToken), { method: 'DELETE', token: at.token })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      expired: true,
      deleted: true,
      expired_on: ended.body.expired_on,
      views_remaining: 0,
    })
    expect((await download(url)).status).toBe(404)
    await waitUntil(() => stored().length === 0)
    const again = await at.api.call<PushBody>(pathOf(urlToken), { method: 'DELETE', token: at.token })
    expect(again.body).toEqual(answer.body)
    const kinds = (await at.api.audit(urlToken, at.token)).map(({ kind }) => kind)
    expect(kinds).toEqual(['creation', 'view', 'failed_view', 'expire'])
    expect((await at.api.list('expired', at.token))[0]).toMatchObject({ url_token: urlToken, deleted: true })
  })

  test('of the last view end with a deletion by a viewer, and with the account', async () => {
    const byViewer = await pushed([{ name: 'push[expire_after_views]', content: '1' }])
    expect((await at.api.expire(byViewer.urlToken)).body).toMatchObject({ deleted: true })
    expect((await download(byViewer.url)).status).toBe(404)
    const ofAccount = await pushed([{ name: 'push[expire_after_views]', content: '1' }])
    await at.api.accounts().removeAccount('owner@example.org')
    expect((await download(ofAccount.url)).status).toBe(404)
    await waitUntil(() => stored().length === 0)
  })

  test('that have expired leave nothing to delete', async () => {
    const { urlToken } = await pushed([{ name: 'push[expire_after_views]', content: '1' }])
    at.api.clock.advance(10 * 60_000)
    expect((await at.api.expire(urlToken, { token: at.token })).body).toMatchObject({
      expired: true,
      deleted: false,
    })
    const { url_token } = await at.api.create({ expire_after_views: 1 })
    await at.api.retrieve(url_token)
    expect((await at.api.expire(url_token)).body).toMatchObject({ expired: true, deleted: false })
  })

  test('of the last view end when the push expires, and its files are removed', async () => {
    const { body } = await post([
      part('hello'),
      { name: 'push[expire_after_duration]', content: '0' },
      { name: 'push[expire_after_views]', content: '1' },
    ])
    at.api.clock.advance(14 * 60_000)
    const [file] = await filesOf(body.url_token)
    at.api.clock.advance(60_000 - 1)
    expect((await download(file?.url ?? '')).status).toBe(200)
    at.api.clock.advance(1)
    expect((await download(file?.url ?? '')).status).toBe(404)
    await at.api.sweep()
    expect(stored()).toEqual([])
    expect((await at.api.expire(body.url_token, { token: at.token })).body).toMatchObject({ deleted: false })
  })

  test('in progress are aborted by a deletion, but not by expiry', async () => {
    // Larger than the buffers of both ends.
    const content = noise(40 * MIB)
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
    await at.api.expire(deleted.urlToken, { token: at.token })
    await expect(readOn(deleted.reader)).rejects.toThrow()
    const lapsed = await push()
    at.api.clock.advance(15 * 60_000)
    expect(await readOn(lapsed.reader)).toBeGreaterThan(39 * MIB)
  })
})
