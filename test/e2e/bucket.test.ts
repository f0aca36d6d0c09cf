// The compiled binary with its files in a bucket: bounded memory, kill -9 in the middle of an upload, the
// commands beside it, and a server of objects that stops answering.

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createStage, runBinary, type Started } from '../support/binary.ts'
import { openTestBucket, type TestBucket } from '../support/bucket.ts'
import { startStopwatch } from '../support/effort.ts'
import { untilTaken } from '../support/waiting.ts'

const MIB = 1024 * 1024
const LARGE = 140 * MIB

const stage = createStage()
let bucket: TestBucket
let keyFile: string
beforeAll(async () => {
  bucket = await openTestBucket()
  keyFile = join(stage.folder(), 'instance.key')
})
afterEach(() => {
  bucket.failWith(() => null)
  bucket.seen.length = 0
})
afterAll(async () => {
  await stage.clear()
  await bucket.close()
})

const environment = () => ({
  ONCEBOX_FILES_URL: bucket.url,
  ONCEBOX_KEY_FILE: keyFile,
  ONCEBOX_S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
  ONCEBOX_S3_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
})

async function start(dataDir?: string) {
  const server = await stage.start({ env: environment(), ...(dataDir === undefined ? {} : { dataDir }) })
  if (dataDir !== undefined) return { server, auth: '' }
  await server.command(['user', 'add', 'ann@example.org', '--password-stdin'], 'correct horse battery\n')
  const { stdout } = await server.command(['token', 'create', 'ann@example.org'])
  return { server, auth: `Bearer ${stdout.trim()}` }
}

/** Streams the given number of bytes, a MiB at a time. */
function content(bytes: number, everyMs = 0): ReadableStream<Uint8Array> {
  let sent = 0
  return new ReadableStream({
    async pull(controller) {
      if (sent >= bytes) return controller.close()
      if (everyMs > 0) await Bun.sleep(everyMs)
      controller.enqueue(Buffer.alloc(MIB, `part ${sent / MIB}`))
      sent += MIB
    },
  })
}

const BOUNDARY = 'oncebox-test-boundary'

/** Yields a form with one file. */
async function* form(file: ReadableStream<Uint8Array>) {
  const name = 'content-disposition: form-data; name="push[files][]"; filename="large.bin"'
  yield Buffer.from(`--${BOUNDARY}\r\n${name}\r\ncontent-type: application/octet-stream\r\n\r\n`)
  yield* file
  yield Buffer.from(`\r\n--${BOUNDARY}--\r\n`)
}

function streamOf(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
}

function upload(server: Started, auth: string, file: ReadableStream<Uint8Array>): Promise<Response> {
  return server.ask('/api/v2/pushes', {
    method: 'POST',
    headers: { authorization: auth, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    body: streamOf(form(file)),
  })
}

function residentBytes({ pid }: Started): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib) * 1024
}

/** The most that the server had in memory while `work` ran. */
async function highest<T>(server: Started, work: Promise<T>): Promise<{ result: T; most: number }> {
  let most = residentBytes(server)
  const timer = setInterval(() => {
    most = Math.max(most, residentBytes(server))
  }, 20)
  const result = await work.finally(() => clearInterval(timer))
  return { result, most }
}

async function digest(stream: AsyncIterable<Uint8Array> | null): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of stream ?? []) hash.update(chunk)
  return hash.digest('hex')
}

// Linux tells the resident size of another process in a file.
test.skipIf(process.platform !== 'linux')(
  'a large file is uploaded and downloaded with little memory',
  async () => {
    const { server, auth } = await start()
    const before = residentBytes(server)
    const up = await highest(
      server,
      untilTaken(() => upload(server, auth, content(LARGE))),
    )
    expect(up.result.status).toBe(201)
    const { url_token } = (await up.result.json()) as { url_token: string }
    const opened = (await (await server.retrieve(url_token)).json()) as { files: { url: string }[] }
    const answer = await fetch(opened.files[0]?.url ?? '')
    const down = await highest(server, digest(answer.body))
    expect(down.result).toBe(await digest(content(LARGE)))
    const added = [up.most - before, down.most - before].map((bytes) => Math.round(bytes / MIB))
    console.log(`memory added: ${added[0]} MiB up, ${added[1]} MiB down`)
    for (const mib of added) expect(mib).toBeLessThan(110)
  },
  600_000,
)

test('an upload that kill -9 interrupts leaves no object, and the next start accepts files', async () => {
  const { server, auth } = await start()
  const before = bucket.listKeys()
  const sent = untilTaken(() => upload(server, auth, content(200 * MIB, 50))).catch(() => null)
  while (!bucket.seen.some(({ query }) => query.get('partNumber') === '2')) await Bun.sleep(10)
  await server.end('SIGKILL')
  await sent
  const next = await start(server.dataDir)
  expect(bucket.listKeys()).toEqual(before)
  expect((await untilTaken(() => upload(next.server, auth, content(MIB)))).status).toBe(201)
}, 600_000)

test('no response hangs while the bucket is silent, and files are accepted again once it answers', async () => {
  const { server, auth } = await start()
  const push = { payload: 'x', files: [{ filename: 'a.txt', data: 'aGk=' }] }
  const headers = { authorization: auth }
  expect((await untilTaken(() => server.create(push, headers))).status).toBe(201)
  bucket.failWith(() => 'stall')
  const stop = startStopwatch()
  expect((await server.create(push, headers)).status).toBe(503)
  expect(stop()).toBeLessThan(30_000)
  expect((await server.create({ payload: 'text' })).status).toBe(201)
  bucket.failWith(() => null)
  while ((await server.create(push, headers)).status !== 201) await Bun.sleep(200)
}, 600_000)

test('config, doctor and serve know the bucket, and never show its key', async () => {
  const folder = stage.folder()
  const run = (args: string[], env: Record<string, string> = {}) =>
    runBinary([...args, '--data-dir', folder], { env: { ...environment(), ...env } })
  const config = await run(['config'])
  expect(config.stdout).toContain(bucket.url)
  expect(config.stdout).toContain('ONCEBOX_S3_SECRET_ACCESS_KEY')
  const doctor = await run(['doctor'])
  expect(doctor.stdout).toContain('takes, gives back and deletes objects')
  expect(doctor.stdout).not.toContain('keeps versions')
  const wrong = await run(['doctor'], { ONCEBOX_S3_SECRET_ACCESS_KEY: 'mistyped-key' })
  expect(wrong.stdout).toContain('the secret access key is wrong')
  expect(config.stdout + wrong.stdout + wrong.stderr).not.toContain('mistyped-key')
  const keyless = await run(['config'], { ONCEBOX_KEY_FILE: '' })
  expect([keyless.code, keyless.stderr]).toEqual([2, expect.stringContaining('--files-url needs --key-file')])
  const nobody = await run(['config'], { ONCEBOX_S3_ACCESS_KEY_ID: '' })
  expect(nobody.stderr).toContain('ONCEBOX_S3_ACCESS_KEY_ID_FILE')
  const told = await run(['config', '--files-url', 's3://key:secret@boxes?region=a'])
  expect(told.stderr).toContain('must have no credentials')
  expect(told.stderr).not.toContain('secret@')
}, 600_000)

test('the doctor warns of a bucket that keeps deleted objects', async () => {
  bucket.keepVersions()
  const { stdout } = await runBinary(['doctor', '--data-dir', stage.folder()], { env: environment() })
  expect(stdout).toContain('The bucket keeps versions, so the sealed files of pushes that ended stay in it.')
  expect(stdout).toContain('without versioning and object lock')
}, 600_000)

test('doctor --deep reads each object while the server runs, and names a missing one', async () => {
  const { server, auth } = await start()
  const before = bucket.listKeys()
  const push = { payload: 'x', files: [{ filename: 'a.txt', data: Buffer.alloc(MIB).toString('base64') }] }
  expect((await untilTaken(() => server.create(push, { authorization: auth }))).status).toBe(201)
  const look = async () => {
    const args = ['doctor', '--deep', '--data-dir', server.dataDir, '--min-free-space', '0']
    return (await runBinary(args, { env: environment() })).stdout
  }
  expect(await look()).toMatch(/^ok +sealed files +Files of live pushes: 1, with 1 MiB\. Each is there/m)
  for (const key of bucket.listKeys()) if (!before.includes(key)) bucket.remove(key)
  expect(await look()).toMatch(/^PROBLEM +sealed files .*File 1 of push 1 \(\w+\) is missing\./m)
}, 600_000)
