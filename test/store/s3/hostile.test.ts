// A hostile store: whatever it answers, memory and time are limited, nothing is sent elsewhere, and no secret
// is shown.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { bucketPlaceOf } from '../../../src/domain/bucket-place.ts'
import { createClient } from '../../../src/store/s3/client.ts'
import { createObjects, type Objects } from '../../../src/store/s3/objects.ts'
import { valueIn } from '../../../src/store/s3/xml.ts'

const CREDENTIALS = { accessKeyId: 'AKIAMARKER', secretAccessKey: 'marker/of+the=secret' }
const MIB = 1024 * 1024
const PATIENCE = { whole: 4_000, once: 1_500, pause: 10 }

type Answer = (incoming: IncomingMessage, outgoing: ServerResponse) => void

let server: Server
let answer: Answer
let asked: number
let told: string[]
let objects: Objects
beforeEach(async () => {
  asked = 0
  told = []
  server = await listen((incoming, outgoing) => {
    asked += 1
    answer(incoming, outgoing)
  })
  const place = bucketPlaceOf(`s3://box?endpoint=${urlOf(server)}`)
  const onChange = (sentence: string) => told.push(sentence)
  objects = createObjects(
    createClient({ place, credentials: CREDENTIALS, patience: PATIENCE, onChange }).send,
  )
})
afterEach(() => close(server))

async function listen(handle: Answer): Promise<Server> {
  const made = createServer(handle)
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  return made
}

function urlOf(of: Server): string {
  return `http://127.0.0.1:${(of.address() as AddressInfo).port}`
}

async function close(of: Server): Promise<void> {
  of.closeAllConnections()
  await new Promise((resolve) => of.close(resolve))
}

const saying = (status: number, body: string, headers: Record<string, string> = {}): Answer => {
  return (_, outgoing) => outgoing.writeHead(status, headers).end(body)
}

test('an endless response is cut off at its limit', async () => {
  let sent = 0
  answer = (_, outgoing) => {
    const piece = Buffer.alloc(MIB, 'x')
    const more = () => {
      if (outgoing.destroyed || sent > 1024 * MIB) return
      sent += piece.length
      outgoing.write(piece, more)
    }
    more()
  }
  await expect(objects.beginUpload('k')).rejects.toThrow('longer than asked for')
  expect(sent).toBeLessThan(128 * MIB)
})

test('a compressed response is not decompressed', async () => {
  const packed = gzipSync(Buffer.alloc(256 * MIB, '<'))
  answer = (_, outgoing) => outgoing.writeHead(200, { 'content-encoding': 'gzip' }).end(packed)
  const before = process.memoryUsage().rss
  await expect(objects.beginUpload('k')).rejects.toThrow('does not answer as an S3-compatible store')
  expect(process.memoryUsage().rss - before).toBeLessThan(128 * MIB)
})

test('a response that trickles or ends too early times out', async () => {
  answer = (_, outgoing) => {
    outgoing.writeHead(200, { 'content-length': '100000' })
    const drop = setInterval(() => outgoing.write('<'), 20)
    outgoing.on('close', () => clearInterval(drop))
  }
  await expect(objects.beginUpload('k')).rejects.toThrow('did not answer')
  answer = (_, outgoing) => {
    outgoing.writeHead(200, { 'content-length': '100000' }).write('<ListMultipartUploadsResult>')
    setTimeout(() => outgoing.destroy(), 20)
  }
  await Bun.sleep(1_100)
  await expect(objects.beginUpload('k')).rejects.toMatchObject({ kind: 'failing' })
}, 300_000)

test('endless XML elements are read in linear time', async () => {
  for (const text of ['<UploadId>', '<UploadId ', '<Key>', '<Key ', '<Key>&amp;']) {
    answer = saying(200, text.repeat(800_000))
    await expect(objects.beginUpload('k')).rejects.toThrow('does not answer as an S3-compatible store')
    expect(valueIn(text.repeat(800_000), 'Key')).toBeNull()
  }
  expect(valueIn('<KeyToo>b</KeyToo><Key x="1">&lt;&amp;&other;</Key>', 'Key')).toBe('<&&other;')
})

test('a redirect is not followed, and its target is reported in one line', async () => {
  let reached = 0
  const elsewhere = await listen((_, outgoing) => {
    reached += 1
    outgoing.end()
  })
  for (const status of [301, 302, 307, 308]) {
    answer = saying(status, '', { location: urlOf(elsewhere) })
    await expect(objects.put('a', Buffer.from('sealed'))).rejects.toThrow('at another endpoint')
  }
  const long = `<Error><Code>PermanentRedirect</Code><Endpoint>\u001b[2J\nevil${'x'.repeat(5_000)}</Endpoint></Error>`
  answer = saying(301, long)
  await objects.put('a', Buffer.from('sealed')).catch(() => undefined)
  const words = told.at(-1) ?? ''
  expect(words).toContain('at another endpoint')
  expect(words.length).toBeLessThan(600)
  expect(/^[\x20-\x7e]*$/.test(words)).toBe(true)
  expect(reached).toBe(0)
  await close(elsewhere)
})

test('the message of a refused request contains no key, no signature and no line break', async () => {
  answer = (incoming, outgoing) => {
    const { authorization = '' } = incoming.headers
    outgoing.writeHead(400, { 'content-type': 'application/xml' })
    outgoing.end(
      `<Error><Code>${authorization}\n\u001b[31mfatal: all is lost</Code><Message>${authorization}</Message></Error>`,
    )
  }
  const cause = await objects.put('a', Buffer.from('sealed')).catch((failure) => failure)
  const shown = `${Bun.inspect(cause)} ${told.join()}`
  expect(shown).toContain('it answers 400 unknown')
  expect(shown).not.toMatch(/AKIAMARKER|marker\/of|Signature|fatal|\[31m/)
})

test('a 200 with an error inside is a failure when parts are joined', async () => {
  answer = saying(200, '<?xml version="1.0"?>\n<Error><Code>InternalError</Code></Error>')
  const joined = objects.completeUpload({ key: 'a', uploadId: '1' }, [{ number: 1, etag: '"x"' }], 1)
  await expect(joined).rejects.toThrow('could not join the parts of a file (InternalError)')
})

test('an upload with a missing or endless id does not begin', async () => {
  for (const id of ['', 'x'.repeat(5_000)]) {
    answer = saying(200, `<R><UploadId>${id}</UploadId></R>`)
    await expect(objects.beginUpload('a')).rejects.toThrow('does not answer as an S3-compatible store')
  }
  expect(asked).toBe(2)
})
