// A real S3 server on loopback (s3rver), behind a proxy that adds what s3rver lacks, and that fails as a test
// asks: it stalls, resets, answers with errors or drops answers.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from '@20minutes/s3rver'
import { bucketPlaceOf } from '../../src/domain/bucket-place.ts'
import type { BucketOptions } from '../../src/store/s3/bucket.ts'

/**
 * The fault that the proxy applies to a request. `swallow` passes it on, and resets the connection in place
 * of the answer.
 */
export type Fault =
  | 'stall'
  | 'reset'
  | 'swallow'
  | { status: number; code: string; headers?: Record<string, string> }

export type Seen = {
  method: string
  key: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
}

export type TestBucket = {
  url: string
  settings: BucketOptions
  /** The same settings as options of a server. */
  config: { filesUrl: string; s3AccessKeyId: string; s3SecretAccessKey: string }
  credentials: { accessKeyId: string; secretAccessKey: string }
  /** Decides the fault of each request; null lets it pass. */
  failWith(decide: (seen: Seen) => Fault | null): void
  /** From then on it answers as a bucket that keeps versions of its objects. */
  keepVersions(): void
  /** All requests that arrived. */
  seen: Seen[]
  /** Keys of the objects that are there, in order. */
  listKeys(): string[]
  countUploads(): number
  remove(key: string): void
  close(): Promise<void>
}

const BUCKET = 'oncebox-test'
/** The only key that s3rver knows. */
const CREDENTIALS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
const MIB = 1024 * 1024

export async function openTestBucket(): Promise<TestBucket> {
  const directory = mkdtempSync(join(tmpdir(), 'oncebox-bucket-'))
  const s3rver = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: BUCKET, configs: [] }],
  })
  const { port } = await s3rver.run()
  const uploads = join(directory, BUCKET, '._S3rver_uploads')
  const seen: Seen[] = []
  let decide: (seen: Seen) => Fault | null = () => null
  let more: Record<string, string> = {}
  const proxy = createServer((incoming, outgoing) => {
    const asked = describe(incoming)
    seen.push(asked)
    const fault = decide(asked)
    if (fault === null || fault === 'swallow') {
      if (fault === null && answerUploads(uploads, asked, outgoing)) return
      passOn(incoming, outgoing, { port, isSwallowed: fault === 'swallow', more })
    } else fail(incoming, outgoing, fault)
  })
  const proxyPort = await listen(proxy)
  const url = `s3://${BUCKET}/some/prefix?endpoint=http://127.0.0.1:${proxyPort}`
  return {
    url,
    settings: { place: bucketPlaceOf(url), credentials: CREDENTIALS, maxFileBytes: 100 * MIB },
    config: { filesUrl: url, s3AccessKeyId: 'S3RVER', s3SecretAccessKey: 'S3RVER' },
    credentials: CREDENTIALS,
    failWith: (next) => {
      decide = next
    },
    keepVersions: () => {
      more = { 'x-amz-version-id': '3HL4kqtJlcpXroDTDmJ' }
    },
    seen,
    listKeys: () => listObjects(join(directory, BUCKET)),
    countUploads: () => (existsSync(uploads) ? readdirSync(uploads).length : 0),
    remove: (key) => {
      for (const ending of ['_object', '_metadata.json', '_object.md5'])
        rmSync(join(directory, BUCKET, `${key}._S3rver${ending}`), { force: true })
    },
    close: async () => {
      proxy.closeAllConnections()
      await new Promise((resolve) => proxy.close(resolve))
      await s3rver.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function describe({ method = '', url = '', headers }: IncomingMessage): Seen {
  const { pathname, searchParams: query } = new URL(url, 'http://localhost')
  return { method, key: decodeURIComponent(pathname.replace(/^\/[^/]+\/?/, '')), query, headers }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/**
 * Answers for uploads in place of s3rver, which cannot abort them (this removes them in its folder), and
 * which does not report, as S3 does, that an upload does not exist.
 */
function answerUploads(folder: string, asked: Seen, outgoing: ServerResponse): boolean {
  const { method, key, query } = asked
  const uploadId = query.get('uploadId')
  if (method === 'POST' && uploadId !== null && !existsSync(join(folder, uploadId))) {
    outgoing.writeHead(404).end('<Error><Code>NoSuchUpload</Code></Error>')
    return true
  }
  if (method !== 'DELETE' || uploadId === null || key === '') return false
  rmSync(join(folder, uploadId), { recursive: true, force: true })
  outgoing.statusCode = 204
  outgoing.end()
  return true
}

/** `more`: headers on top of those of the server. */
type PassOn = { port: number; isSwallowed: boolean; more: Record<string, string> }

function passOn(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { port, isSwallowed, more }: PassOn,
): void {
  const { method, url, headers } = incoming
  const onward = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
    if (isSwallowed) {
      answer.resume().on('end', () => incoming.socket.destroy())
      return
    }
    outgoing.writeHead(answer.statusCode ?? 500, { ...answer.headers, ...more })
    answer.pipe(outgoing)
  })
  onward.on('error', () => incoming.socket.destroy())
  // A client that was killed in the middle of a body never ends it.
  outgoing.on('close', () => !outgoing.writableEnded && onward.destroy())
  incoming.pipe(onward)
}

function fail(incoming: IncomingMessage, outgoing: ServerResponse, fault: Exclude<Fault, 'swallow'>): void {
  incoming.resume()
  if (fault === 'reset') incoming.socket.destroy()
  if (typeof fault === 'string') return
  incoming.on('end', () => {
    outgoing.writeHead(fault.status, { 'content-type': 'application/xml', ...fault.headers })
    outgoing.end(incoming.method === 'HEAD' ? '' : `<Error><Code>${fault.code}</Code></Error>`)
  })
}

function listObjects(folder: string): string[] {
  mkdirSync(folder, { recursive: true })
  const ending = '._S3rver_object'
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((path) => path.endsWith(ending))
    .map((path) => path.slice(0, -ending.length))
    .sort()
}
