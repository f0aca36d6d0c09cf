// Files in a bucket: large uploads, a store that fails in every way, and what is left behind.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { sealedSize } from '../../../src/crypto/sealed-stream.ts'
import { isDomainError } from '../../../src/domain/errors.ts'
import { openBucket } from '../../../src/store/s3/bucket.ts'
import { type Fault, openTestBucket, type Seen, type TestBucket } from '../../support/bucket.ts'
import { startStopwatch } from '../../support/effort.ts'

const MIB = 1024 * 1024
/** Enough for three parts. */
const LARGE = 12 * MIB
const PATIENCE = { whole: 60_000, once: 30_000, pause: 10 }
/** Short timeouts for stores that stall. */
const LITTLE_PATIENCE = { whole: 5_000, once: 1_500, pause: 10 }

let bucket: TestBucket
beforeAll(async () => {
  bucket = await openTestBucket()
})
afterAll(() => bucket.close())

let opened = 0
let root: string
let warnings: string[]
beforeEach(() => {
  opened += 1
  root = `some/prefix/tag${opened}/`
  warnings = []
  bucket.seen.length = 0
})
afterEach(() => bucket.failWith(() => null))

type Changes = Partial<Parameters<typeof openBucket>[0]>

function open(changes: Changes = {}) {
  return openBucket({
    ...bucket.settings,
    patience: PATIENCE,
    tag: `tag${opened}`,
    onWarning: (warning) => warnings.push(warning),
    ...changes,
  })
}

function bytesOf(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  for (let at = 0; at < length; at += 4) bytes.writeUInt32LE(at, Math.min(at, length - 4))
  return bytes
}

async function* arriving(bytes: Buffer, chunk = 300_000, breaksAfter = Number.POSITIVE_INFINITY) {
  for (let at = 0; at < bytes.length; at += chunk) {
    if (at > breaksAfter) throw new Error('cut off')
    yield bytes.subarray(at, at + chunk)
  }
}

/** Returns the fault for the first `times` requests that match. */
function failing(fits: (seen: Seen) => boolean, fault: Fault, times = Number.POSITIVE_INFINITY): void {
  let left = times
  bucket.failWith((seen) => {
    if (!fits(seen) || left === 0) return null
    left -= 1
    return fault
  })
}

const isFile = ({ key }: Seen) => key.startsWith(root) && !key.endsWith('look')
const isPut = (seen: Seen) => seen.method === 'PUT' && isFile(seen)
const codeOf = (cause: unknown) => (isDomainError(cause) ? cause.code : cause)

describe('a large file', () => {
  const content = bytesOf(LARGE)

  test('is uploaded in parts and downloaded in windows, from any position', async () => {
    const { files } = open()
    await files.put('aa1', arriving(content))
    const parts = bucket.seen.filter(({ query }) => query.has('partNumber'))
    expect(parts.map(({ query }) => query.get('partNumber'))).toEqual(['1', '2', '3'])
    expect(bucket.countUploads()).toBe(0)
    const file = await files.open('aa1')
    expect(file?.size).toBe(LARGE)
    const read: Uint8Array[] = []
    const length = 262_160
    for (let start = 8; start < LARGE; start += length) {
      const piece = (await file?.read({ start, length })) ?? new Uint8Array()
      expect(piece).toHaveLength(Math.min(length, LARGE - start))
      read.push(Uint8Array.from(piece))
    }
    expect(Buffer.concat(read).equals(content.subarray(8))).toBe(true)
    const middle = await file?.read({ start: 7 * MIB, length: 100 })
    expect(Buffer.from(middle ?? []).equals(content.subarray(7 * MIB, 7 * MIB + 100))).toBe(true)
    // Each request reads several segments, so a download takes few requests.
    const gets = bucket.seen.filter((seen) => seen.method === 'GET' && isFile(seen))
    expect(gets.length).toBeLessThan(20)
    await file?.close()
  })

  test('whose upload is aborted leaves neither parts nor an object', async () => {
    const { files } = open()
    await expect(files.put('aa1', arriving(content, 300_000, 6 * MIB))).rejects.toThrow('cut off')
    expect(bucket.countUploads()).toBe(0)
    expect(bucket.listKeys()).not.toContain(`${root}aa1`)
  })

  test('is complete even if the answer to its completion is lost', async () => {
    const { files } = open()
    failing((seen) => seen.method === 'POST' && seen.query.has('uploadId'), 'swallow', 1)
    await files.put('aa1', arriving(content))
    expect((await files.open('aa1'))?.size).toBe(LARGE)
  })

  test('with a part that never arrives is refused, and no object is left', async () => {
    const { files } = open()
    failing((seen) => seen.query.get('partNumber') === '2', 'reset')
    expect(await files.put('aa1', arriving(content)).catch(codeOf)).toBe('files_unreachable')
    bucket.failWith(() => null)
    while ((await files.remove('aa1').catch(codeOf)) !== undefined) await Bun.sleep(50)
    expect(bucket.listKeys()).not.toContain(`${root}aa1`)
  })
})

describe('a store that fails for a moment', () => {
  test.each<[string, Fault]>([
    ['is busy', { status: 503, code: 'SlowDown' }],
    ['has an inner error', { status: 500, code: 'InternalError' }],
    ['resets the connection', 'reset'],
    ['swallows its answer', 'swallow'],
    ['stalls', 'stall'],
  ])('and %s is retried without a visible failure', async (_, fault) => {
    const { files, report } = open(fault === 'stall' ? { patience: LITTLE_PATIENCE } : {})
    failing(isPut, fault, 1)
    await files.put('aa1', arriving(Buffer.from('sealed')))
    failing(isFile, fault, 1)
    expect(await (await files.open('aa1'))?.read({ start: 0, length: 6 })).toEqual(Buffer.from('sealed'))
    // On a reused connection, Bun itself retries after a reset.
    if (fault !== 'reset' && fault !== 'swallow') expect(report.countRequests().retried).toBe(2)
    expect(report.countRequests().failed).toBe(0)
    expect(warnings).toEqual([])
  })
})

describe('a store that keeps failing', () => {
  test('refuses files at once after the first failure, logs the reason once, and recovers by itself', async () => {
    const { files, report } = open({ patience: LITTLE_PATIENCE })
    await files.put('aa1', arriving(Buffer.from('sealed')))
    failing(() => true, 'stall')
    const stop = startStopwatch()
    expect(await files.put('aa2', arriving(Buffer.from('sealed'))).catch(codeOf)).toBe('files_unreachable')
    expect(stop()).toBeLessThan(10_000)
    const asked = bucket.seen.length
    expect(await files.open('aa1').catch(codeOf)).toBe('files_unreachable')
    expect(await files.has({ id: 'aa1', size: 1 }).catch(codeOf)).toBe('files_unreachable')
    expect(await files.remove('aa1').catch(codeOf)).toBe('files_unreachable')
    expect(bucket.seen.length).toBe(asked)
    expect(await report.findProblem()).toContain('did not answer')
    expect(warnings).toHaveLength(1)
    bucket.failWith(() => null)
    while ((await files.put('aa3', arriving(Buffer.from('sealed'))).catch(codeOf)) !== undefined)
      await Bun.sleep(50)
    expect(await report.findProblem()).toBeNull()
    expect(warnings).toHaveLength(2)
    expect(warnings[1]).toContain('works again')
  })

  test('for lack of room refuses files like a full disk, but still returns stored ones', async () => {
    const { files, report } = open()
    await files.put('aa1', arriving(Buffer.from('sealed')))
    failing(isPut, { status: 507, code: 'XMinioStorageFull' })
    expect(await files.put('aa2', arriving(Buffer.from('sealed'))).catch(codeOf)).toBe('disk_full')
    expect((await files.open('aa1'))?.size).toBe(6)
    expect(report.isFull()).toBe(true)
    expect(await report.findProblem()).toBeNull()
    bucket.failWith(() => null)
    await files.put('aa3', arriving(Buffer.from('sealed')))
    expect(report.isFull()).toBe(false)
    expect(warnings.map((warning) => /is full|has room again/.exec(warning)?.[0])).toEqual([
      'is full',
      'has room again',
    ])
  })

  test.each<[Fault, string]>([
    [{ status: 403, code: 'AccessDenied' }, 'may not do this'],
    [
      { status: 403, code: 'RequestTimeTooSkewed', headers: { date: 'Mon, 01 Jan 2001 00:00:00 GMT' } },
      'clock',
    ],
    [{ status: 400, code: 'AuthorizationHeaderMalformed' }, 'in another region'],
    [{ status: 301, code: 'PermanentRedirect' }, 'another endpoint'],
    [{ status: 404, code: 'NoSuchBucket' }, 'there is no such bucket'],
  ])('with %o is not retried, and the operator gets an explanation', async (fault, words) => {
    const { files } = open()
    await files.put('aa1', arriving(Buffer.from('sealed')))
    failing(isFile, fault)
    bucket.seen.length = 0
    expect(await files.put('aa2', arriving(Buffer.from('sealed'))).catch(codeOf)).toBe('files_unreachable')
    expect(bucket.seen).toHaveLength(1)
    expect(warnings.join()).toContain(words)
    // Not found may mean that the whole bucket is missing, so it is not reported as damage.
    expect(await files.has({ id: 'aa1', size: 1 }).catch(codeOf)).toBe('files_unreachable')
  })

  test('because of a wrong key differs from one because of a wrong bucket on a real server', async () => {
    const { credentials, place } = bucket.settings
    const put = async (changes: Changes) => {
      await open(changes)
        .files.put('aa1', arriving(Buffer.from('sealed')))
        .catch(() => undefined)
      return warnings.join()
    }
    expect(await put({ credentials: { ...credentials, secretAccessKey: 'wrong' } })).toContain(
      'secret access key',
    )
    expect(await put({ credentials: { ...credentials, accessKeyId: 'nobody' } })).toContain('access key id')
    expect(await put({ place: { ...place, bucket: 'elsewhere' } })).toContain('there is no such bucket')
  })

  test('is retried, even if it failed at the start', async () => {
    failing(() => true, 'reset')
    const { report, files } = open()
    expect(await report.findProblem()).not.toBeNull()
    bucket.failWith(() => null)
    while ((await files.put('aa1', arriving(Buffer.from('sealed'))).catch(codeOf)) !== undefined)
      await Bun.sleep(50)
    expect(await files.has({ id: 'aa1', size: 1 })).toBe(false)
  })
})

test('a file that the store truncated is refused', async () => {
  const { files } = open()
  failing((seen) => seen.method === 'GET' && isFile(seen), {
    status: 206,
    code: '',
    headers: { 'content-range': 'bytes 0-0/3' },
  })
  expect(await files.put('aa1', arriving(Buffer.from('sealed'))).catch(codeOf)).toBe('files_unreachable')
})

test('a store that ignores ranges is refused before its answer is read', async () => {
  const { files } = open()
  await files.put('aa1', arriving(bytesOf(LARGE)))
  const whole = { status: 200, code: 'x'.repeat(400_000) }
  failing((seen) => seen.method === 'GET' && isFile(seen), whole)
  expect(await files.open('aa1').catch(codeOf)).toBe('files_unreachable')
  expect(warnings.join()).toContain('ignores ranges')
})

test('object keys reveal nothing but the number of objects', async () => {
  const { files } = open()
  await files.put('aa1', arriving(Buffer.from('sealed')))
  expect(bucket.listKeys().filter((key) => key.startsWith(root))).toEqual([`${root}aa1`])
})

test('a sealed file of the given size exists', async () => {
  const { files } = open()
  await files.put('aa1', arriving(Buffer.alloc(sealedSize(5))))
  expect(await files.has({ id: 'aa1', size: 5 })).toBe(true)
  bucket.remove(`${root}aa1`)
  expect(await files.has({ id: 'aa1', size: 5 })).toBe(false)
  expect(await files.open('aa1')).toBeNull()
})
