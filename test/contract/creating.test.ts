import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Api, startApi, type Wire } from '../support/api.ts'
import { runScenarios } from '../support/scenarios.ts'
import { CREATED } from './members.ts'

describe('creating', () => {
  runScenarios([
    {
      name: 'by a visitor with nothing but a payload gives the defaults',
      ask: 'POST /api/v2/pushes',
      init: { json: { push: { payload: 'a' } } },
      status: 201,
      members: CREATED,
      body: {
        kind: 'text',
        expire_after_days: 7,
        expire_after_views: 5,
        days_remaining: 7,
        views_remaining: 5,
        created_at: '2026-11-20T12:00:00.000Z',
        updated_at: '2026-11-20T12:00:00.000Z',
        expires_at: '2026-11-27T12:00:00.000Z',
        expired: false,
        expired_on: null,
        deleted: false,
        deletable_by_viewer: true,
        retrieval_step: true,
        passphrase: null,
        passphrase_required: false,
        name: '',
        note: '',
        files: [],
      },
      audit: ['creation'],
    },
    {
      name: 'by a visitor gives name and note back',
      ask: 'POST /api/v2/pushes',
      init: { json: { push: { payload: 'a', name: 'router', note: 'in the attic' } } },
      status: 201,
      body: { name: 'router', note: 'in the attic' },
      audit: ['creation'],
    },
    {
      name: 'with a passphrase tells that there is one, never which',
      ask: 'POST /api/v2/pushes',
      init: { json: { push: { payload: 'a', passphrase: ' ' } } },
      status: 201,
      body: { passphrase: null, passphrase_required: true },
      audit: ['creation'],
    },
    {
      name: 'without a payload is refused',
      ask: 'POST /api/v2/pushes',
      init: { json: { push: {} } },
      status: 422,
      exactly: { error: "Payload can't be blank", payload: ["can't be blank"] },
    },
    {
      name: 'names all the fields at fault at once',
      ask: 'POST /api/v2/pushes',
      init: {
        json: {
          push: {
            payload: ' ',
            kind: 'fax',
            expire_after_days: 0,
            expire_after_views: 'many',
            expire_after_duration: 99,
            deletable_by_viewer: 'perhaps',
            retrieval_step: 'perhaps',
            passphrase: 'x'.repeat(1025),
            name: 'x'.repeat(256),
            note: 'x'.repeat(10_001),
            notify_emails_to: 'a@b.example',
            notify_emails_to_locale: 'de',
          },
        },
      },
      status: 422,
      members: [
        'error',
        'payload',
        'kind',
        'expire_after_days',
        'expire_after_views',
        'expire_after_duration',
        'deletable_by_viewer',
        'retrieval_step',
        'passphrase',
        'name',
        'note',
        'notify_emails_to',
        'notify_emails_to_locale',
      ],
      body: { notify_emails_to: ['are not available'], notify_emails_to_locale: ['is not available'] },
    },
  ])
})

let api: Api
let owner: string

beforeAll(async () => {
  api = await startApi()
  owner = await api.addAccount('owner@example.org')
})

afterAll(() => api.close())

const refusedFields = async (push: Wire) => {
  const { status, body } = await api.post(push)
  return status === 422 ? Object.keys(body).filter((name) => name !== 'error') : status
}

describe('a kind', () => {
  test.each(['text', 'url', 'qr'])('%s is kept', async (kind) => {
    const push = await api.create({ kind, payload: 'https://example.org/' })
    expect(push.kind).toBe(kind)
    expect((await api.retrieve(push.url_token)).body.kind).toBe(kind)
  })

  test.each(['Text', 'password', 'files', 'link'])('%s is unknown', async (kind) => {
    expect(await refusedFields({ payload: 'a', kind })).toEqual(['kind'])
  })

  test('is refused where the instance has it off', async () => {
    const plain = await startApi({ flags: { 'url-pushes': 'false', 'qr-pushes': 'false' } })
    try {
      for (const kind of ['url', 'qr']) {
        const { status, body } = await plain.post({ payload: 'https://example.org/', kind })
        expect([status, Object.keys(body)]).toEqual([422, ['error', 'kind']])
      }
      expect((await plain.post({ payload: 'a' })).status).toBe(201)
    } finally {
      await plain.close()
    }
  })
})

describe('a payload', () => {
  test.each(
    [null, '', ' ', '\n\t \r\n', '\u00a0\u3000'].flatMap((payload) =>
      ['text', 'url', 'qr'].map((kind) => ({ kind, payload })),
    ),
  )('of kind $kind may not be blank: $payload', async (push) => {
    const { status, body } = await api.post(push)
    expect([status, body as unknown]).toEqual([
      422,
      { error: "Payload can't be blank", payload: ["can't be blank"] },
    ])
  })

  test.each([[['a']], [{ a: 1 }], [[]]])('is a string, not %j', async (payload) => {
    expect(await refusedFields({ payload })).toEqual(['payload'])
  })

  test('of text has at most 1 MiB of UTF-8', async () => {
    const largest = 'é'.repeat(2 ** 19)
    const push = await api.create({ payload: largest })
    expect((await api.retrieve(push.url_token)).body.payload === largest).toBe(true)
    expect(await refusedFields({ payload: `${largest}x` })).toEqual(['payload'])
  })

  test('of a QR code has at most 1024 characters, however many bytes each takes', async () => {
    const largest = '🐴'.repeat(1024)
    const push = await api.create({ payload: largest, kind: 'qr' })
    expect((await api.retrieve(push.url_token)).body.payload).toBe(largest)
    expect(await refusedFields({ payload: 'x'.repeat(1025), kind: 'qr' })).toEqual(['payload'])
  })

  test.each([
    'https://example.org',
    'http://nas:5100/a?b=c#d',
    'HTTPS://user:pass@[::1]/',
    'https://grüezi.example/ü',
  ])('of a url may be %s, and is returned unchanged', async (payload) => {
    const push = await api.create({ payload, kind: 'url' })
    expect((await api.retrieve(push.url_token)).body.payload).toBe(payload)
  })

  test.each([
    'example.org',
    '/path',
    '//example.org/',
    'ftp://example.org/',
    'javascript:alert(1)',
    'data:text/html,hi',
    'mailto:a@example.org',
    'http://',
    'https:///path',
    'https:example.org',
    'http://?query',
    'http://exa mple.org/',
    'see https://example.org/',
  ])('of a url may not be %s', async (payload) => {
    expect(await refusedFields({ payload, kind: 'url' })).toEqual(['payload'])
  })

  test.each([
    'two\nlines\r\nand a tab\t',
    ' blanks around ',
    '\u0000\u0001\u001b[31m\u007f\u0085',
    '👩‍👩‍👧‍👦 e\u0301 \u{10ffff}',
    'שלום \u202eabc\u202c עולם',
    '"quotes" \\ </script> &amp; %20 +',
    '\ufeffmark',
    'a\u2028b\u2029',
  ])('is returned unchanged: %j', async (payload) => {
    const push = await api.create({ payload })
    expect((await api.retrieve(push.url_token)).body.payload).toBe(payload)
  })
})

describe('the name, note and passphrase', () => {
  test('may be of their maximum length, in characters or bytes', async () => {
    const texts = { name: '🐴'.repeat(255), note: '🐴'.repeat(10_000), passphrase: 'é'.repeat(512) }
    const push = await api.create(texts, { token: owner })
    expect([push.name, push.note]).toEqual([texts.name, texts.note])
    const listed = (await api.list('active', owner))[0]
    expect([listed?.name, listed?.note]).toEqual([texts.name, texts.note])
  })

  test.each([
    { name: '🐴'.repeat(256) },
    { note: 'x'.repeat(10_001) },
    { passphrase: `${'é'.repeat(512)}x` },
  ])('may not be longer: %#', async (texts) => {
    expect(await refusedFields({ payload: 'a', ...texts })).toEqual(Object.keys(texts))
  })
})
