// End-to-end pushes and answers: what the server accepts and refuses, and how it returns them.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { newKey } from '../../src/age/keys.ts'
import { openFile, openText, sealFile, sealText } from '../../src/age/sealing.ts'
import { joined, piecesOf } from '../../src/age/streams.ts'
import { type Api, PUSHES, type PushBody, startApi, type Wire } from '../support/api.ts'
import type { Init } from '../support/instance.ts'
import { findNeedles, readFolder, spellingsOf } from '../support/needles.ts'
import { MULTIPART, part } from './files/files.ts'
import { multipart, type Part } from './multipart.ts'

type Sealed = PushBody & { end_to_end?: boolean; key_check?: string; request?: string }
type FileBody = { filename: string; url: string; size: number }

const key = await newKey()
const text = await sealText('the eagle has landed', [key.recipient])
const REQUESTS = '/api/oncebox/requests'

let api: Api
let ann = ''
beforeAll(async () => {
  api = await startApi()
  ann = await api.addAccount('ann@example.org')
})
afterAll(() => api.close())

async function* pieces(...all: Uint8Array[]) {
  yield* all
}

async function sealed(name: string, content: string, position = { n: 1, of: 1 }): Promise<Uint8Array> {
  const file = { name, content: pieces(Buffer.from(content)), at: 0, position }
  return joined(await Array.fromAsync(piecesOf(await sealFile(file, [key.recipient]))))
}

async function opened(bytes: Uint8Array) {
  const written: Uint8Array[] = []
  const write = (piece: Uint8Array) => void written.push(piece.slice())
  const found = await openFile(pieces(bytes), { identities: [key.identity], maxBytes: 1e6, write })
  return { ...found, content: Buffer.from(joined(written)).toString() }
}

const END_TO_END: Part = { name: 'push[end_to_end]', content: 'true' }
const send = (path: string, parts: Part[], init: Init = {}) =>
  api.call<Sealed>(path, {
    token: ann,
    ...init,
    headers: { ...MULTIPART, ...init.headers },
    body: multipart(parts),
  })

async function filesOf(urlToken: string): Promise<FileBody[]> {
  return (await api.retrieve(urlToken)).body.files as FileBody[]
}

async function download({ url }: FileBody): Promise<Uint8Array> {
  return (await api.fetch(url.replace('http://localhost', ''))).bytes()
}

describe('an end-to-end push', () => {
  test('is returned unchanged, and marked as end-to-end in every answer', async () => {
    const sent = { payload: text, end_to_end: true, key_check: key.keyCheck }
    const created = (await api.post(sent, { token: ann })).body as Sealed
    const said = { end_to_end: true, key_check: key.keyCheck }
    expect(created).toMatchObject({ ...said, kind: 'text' })
    const path = `${PUSHES}/${created.url_token}`
    expect((await api.call(`${path}/preview`)).body).toMatchObject(said)
    const retrieved = (await api.call<Sealed>(path)).body
    expect(retrieved).toMatchObject({ ...said, payload: text })
    expect(await openText(retrieved.payload ?? '', [key.identity])).toBe('the eagle has landed')
    const isIt = ({ url_token }: PushBody) => url_token === created.url_token
    expect((await api.list('active', ann)).find(isIt)).toMatchObject(said)
    expect((await api.call(`/p/${created.url_token}.json`)).body).toMatchObject({ ...said, payload: text })
    expect((await api.expire(created.url_token, { token: ann })).body).toMatchObject(said)
    expect((await api.list('expired', ann)).find(isIt)).toMatchObject(said)
    expect((await api.call(`${path}/preview`)).body).toMatchObject(said)
  })

  test('without a key in its link has no key_check, and an ordinary push has neither member', async () => {
    const { body } = await api.post({ payload: text, end_to_end: 'on' })
    expect(body).toMatchObject({ end_to_end: true })
    expect(body).not.toHaveProperty('key_check')
    const plain = await api.create({ payload: text, end_to_end: false })
    const answers = [plain, (await api.call(`${PUSHES}/${plain.url_token}/preview`)).body]
    for (const answer of [...answers, (await api.retrieve(plain.url_token)).body])
      expect(Object.keys(answer).filter((name) => /end_to_end|key_check/.test(name))).toEqual([])
  })

  test('may come as a form, and by the paths of the previous version', async () => {
    const form = (wrapper: string) =>
      new URLSearchParams({ [`${wrapper}[payload]`]: text, [`${wrapper}[end_to_end]`]: '1' })
    const said = { end_to_end: true }
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const post = (path: string, body: URLSearchParams) =>
      api.call<Sealed>(path, { method: 'POST', headers: type, body: body.toString() })
    const { body } = await post(PUSHES, form('push'))
    expect(body).toMatchObject(said)
    expect((await api.retrieve(body.url_token)).body.payload).toBe(text)
    expect((await post('/p.json', form('password'))).body).toMatchObject(said)
    const refused = new URLSearchParams({ 'password[payload]': 'plain', 'password[end_to_end]': '1' })
    expect((await post('/p.json', refused)).status).toBe(422)
  })

  test.each([
    ['plaintext', 'secret'],
    ['an armour around nothing', '-----BEGIN AGE ENCRYPTED FILE-----\n-----END AGE ENCRYPTED FILE-----\n'],
    ['two age files', text + text],
    ['text around an age file', `Hello\n${text}`],
    ['an age file that was cut', text.slice(0, -60)],
    ['longer lines', text.replace(/\n(?=[^-])/g, '')],
    ['a file that is not armoured', 'age-encryption.org/v1\n-> X25519 abc\n'],
    [
      'a header alone',
      `-----BEGIN AGE ENCRYPTED FILE-----\n${btoa('age-encryption.org/v1\n')}\n-----END AGE ENCRYPTED FILE-----\n`,
    ],
  ])('is refused for %s, before anything is stored', async (_, payload) => {
    const before = api.entries().length
    const { status, body } = await api.post({ payload, end_to_end: true })
    expect([status, Object.keys(body)]).toEqual([422, ['error', 'payload']])
    expect(body).toMatchObject({
      payload: ['must be one ASCII-armoured age file, because end_to_end is true'],
    })
    expect(api.entries()).toHaveLength(before)
  })

  test.each([
    ['a link', { kind: 'url', payload: text }, ['kind', 'payload']],
    ['a QR code', { kind: 'qr', payload: text }, ['kind']],
    ['no content', { payload: '' }, ['payload']],
    ['a check of other digits', { payload: text, key_check: 'abcdefgh' }, ['key_check']],
    ['a short check', { payload: text, key_check: '0123456' }, ['key_check']],
    ['a check of a plain push', { payload: text, end_to_end: false, key_check: '01234567' }, ['key_check']],
    [
      'recipients of a plain push',
      { payload: 'plain', end_to_end: null, recipients_only: true },
      ['recipients_only'],
    ],
    ['no boolean', { payload: text, end_to_end: 'perhaps' }, ['end_to_end']],
  ] as [string, Wire, string[]][])('is refused for %s', async (_name, push, fields) => {
    const { status, body } = await api.post({ end_to_end: true, ...push })
    const { error: _, ...problems } = body as Wire
    expect([status, Object.keys(problems).sort()]).toEqual([422, fields])
  })

  test('repeats by its Idempotency-Key only with the same bytes', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const push = { payload: text, end_to_end: true, key_check: key.keyCheck }
    const first = await api.post(push, { headers })
    const again = await api.post(push, { headers })
    expect(again.body).toEqual(first.body)
    const other = await sealText('the eagle has landed', [key.recipient])
    expect((await api.post({ ...push, payload: other }, { headers })).status).toBe(422)
    expect((await api.post({ payload: text }, { headers })).status).toBe(422)
  })
})

describe('files of an end-to-end push', () => {
  test.each([
    ['after', (files: Part[]) => [END_TO_END, ...files]],
    ['before', (files: Part[]) => [...files, END_TO_END]],
  ])('are named by their numbers if they are sent %s the member end_to_end', async (_, order) => {
    const sent = [
      part(await sealed('a.txt', 'first', { n: 1, of: 2 }), 'filename="whatever.txt"'),
      part(await sealed('b.txt', 'second', { n: 2, of: 2 }), 'filename="x"'),
    ]
    const { status, body } = await send(PUSHES, order(sent))
    expect(status).toBe(201)
    expect(body).toMatchObject({ kind: 'file', end_to_end: true })
    const files = await filesOf(body.url_token)
    expect(files.map(({ filename }) => filename)).toEqual(['1.age', '2.age'])
    const contents = await Promise.all(files.map(async (file) => opened(await download(file))))
    expect(contents.map(({ name, content, position }) => [name, content, position])).toEqual([
      ['a.txt', 'first', { n: 1, of: 2 }],
      ['b.txt', 'second', { n: 2, of: 2 }],
    ])
  })

  test('may come in JSON, with a text beside them', async () => {
    const data = Buffer.from(await sealed('a.txt', 'first')).toString('base64')
    const files = [{ filename: 'a.txt', data }]
    const { body } = await api.post({ payload: text, end_to_end: true, files }, { token: ann })
    expect((await filesOf(body.url_token)).map(({ filename }) => filename)).toEqual(['1.age'])
  })

  test.each(['before', 'after', 'in JSON'])('are refused unless all are age files: %s', async (place) => {
    const good = await sealed('a.txt', 'first')
    const bad = 'age-encryption.org/v2\nplaintext'
    const json = () => {
      const files = [good, Buffer.from(bad)].map((data) => ({
        filename: 'f',
        data: Buffer.from(data).toString('base64'),
      }))
      return api.post({ end_to_end: true, files }, { token: ann })
    }
    const parts = [part(good), part(bad)]
    const sent = place === 'before' ? [...parts, END_TO_END] : [END_TO_END, ...parts]
    const before = api.entries().length
    const { status, body } = place === 'in JSON' ? await json() : await send(PUSHES, sent)
    expect([status, body as unknown]).toMatchObject([
      422,
      { files: ['must be age files, because end_to_end is true'] },
    ])
    expect(api.entries()).toHaveLength(before)
  })

  test('keep their names if the push is not end-to-end', async () => {
    const { body } = await send(PUSHES, [part(await sealed('a', 'b'), 'filename="backup.tar.age"')])
    expect((await filesOf(body.url_token)).map(({ filename }) => filename)).toEqual(['backup.tar.age'])
    expect(body).not.toHaveProperty('end_to_end')
  })
})

describe('an answer to a request with a recipient', () => {
  const ask = async (request: Wire = {}) =>
    (
      await api.call<{ url_token: string }>(REQUESTS, {
        token: ann,
        json: { request: { recipient: key.recipient, ...request } },
      })
    ).body.url_token
  const answers = async (request: string) =>
    ((await api.list('active', ann)) as Sealed[]).filter((push) => push.request === request)
  const pathOf = (request: string) => `${REQUESTS}/${request}/answers`

  test('that its sender has encrypted is stored unchanged', async () => {
    const request = await ask({ max_answers: 2 })
    const push = { payload: text, end_to_end: true }
    expect((await api.call(pathOf(request), { json: { push } })).status).toBe(201)
    const [received] = await answers(request)
    expect(received).toMatchObject({ end_to_end: true, received: true })
    expect((await api.retrieve(received?.url_token ?? '')).body.payload).toBe(text)
  })

  test.each([
    ['after', true],
    ['before', false],
  ])('has its files unchanged if they are sent %s the member end_to_end', async (_, isFirst) => {
    const request = await ask()
    const sent = [part(await sealed('a.txt', 'first'), 'filename="a.bin"'), part(await sealed('b', 'second'))]
    const parts = isFirst ? [END_TO_END, ...sent] : [...sent, END_TO_END]
    expect((await send(pathOf(request), parts)).text).toBe('{"received":true}')
    const [received] = await answers(request)
    const files = await filesOf(received?.url_token ?? '')
    expect(files.map(({ filename }) => filename)).toEqual(['1.age', '2.age'])
    expect((await opened(await download(files[1] as FileBody))).content).toBe('second')
  })

  test.each([
    ['said to be plain', [{ ...END_TO_END, content: 'false' }]],
    ['said to be plain at the end', null],
    ['not said to be anything', []],
  ])('is encrypted on arrival if it is %s, even if it is an age file', async (_, said) => {
    const request = await ask()
    const inner = await sealed('a.txt', 'first')
    const file = part(inner, 'filename="for bob.age"')
    const parts =
      said === null
        ? [file, { ...END_TO_END, content: 'false' }]
        : [...said, file, part('plain', 'filename="p.txt"')]
    expect((await send(pathOf(request), parts)).status).toBe(201)
    const [received] = await answers(request)
    expect(received).not.toHaveProperty('end_to_end')
    const files = await filesOf(received?.url_token ?? '')
    expect(files[0]?.filename).toBe('1.age')
    const outer = await opened(await download(files[0] as FileBody))
    expect([outer.name, outer.size]).toEqual(['for bob.age', inner.length])
  })

  test('is refused when it is not age, and for a request without a recipient', async () => {
    const request = await ask()
    const plain = await api.call(pathOf(request), { json: { push: { payload: 'x', end_to_end: true } } })
    expect([plain.status, Object.keys(plain.body)]).toEqual([422, ['error', 'payload']])
    const file = await send(pathOf(request), [END_TO_END, part('plain')])
    expect([file.status, Object.keys(file.body)]).toEqual([422, ['error', 'files']])
    const late = await send(pathOf(request), [part('plain'), END_TO_END])
    expect([late.status, Object.keys(late.body)]).toEqual([422, ['error', 'files']])
    const checked = await api.call(pathOf(request), {
      json: { push: { payload: text, end_to_end: true, key_check: key.keyCheck } },
    })
    expect([checked.status, Object.keys(checked.body)]).toEqual([422, ['error', 'key_check']])
    const { url_token } = (
      await api.call<{ url_token: string }>(REQUESTS, { token: ann, json: { request: {} } })
    ).body
    const unasked = await api.call(pathOf(url_token), { json: { push: { payload: text, end_to_end: true } } })
    expect([unasked.status, Object.keys(unasked.body)]).toEqual([422, ['error', 'end_to_end']])
    expect(await answers(request)).toEqual([])
  })
})

describe('--end-to-end', () => {
  const VERSION = '/api/v2/version'
  const withRule = async (rule: string, run: (api: Api, token: string) => Promise<void>) => {
    const other = await startApi({ flags: { 'end-to-end': rule } })
    try {
      expect((await other.call(VERSION)).body).toHaveProperty('extensions.end_to_end', rule)
      await run(other, await other.addAccount('ann@example.org'))
    } finally {
      await other.close()
    }
  }

  test('with the value offered is the default', async () => {
    expect((await api.call(VERSION)).body).toHaveProperty('extensions.end_to_end', 'offered')
  })

  test('required refuses every other create, request and answer, and names itself', () =>
    withRule('required', async (other, token) => {
      const why = ['must be true on this server (its setting --end-to-end is "required")']
      for (const push of [{}, { end_to_end: false }, { end_to_end: null }]) {
        const refused = await other.post({ payload: text, ...push })
        expect([refused.status, refused.body as unknown]).toMatchObject([422, { end_to_end: why }])
      }
      const old = await other.call('/p.json', { json: { password: { payload: 'plain' } } })
      expect([old.status, old.body]).toMatchObject([422, { end_to_end: why }])
      expect((await other.post({ payload: text, end_to_end: true })).status).toBe(201)
      const ask = (request: Wire) => other.call<{ url_token: string }>(REQUESTS, { token, json: { request } })
      const keyless = await ask({})
      expect([keyless.status, Object.keys(keyless.body)]).toEqual([422, ['error', 'recipient']])
      const asked = await ask({ recipient: key.recipient })
      expect(asked.status).toBe(201)
      const path = `${REQUESTS}/${asked.body.url_token}/answers`
      expect((await other.call(path, { json: { push: { payload: 'plain' } } })).body).toMatchObject({
        end_to_end: why,
      })
      expect((await other.call(path, { json: { push: { payload: text, end_to_end: true } } })).status).toBe(
        201,
      )
    }))

  test('with the value off refuses end-to-end creates, and accepts others', () =>
    withRule('off', async (other) => {
      const { status, body } = await other.post({ payload: text, end_to_end: true })
      const why = ['is not offered by this server (its setting --end-to-end is "off")']
      expect([status, body as unknown]).toMatchObject([422, { end_to_end: why }])
      expect((await other.post({ payload: text, end_to_end: false })).status).toBe(201)
    }))
})

describe('mail with the link', () => {
  test('is refused if the link needs a key', async () => {
    const mail = {
      'smtp-url': 'smtp://127.0.0.1:9',
      'mail-from': 'once@example.org',
      'base-url': 'http://localhost',
    }
    const other = await startApi({ flags: mail })
    try {
      const token = await other.addAccount('ann@example.org')
      const push = { payload: text, end_to_end: true, notify_emails_to: 'bob@example.org' }
      for (const more of [
        {},
        { recipients_only: false },
        { recipients_only: true, key_check: key.keyCheck },
      ]) {
        const { status, body } = await other.post({ ...push, ...more }, { token })
        expect([status, Object.keys(body)]).toEqual([422, ['error', 'notify_emails_to']])
      }
      const { status, body } = await other.post({ ...push, recipients_only: true }, { token })
      expect(status).toBe(201)
      const notify = (urlToken: string, more: Wire = {}) =>
        other.call(`${PUSHES}/${urlToken}/notify_emails`, {
          token,
          json: { push: { notify_emails_to: 'cleo@example.org', ...more } },
        })
      expect((await notify(body.url_token)).status).toBe(422)
      expect((await notify(body.url_token, { recipients_only: true })).status).toBe(200)
      const keyed = await other.post({ payload: text, end_to_end: true, key_check: key.keyCheck }, { token })
      expect((await notify(keyed.body.url_token, { recipients_only: true })).status).toBe(422)
    } finally {
      await other.close()
    }
  })
})

test('nothing of an end-to-end push but its sealed bytes reaches the data folder', async () => {
  const parts = [
    END_TO_END,
    { name: 'push[payload]', content: text },
    part(await sealed('Gehaltsliste.xlsx', 'salaries of all')),
  ]
  expect((await send(PUSHES, parts)).status).toBe(201)
  const needles = [
    'the eagle has landed',
    'Gehaltsliste',
    'salaries of all',
    key.linkKey,
    key.identity,
  ].flatMap((name) => spellingsOf(name).map((bytes) => ({ name, bytes })))
  expect(findNeedles(readFolder(api.dataDir), needles)).toEqual([])
})
