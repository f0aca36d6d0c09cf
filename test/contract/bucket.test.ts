// A complete Oncebox with its files in a bucket: it behaves as with a disk, and while the bucket fails,
// everything that needs no files works.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LANGUAGES, wordsOf } from '../../src/words/words.ts'
import { type Api, startApi } from '../support/api.ts'
import { type Fault, openTestBucket, type TestBucket } from '../support/bucket.ts'
import { fieldsOf, formOf } from '../support/page-facts.ts'
import { createPeople } from '../support/people.ts'
import { waitUntil } from '../support/waiting.ts'
import { BOUNDARY, multipart } from './multipart.ts'

let bucket: TestBucket
let keys: string
beforeAll(async () => {
  bucket = await openTestBucket()
  keys = mkdtempSync(join(tmpdir(), 'oncebox-keys-'))
})
afterAll(async () => {
  await bucket.close()
  rmSync(keys, { recursive: true, force: true })
})

let api: Api
let token: string
beforeEach(async () => {
  const key = join(keys, `${crypto.randomUUID()}.key`)
  api = await startApi({
    flags: { 'files-url': bucket.url, 'key-file': key },
    env: {
      ONCEBOX_S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
    },
  })
  token = await api.addAccount('ann@example.org', { isAdmin: true })
})
afterEach(async () => {
  bucket.failWith(() => null)
  await api.close()
})

const CONTENT = Buffer.alloc(700_000, 'once')
/** Several parts of an upload. */
const LARGE = 20 * 1024 * 1024
const fileOf = (content: Buffer) => ({ filename: 'a.txt', data: content.toString('base64') })
const create = (more = {}) => api.create({ files: [fileOf(CONTENT)], ...more }, { token })
const fail = (fault: Fault) => bucket.failWith(() => fault)
const RESET: Fault = 'reset'
const files = () => bucket.listKeys()

async function untilServed(urlToken: string) {
  let answer = await api.retrieve(urlToken)
  await waitUntil(async () => {
    if (answer.status === 503) answer = await api.retrieve(urlToken)
    return answer.status !== 503
  })
  return answer
}

async function linkOf(urlToken: string): Promise<string> {
  const { body } = await api.retrieve(urlToken)
  return (body.files as { url: string }[])[0]?.url ?? ''
}

test('a file is served whole and in ranges, never by a URL of the bucket, and is removed with its push', async () => {
  const before = files().length
  const push = await create()
  expect(files()).toHaveLength(before + 1)
  const link = await linkOf(push.url_token)
  expect(link).toStartWith('http://localhost/d/')
  const whole = await api.fetch(link)
  expect(Buffer.from(await whole.arrayBuffer()).equals(CONTENT)).toBe(true)
  // An interrupted download resumes where it ended.
  const rest = await api.fetch(link, {
    headers: { range: 'bytes=600000-', 'if-range': whole.headers.get('etag') ?? '' },
  })
  expect(rest.status).toBe(206)
  expect(Buffer.from(await rest.arrayBuffer()).equals(CONTENT.subarray(600_000))).toBe(true)
  await api.expire(push.url_token, { token })
  await waitUntil(() => files().length <= before)
  expect((await api.fetch(link)).status).toBe(404)
})

test('while the bucket fails, pushes with files are refused, others work, and no view is counted', async () => {
  const push = await create({ expire_after_views: 2 })
  fail(RESET)
  const refused = await api.post({ payload: 'x', files: [fileOf(CONTENT)] }, { token })
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toBe('5')
  const plain = await api.create()
  expect((await api.retrieve(plain.url_token)).body.payload).toBe('correct horse')
  expect((await api.retrieve(push.url_token)).status).toBe(503)
  bucket.failWith(() => null)
  const { body } = await untilServed(push.url_token)
  expect(body.views_remaining).toBe(1)
  const told = api.log.filter((line) => line.includes('warn') && line.includes('The bucket'))
  expect(told.map((line) => /cannot be used|works again/.exec(line)?.[0])).toEqual([
    'cannot be used',
    'works again',
  ])
})

test('a missing object is reported as damage of the bucket, not of the disk', async () => {
  const before = files()
  const push = await create({ payload: 'beside the file' })
  for (const key of files()) if (!before.includes(key)) bucket.remove(key)
  const { body } = await api.retrieve(push.url_token)
  expect(body.payload).toBe('beside the file')
  const told = api.log.filter((line) => line.includes('damaged'))
  expect(told).toEqual([
    expect.stringMatching(/damaged in the bucket: a file of push \d+ \(\w+\) is missing there/),
  ])
  const ready = await api.fetch('/readyz', { headers: { authorization: `Bearer ${token}` } })
  expect(((await ready.json()) as { checks: Record<string, string> }).checks.damage).toBe(
    '1 place on the disk or in the bucket is damaged; the log names them, and docs/damage.md says what to do for each.',
  )
})

test('a full bucket refuses files as a full disk does', async () => {
  await create()
  fail({ status: 507, code: 'XMinioStorageFull' })
  const refused = await api.post({ payload: 'x', files: [fileOf(CONTENT)] }, { token })
  expect(refused.status).toBe(507)
  expect((await api.create()).expired).toBe(false)
})

test('a push is deleted while the bucket fails, and the object is removed later', async () => {
  const before = files().length
  const push = await create()
  fail(RESET)
  expect((await api.expire(push.url_token, { token })).status).toBe(200)
  await api.sweep()
  expect(files()).toHaveLength(before + 1)
  bucket.failWith(() => null)
  await api.restart()
  // A failed removal is retried after a minute.
  api.clock.advance(61_000)
  await api.sweep()
  await waitUntil(() => files().length <= before)
})

test('/readyz reports the fault of the bucket and stays ready', async () => {
  const ask = async () =>
    (await api.fetch('/readyz', { from: '127.0.0.1' })).json() as Promise<{ checks: object }>
  expect(await ask()).toMatchObject({ ready: true, checks: { files: 'ok' } })
  fail(RESET)
  await api.post({ payload: 'x', files: [fileOf(CONTENT)] }, { token })
  const checks = { files: expect.stringContaining('cannot be used') }
  expect(await ask()).toMatchObject({ ready: true, checks })
})

test('the administration page names the bucket in each language, and its state in the words of /readyz', async () => {
  const ann = await createPeople(api).signIn('ann@example.org')
  for (const language of LANGUAGES) {
    const { text } = await ann.get(`/admin?locale=${language}`)
    expect(text).toContain('oncebox-test/some/prefix (127.0.0.1:')
    expect(text).not.toContain(bucket.credentials.secretAccessKey)
  }
  fail(RESET)
  await api.post({ payload: 'x', files: [fileOf(CONTENT)] }, { token })
  // The reason appears in /readyz with the same words.
  const { checks } = (await (await api.fetch('/readyz', { from: '127.0.0.1' })).json()) as {
    checks: { files: string }
  }
  expect(checks.files).toContain('cannot be used')
  expect((await ann.get('/admin')).text).toContain(checks.files)
})

test('the page of a secret says that its files are unreachable, and counts no view', async () => {
  const push = await create({ expire_after_views: 2, retrieval_step: false })
  const people = createPeople(api)
  const page = `/p/${push.url_token}`
  const { text } = await people.get(page)
  const fields = Object.fromEntries(
    [...text.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  )
  fail(RESET)
  const refused = await people.post(page, fields)
  expect(refused.status).toBe(503)
  const { say } = wordsOf('en')
  for (const word of ['outage_files_unreachable', 'receive_outage'] as const)
    expect(refused.text).toContain(say(word))
  bucket.failWith(() => null)
  // The server waits a moment after a failure.
  const { body } = await untilServed(push.url_token)
  expect(body.views_remaining).toBe(1)
})

test('a form whose file the bucket refuses is shown again, with the fields that follow the file', async () => {
  const ann = await createPeople(api).signIn('ann@example.org')
  const form = formOf((await ann.get('/')).text, '/')
  const fields = { ...fieldsOf(form), 'push[kind]': 'file', 'push[payload]': 'before the file' }
  const before = Object.entries(fields).filter(([name]) => name !== 'push[name]')
  const parts = [
    ...before.map(([name, content]) => ({ name, content })),
    { name: 'push[files][]', content: Buffer.alloc(LARGE, 'x'), disposition: 'filename="large.bin"' },
    { name: 'push[files][]', content: 'small', disposition: 'filename="small.txt"' },
    { name: 'push[name]', content: 'behind the files' },
  ]
  fail(RESET)
  const refused = await ann.get('/', {
    method: 'POST',
    body: multipart(parts),
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, origin: 'http://localhost' },
  })
  expect(refused.status).toBe(503)
  expect(fieldsOf(formOf(refused.text, '/'))).toMatchObject({
    'push[payload]': 'before the file',
    'push[name]': 'behind the files',
    'push[idempotency_key]': fieldsOf(form)['push[idempotency_key]'] ?? '',
  })
})
