// Files that are sent to a request: reserved before the first byte, streamed, and encrypted for the request's
// age key.

import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { armor, Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption'
import type { PushBody } from '../../support/api.ts'
import type { Init } from '../../support/instance.ts'
import { findNeedles, readFolder } from '../../support/needles.ts'
import { needs } from '../../support/needs.ts'
import { formsIn } from '../../support/page-facts.ts'
import { createPeople } from '../../support/people.ts'
import { waitUntil } from '../../support/waiting.ts'
import { readZip } from '../../support/zip.ts'
import { multipart, type Part } from '../multipart.ts'
import { type FileBody, MIB, MULTIPART, noise, part, useFiles } from './files.ts'

const { at, filesOf, download, stored } = useFiles()
const REQUESTS = '/api/oncebox/requests'

async function ask(request: object = {}): Promise<string> {
  const { status, text, body } = await at.api.call<{ url_token: string }>(REQUESTS, {
    token: at.token,
    json: { request },
  })
  if (status !== 201) throw new Error(text)
  return body.url_token
}
const send = (urlToken: string, parts: Part[], init: Init = {}) =>
  at.api.call(`${REQUESTS}/${urlToken}/answers`, {
    ...init,
    headers: { ...MULTIPART, ...init.headers },
    body: multipart(parts),
  })
const sendText = (urlToken: string, payload = 'x') =>
  at.api.call(`${REQUESTS}/${urlToken}/answers`, { json: { push: { payload } } })
const received = () => at.api.list('active', at.token) as Promise<PushBody[]>
const close = (urlToken: string) =>
  at.api.call(`${REQUESTS}/${urlToken}`, { token: at.token, method: 'DELETE' })

/** Begins an upload that stops in the middle of its file until `go` or `breakOff` is called. */
async function beginUpload(urlToken: string, parts: Part[] = [part(noise(MIB))], init: Init = {}) {
  const bytes = multipart(parts)
  const { promise: halfway, resolve: go, reject: breakOff } = Promise.withResolvers<void>()
  const begun = stored().length
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(bytes.subarray(0, bytes.length / 2))
      await halfway.then(
        () => {
          controller.enqueue(bytes.subarray(bytes.length / 2))
          controller.close()
        },
        (cause) => controller.error(cause),
      )
    },
  })
  const answer = at.api.call(`${REQUESTS}/${urlToken}/answers`, { ...init, headers: MULTIPART, body })
  await waitUntil(() => stored().length > begun)
  return { answer, go, breakOff: () => breakOff(new Error('broken off')) }
}

test('only the owner gets the files, and they are unchanged', async () => {
  const urlToken = await ask()
  const large = noise(3 * MIB + 5)
  const parts = [
    part('hello'),
    part(large, 'filename="böse.bin"'),
    { name: 'push[payload]', content: 'note' },
  ]
  expect((await send(urlToken, parts)).text).toBe('{"received":true}')
  const [push] = await received()
  expect(push).toMatchObject({ kind: 'file', received: true, request: urlToken })
  const files = await filesOf(push?.url_token ?? '')
  expect(files.map(({ filename, size }) => [filename, size])).toEqual([
    ['a.txt', 5],
    ['böse.bin', large.length],
  ])
  const bytes = await (await download(files[1]?.url ?? '')).bytes()
  expect(large.equals(bytes)).toBe(true)
})

describe('an upload', () => {
  test('reserves its answer before the first byte, and frees it when it is aborted', async () => {
    const urlToken = await ask()
    const { answer, breakOff } = await beginUpload(urlToken)
    for (const other of [await sendText(urlToken), await send(urlToken, [part('x')])]) {
      expect([other.status, other.headers.get('retry-after')]).toEqual([503, '60'])
      expect(other.body.error).toContain('Another upload holds the last answer')
    }
    const page = `/q/${urlToken}`
    const people = createPeople(at.api)
    const form = formsIn((await people.get(page)).text).find(({ action }) => action.startsWith(page))
    if (form === undefined) throw new Error('the page has no form')
    const body = multipart([{ name: 'push[payload]', content: 'typed here' }])
    const shown = await people.get(form.action, {
      body,
      headers: { ...MULTIPART, origin: 'http://localhost' },
    })
    expect([shown.status, shown.headers.get('retry-after')]).toEqual([503, '60'])
    expect(shown.text).toContain('Please try again in a minute.')
    expect(shown.text).toContain('typed here')
    breakOff()
    expect((await answer).status).toBe(400)
    expect((await sendText(urlToken)).status).toBe(201)
    await waitUntil(() => stored().length === 0)
    expect(await received()).toHaveLength(1)
  })

  test('frees its answer when it is refused', async () => {
    const urlToken = await ask()
    const refused = await send(urlToken, [part('x'), { name: 'push[name]', content: 'n' }])
    expect(refused.status).toBe(422)
    expect((await sendText(urlToken)).status).toBe(201)
    await waitUntil(() => stored().length === 0)
  })

  test('of more than ten minutes loses its reservation, and is stored only if an answer is left', async () => {
    const urlToken = await ask()
    const slow = await beginUpload(urlToken)
    at.api.clock.advance(10 * 60 * 1000)
    expect((await sendText(urlToken)).status).toBe(201)
    slow.go()
    expect((await slow.answer).status).toBe(410)
    await waitUntil(() => stored().length === 0)
    const other = await ask()
    const alone = await beginUpload(other)
    at.api.clock.advance(10 * 60 * 1000)
    alone.go()
    expect((await alone.answer).status).toBe(201)
  })

  test.each([
    ['closed', close],
    ['past its time', async () => at.api.clock.advance(15 * 60 * 1000)],
    ['of a disabled account', () => at.api.accounts().disableAccount('owner@example.org')],
  ])('fails if the request is %s meanwhile', async (_, end) => {
    const urlToken = await ask({ expire_after_duration: 0 })
    const { answer, go } = await beginUpload(urlToken)
    await end(urlToken)
    go()
    expect((await answer).text).toBe('{"error":"request-closed"}')
    await waitUntil(() => stored().length === 0)
  })

  test('fails if the account is removed meanwhile', async () => {
    const { answer, go } = await beginUpload(await ask())
    await at.api.accounts().removeAccount('owner@example.org')
    go()
    expect((await answer).status).toBe(404)
    await waitUntil(() => stored().length === 0)
  })

  test('is refused before a byte is stored if the request accepts no files', async () => {
    const urlToken = await ask({ accept: ['text'] })
    expect((await send(urlToken, [part(noise(MIB))])).body).toMatchObject({ files: ['are not asked for'] })
    expect(stored()).toEqual([])
  })

  test('of twenty concurrent senders to a request for one answer succeeds once', async () => {
    const urlToken = await ask()
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => send(urlToken, [part(`n${n}`)])))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 503 || status === 410)).toHaveLength(19)
    await waitUntil(() => stored().length === 1)
  })

  test('that is repeated with its idempotency key is stored once', async () => {
    const urlToken = await ask({ max_answers: 3 })
    const init = { headers: { 'idempotency-key': randomUUID() } }
    for (let n = 0; n < 3; n += 1) expect((await send(urlToken, [part('same')], init)).status).toBe(201)
    expect((await send(urlToken, [part('other')], init)).status).toBe(422)
    expect(await received()).toHaveLength(1)
    expect(stored()).toHaveLength(1)
  })
})

describe('with a passphrase', () => {
  const passphrase = { name: 'push[passphrase]', content: 'open sesame' }
  const wrong = { name: 'push[passphrase]', content: 'wrong' }

  test('files may be sent before or after it, and with a wrong one nothing is stored', async () => {
    const urlToken = await ask({ passphrase: 'open sesame', max_answers: 2 })
    expect((await send(urlToken, [wrong, part(noise(MIB))])).status).toBe(401)
    expect((await send(urlToken, [part('x')])).status).toBe(401)
    expect((await send(urlToken, [part('x'), wrong])).status).toBe(401)
    expect((await send(urlToken, [passphrase, part('before')])).status).toBe(201)
    expect((await send(urlToken, [part('after'), passphrase])).status).toBe(201)
    expect(await received()).toHaveLength(2)
    await waitUntil(() => stored().length === 2)
  })

  test('a stranger without it reserves no answer, and only one stranger at a time stores files', async () => {
    const urlToken = await ask({ passphrase: 'open sesame' })
    const { answer, go } = await beginUpload(urlToken)
    expect((await send(urlToken, [part('x'), passphrase])).status).toBe(429)
    expect((await send(urlToken, [passphrase, part('x')])).status).toBe(201)
    go()
    expect((await answer).status).toBe(401)
    await waitUntil(() => stored().length === 1)
  })
})

describe('with an age key', () => {
  let identity = ''
  let recipient = ''
  beforeAll(async () => {
    identity = await generateX25519Identity()
    recipient = await identityToRecipient(identity)
  })
  async function open(sealed: Uint8Array): Promise<Buffer> {
    const decrypter = new Decrypter()
    decrypter.addIdentity(identity)
    return Buffer.from(await decrypter.decrypt(sealed))
  }
  async function sealedFile(path = ''): Promise<Uint8Array> {
    return (await download(path)).bytes()
  }

  test('the key decrypts the text, and the files in archives with their names', async () => {
    const urlToken = await ask({ recipient })
    const secret = `the needle in the haystack ${randomUUID()}`
    const large = Buffer.concat([Buffer.from(secret), noise(2 * MIB)])
    const parts = [
      part(large, 'filename="Very secret name.pdf"'),
      part('', 'filename="empty"'),
      { name: 'push[payload]', content: `${secret}\r\n` },
    ]
    expect((await send(urlToken, parts)).status).toBe(201)
    const [push] = await received()
    const { body } = await at.api.retrieve(push?.url_token ?? '')
    expect(body.payload).toStartWith('-----BEGIN AGE ENCRYPTED FILE-----\n')
    expect((await open(armor.decode(body.payload ?? ''))).toString()).toBe(`${secret}\r\n`)
    const files = body.files as FileBody[]
    expect(files.map(({ filename, content_type }) => [filename, content_type])).toEqual([
      ['1.age', 'application/octet-stream'],
      ['2.age', 'application/octet-stream'],
    ])
    const sealed = await sealedFile(files[0]?.url)
    expect(sealed.length).toBe(files[0]?.size ?? 0)
    const [entry, ...others] = readZip(await open(sealed))
    expect([entry?.name, others]).toEqual(['Very secret name.pdf', []])
    expect(entry?.content.equals(large)).toBe(true)
  })

  needs('age').test('the program age opens text and files as well', async () => {
    const payload = { name: 'push[payload]', content: 'a text' }
    await send(await ask({ recipient }), [part('a file', 'filename="a.txt"'), payload])
    const [push] = await received()
    const { body } = await at.api.retrieve(push?.url_token ?? '')
    const key = join(at.api.dataDir, 'key.txt')
    await Bun.write(key, identity)
    const openByProgram = (sealed: Uint8Array) =>
      Bun.spawnSync(['age', '--decrypt', '-i', key], { stdin: sealed }).stdout
    expect(openByProgram(Buffer.from(body.payload ?? '')).toString()).toBe('a text')
    const [entry] = readZip(openByProgram(await sealedFile((body.files as FileBody[])[0]?.url)))
    expect([entry?.name, entry?.content.toString()]).toEqual(['a.txt', 'a file'])
  })

  test('a thief of the disk and the instance key gets only age ciphertext', async () => {
    const secret = `needle-${randomUUID()}`
    await send(await ask({ recipient }), [
      part(secret, `filename="${secret}"`),
      { name: 'push[payload]', content: secret },
    ])
    const [push] = await received()
    // Everything that the server itself can decrypt.
    const { body } = await at.api.retrieve(push?.url_token ?? '')
    const files = await Promise.all(
      (body.files as FileBody[]).map(async ({ url }) => (await download(url)).bytes()),
    )
    const needles = [{ name: 'the secret', bytes: Buffer.from(secret) }]
    const opened = [body.payload ?? '', JSON.stringify(body), ...files].map((bytes, n) => ({
      where: `part ${n}`,
      bytes: Buffer.from(bytes as string),
    }))
    expect(findNeedles([...opened, ...readFolder(at.api.dataDir)], needles)).toEqual([])
  })

  test('a repeat with its idempotency key compares what was sent, not how it was encrypted', async () => {
    const urlToken = await ask({ recipient, max_answers: 2 })
    const init = { headers: { 'idempotency-key': randomUUID() } }
    const parts = [part('same'), { name: 'push[payload]', content: 'text' }]
    for (let n = 0; n < 2; n += 1) expect((await send(urlToken, parts, init)).status).toBe(201)
    expect((await send(urlToken, [parts[0] as Part], init)).status).toBe(422)
    expect(await received()).toHaveLength(1)
  })

  test('limits count the plaintext, and an aborted file is no answer', async () => {
    await at.api.close()
    const { startApi } = await import('../../support/api.ts')
    at.api = await startApi({ flags: { 'max-file-bytes': '1MiB', 'max-payload-bytes': '1KiB' } })
    at.token = await at.api.addAccount('owner@example.org')
    const urlToken = await ask({ recipient, max_answers: 3 })
    expect((await send(urlToken, [part(noise(MIB + 1))])).status).toBe(413)
    expect((await sendText(urlToken, 'x'.repeat(1025))).status).toBe(422)
    const { answer, breakOff } = await beginUpload(urlToken, [part(noise(MIB))])
    breakOff()
    expect((await answer).status).toBe(400)
    await waitUntil(() => stored().length === 0)
    expect((await send(urlToken, [part(noise(MIB))])).status).toBe(201)
    expect((await sendText(urlToken, 'x'.repeat(1024))).status).toBe(201)
    expect(await received()).toHaveLength(2)
  })

  test('a request accepts a key with surrounding blanks', async () => {
    const other = await identityToRecipient(await generateX25519Identity())
    const shown = async (urlToken: string) =>
      (await at.api.call(`${REQUESTS}/${urlToken}`, { token: at.token })).body.recipient
    expect(await shown(await ask())).toBeNull()
    expect(await shown(await ask({ recipient: ` ${other} ` }))).toBe(other)
  })

  test('a key that is no point of its curve is refused when the request is created', async () => {
    const { bech32 } = await import('@scure/base')
    const zero = bech32.encode('age', bech32.toWords(new Uint8Array(32)), false)
    const made = await at.api.call(REQUESTS, { token: at.token, json: { request: { recipient: zero } } })
    expect(made.status).toBe(422)
    expect(made.body).toMatchObject({ recipient: [expect.stringContaining('public key of age')] })
  })
})
