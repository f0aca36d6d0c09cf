import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Answer, type Api, PUSHES, type PushBody, startApi } from '../support/api.ts'
import { BOUNDARY, type Bytes, multipart, type Part } from './multipart.ts'

let api: Api

beforeAll(async () => {
  api = await startApi()
})

afterAll(() => api.close())

function sendForm(text: string, type = 'application/x-www-form-urlencoded') {
  const body = new TextEncoder().encode(text)
  return api.call<PushBody>(PUSHES, { method: 'POST', headers: { 'content-type': type }, body })
}

const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`

function sendParts(body: Bytes, type = MULTIPART) {
  return api.call<PushBody>(PUSHES, { method: 'POST', headers: { 'content-type': type }, body })
}

async function payloadOf({ status, body, text }: Answer<PushBody>) {
  if (status !== 201) throw new Error(`${status} ${text}`)
  return (await api.retrieve(body.url_token)).body.payload
}

describe('a urlencoded body', () => {
  test.each([
    ['raw brackets', 'push[payload]=a'],
    ['escaped brackets', 'push%5Bpayload%5D=a'],
    ['escaped brackets in lower case', 'push%5bpayload%5d=a'],
    ['an ampersand at the end', 'push[payload]=a&'],
    ['names of others', 'utf8=%E2%9C%93&authenticity_token=x&commit=Go&push[payload]=a&push[workspace_id]=3'],
  ])('is read with %s', async (_, text) => {
    expect(await payloadOf(await sendForm(text))).toBe('a')
  })

  test('keeps a question mark at the start of the name of its first field', async () => {
    expect((await sendForm('?push[payload]=a')).status).toBe(400)
    expect(await payloadOf(await sendForm('?a=1&push[payload]=?b'))).toBe('?b')
  })

  test('sets every member of the push', async () => {
    const text = `push[payload]=a&push[expire_after_days]=3&push[expire_after_views]=2&push[retrieval_step]=0
      &push[deletable_by_viewer]=off&push[name]=N+1&push[note]=%C3%A9&push[passphrase]=&push[kind]=qr`
    const { status, body } = await sendForm(
      text.replace(/\s+/g, ''),
      'application/x-www-form-urlencoded; charset=utf-8',
    )
    expect(status).toBe(201)
    expect(body).toMatchObject({
      kind: 'qr',
      expire_after_days: 3,
      expire_after_views: 2,
      name: 'N 1',
      note: 'é',
    })
    expect(body).toMatchObject({
      retrieval_step: false,
      deletable_by_viewer: false,
      passphrase_required: false,
    })
  })

  test.each([
    ['a+b%2Bc', 'a b+c'],
    ['%F0%9F%90%B4=%26', '🐴=&'],
    ['line%0D%0Aline%0A%09%00', 'line\r\nline\n\t\u0000'],
    ['%20a%20', ' a '],
    ['grüezi', 'grüezi'],
    ['100%+%,%%2%zz%4', '100% %,%%2%zz%4'],
    ['%EF%BB%BFmark', '\ufeffmark'],
    ['a=b==', 'a=b=='],
    ['%D7%A9%D7%9C%D7%95%D7%9D', 'שלום'],
  ])('returns %p unchanged', async (sent, payload) => {
    expect(await payloadOf(await sendForm(`push[payload]=${sent}`))).toBe(payload)
  })

  test.each([
    ['empty', ''],
    ['without push', 'payload=a'],
    ['with push alone', 'push=a'],
    ['of another wrapper', 'password[payload]=a'],
    ['escaped bytes that are not UTF-8', 'push[payload]=%E9'],
    ['bytes of a name that are not UTF-8', 'push[payload]=a&%E9=b'],
    ['JSON', '{"push": {"payload": "a"}}'],
  ])('that is %s is refused as malformed', async (_, text) => {
    const before = api.entries()
    expect((await sendForm(text)).status).toBe(400)
    expect(api.entries()).toEqual(before)
  })
})

test.each([
  ['too many fields', 'x=&'.repeat(1000), '1000 fields'],
  ['too many empty fields', '&'.repeat(1000), '1000 fields'],
  ['too long a name', `push[${'n'.repeat(195)}]=x&`, '200 characters'],
])('a form of %s is refused, naming the limit', async (_, fields, limit) => {
  const { status, body } = await sendForm(`${fields}push[payload]=a`)
  expect<unknown>([status, body]).toEqual([400, { error: expect.stringContaining(limit) }])
})

const payload = (content: string | Uint8Array, more: Partial<Part> = {}): Part => ({
  name: 'push[payload]',
  content,
  ...more,
})

describe('a multipart body', () => {
  test.each([
    ['raw brackets', 'push[payload]'],
    ['escaped brackets', 'push%5Bpayload%5D'],
    ['escaped brackets in lower case', 'push%5bpayload%5d'],
  ])('is read with %s', async (_, name) => {
    expect(await payloadOf(await sendParts(multipart([payload('a', { name })])))).toBe('a')
  })

  test('is read with its parts in any order, ignoring other parts', async () => {
    const parts: Part[] = [
      { name: 'push[expire_after_views]', content: '2' },
      { name: 'push[note]', content: 'é\r\nè' },
      payload('a'),
      { name: 'push[expire_after_days]', content: '3' },
      { name: 'commit', content: 'Go' },
    ]
    for (const order of [parts, parts.toReversed()]) {
      const { status, body } = await sendParts(multipart(order))
      expect(status).toBe(201)
      expect(body).toMatchObject({ expire_after_days: 3, expire_after_views: 2, note: 'é\r\nè' })
    }
  })

  test.each([
    'text/plain; charset=utf-8',
    'text/plain; charset=iso-8859-1',
    'text/plain; charset=utf-16le',
    'text/plain; charset=nonsense',
    'application/json',
    'application/octet-stream',
    'image/png',
  ])('contains UTF-8 text, whatever content type a part claims: %s', async (type) => {
    const parts = [payload('grüezi 🐴', { headers: [`Content-Type: ${type}`] })]
    expect(await payloadOf(await sendParts(multipart(parts)))).toBe('grüezi 🐴')
  })

  test.each([
    'a\r\nb\nc\rd',
    '\r\n',
    `--${BOUNDARY}x--`,
    '\ufeffwith a byte order mark',
    ' blanks around ',
    '\u0000\u0001\u001b[31m\u007f',
    '👩‍👩‍👧‍👦 e\u0301 שלום \u202eabc',
    'a+b%20c&d=e',
  ])('returns %j unchanged', async (text) => {
    const sent = `x${text}x`
    expect(await payloadOf(await sendParts(multipart([payload(sent)])))).toBe(sent)
  })

  test.each([
    ['without a name', 'Content-Disposition: form-data'],
    ['with an empty name', 'Content-Disposition: form-data; name=""'],
  ])('ignores an unknown part %s', async (_, header) => {
    const nameless = Buffer.from(`--${BOUNDARY}\r\n${header}\r\n\r\nx\r\n`)
    expect(await payloadOf(await sendParts(Buffer.concat([nameless, multipart([payload('a')])])))).toBe('a')
  })

  test.each([
    ['that does not say what it is', 'Content-Type: text/plain'],
    ['with too many headers before it says so', `X-Long: ${'x'.repeat(20_000)}`],
    ['that says it is something else', 'Content-Disposition: attachment; name="push[note]"'],
    ['that says nothing', 'Content-Disposition:'],
    ['that is nearly one of a form', 'Content-Disposition: form-data-x; name="push[note]"'],
    [
      'with a line break in its name',
      'Content-Disposition: form-data; name="push[files][]"; filename="a\nb"',
    ],
    [
      'with an escaped line break in its name',
      "Content-Disposition: form-data; name=x; filename*=utf-8''a%0Ab",
    ],
  ])('is refused with a part %s, instead of dropping the part silently', async (_, header) => {
    const whole = multipart([payload('a')]).toString()
    const disposition = 'Content-Disposition'
    const body = whole.replace(
      disposition,
      `${header}\r\n${header.startsWith('X') ? '' : 'X-'}${disposition}`,
    )
    const { status, body: told } = await sendParts(Buffer.from(body))
    expect<unknown[]>([status, Object.values(told).join()]).toEqual([
      400,
      expect.stringContaining('Content-Disposition'),
    ])
  })

  test.each<[string, Bytes, string, string]>([
    [
      'too many parts',
      multipart([payload('a'), ...Array(1000).fill({ name: 'x', content: '' })]),
      '1000 parts',
      MULTIPART,
    ],
    [
      'a name that is too long',
      multipart([payload('a', { name: 'n'.repeat(201) })]),
      '200 characters',
      MULTIPART,
    ],
    [
      'a long preamble',
      Buffer.concat([Buffer.alloc(1_100_000, '-'), multipart([payload('a')])]),
      '1048576 bytes outside',
      MULTIPART,
    ],
    ['a long boundary', multipart([payload('a')]), '200 characters', `${MULTIPART}${'x'.repeat(200)}`],
  ])('with %s is refused, naming the limit', async (_, body, limit, type) => {
    const { status, body: told } = await sendParts(body, type)
    expect<unknown>([status, told]).toEqual([400, { error: expect.stringContaining(limit) }])
  })

  test('is refused if a part has too many headers', async () => {
    const headers = Array.from({ length: 20 }, (_, n) => `X-${n}: y`).join('\r\n')
    const body = multipart([payload('a')])
      .toString()
      .replace('Content', `${headers}\r\nContent`)
    expect((await sendParts(Buffer.from(body))).status).toBe(400)
  })

  test('may quote its boundary', async () => {
    const body = multipart([payload('a')])
    expect(await payloadOf(await sendParts(body, `multipart/form-data; boundary="${BOUNDARY}"`))).toBe('a')
  })

  test.each<[string, Bytes, string]>([
    ['empty', new Uint8Array(), MULTIPART],
    ['without parts', multipart([]), MULTIPART],
    ['without push', multipart([payload('a', { name: 'payload' })]), MULTIPART],
    ['of text that is not UTF-8', multipart([payload(Uint8Array.from([0x61, 0xe9]))]), MULTIPART],
    [
      'of a name that is not UTF-8',
      multipart([payload(Uint8Array.from([0xff]), { name: 'push[name]' })]),
      MULTIPART,
    ],
    ['without its last boundary', multipart([payload('a')], { end: '' }), MULTIPART],
    ['broken off in the middle of a part', multipart([payload('abcdefgh')]).subarray(0, 90), MULTIPART],
    ['without a boundary in its type', multipart([payload('a')]), 'multipart/form-data'],
    ['of another boundary', multipart([payload('a')]), 'multipart/form-data; boundary=other'],
  ])('that is %s is refused as malformed', async (_, body, type) => {
    const before = api.entries()
    const { status, body: told } = await sendParts(body, type)
    expect([status, Object.keys(told)]).toEqual([400, ['error']])
    expect(api.entries()).toEqual(before)
  })
})
