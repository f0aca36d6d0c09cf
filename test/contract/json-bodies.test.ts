import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Api, PUSHES, startApi } from '../support/api.ts'

let api: Api

beforeAll(async () => {
  api = await startApi({ flags: { 'max-payload-bytes': '1000' } })
})

afterAll(() => api.close())

const bytes = (text: string) => new TextEncoder().encode(text)

/** Sends a body as bytes, which imply no content type. */
function send(
  body: Uint8Array<ArrayBuffer> | string | ReadableStream,
  type: string | null,
  more: Record<string, string> = {},
) {
  const headers = { ...(type === null ? {} : { 'content-type': type }), ...more }
  return api.call(PUSHES, { method: 'POST', headers, body: typeof body === 'string' ? bytes(body) : body })
}

const json = '{"push": {"payload": "grüezi 🐴\\u0000\\n"}}'

describe('a JSON body', () => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'Application/JSON',
    ' application/json ; charset="utf-8"',
  ])('is read as %p', async (type) => {
    const { status, body } = await send(json, type)
    expect(status).toBe(201)
    const { payload } = (await api.retrieve(String(body.url_token))).body
    expect(payload).toBe('grüezi 🐴\u0000\n')
  })

  test.each([
    ['empty', ''],
    ['broken off', '{"push": {"payload": "x"'],
    ['followed by something else', '{"push": {"payload": "x"}} {}'],
    ['a form', 'push[payload]=x'],
    ['null', 'null'],
    ['a list', '[{"push": {"payload": "x"}}]'],
    ['a string', '"push"'],
    ['without push', '{}'],
    ['of members without push around them', '{"payload": "x"}'],
    ['of another wrapper', '{"password": {"payload": "x"}}'],
    ['with null for push', '{"push": null}'],
    ['with a string for push', '{"push": "x"}'],
    ['with a number for push', '{"push": 1}'],
    ['with a list for push', '{"push": [{"payload": "x"}]}'],
  ])('that is %s is refused as malformed', async (_, text) => {
    const before = api.entries()
    const { status, body } = await send(text, 'application/json')
    expect(status).toBe(400)
    expect(Object.keys(body)).toEqual(['error'])
    expect(api.entries()).toEqual(before)
  })

  test('that is not UTF-8 is refused as malformed, not repaired', async () => {
    const text = Uint8Array.from([...bytes('{"push": {"payload": "a'), 0xe9, ...bytes('b"}}')])
    expect((await send(text, 'application/json')).status).toBe(400)
  })

  test('that ends within a character does not affect the next body', async () => {
    const text = Uint8Array.from([...bytes('{"push": {"payload": "a'), 0xe2, 0x82])
    expect((await send(text, 'application/json')).status).toBe(400)
    expect((await send('{"push": {"payload": "€"}}', 'application/json')).status).toBe(201)
  })

  test('with half a surrogate pair is refused, since it could not be returned unchanged', async () => {
    const { status, body } = await send('{"push": {"payload": "a\\ud83d"}}', 'application/json')
    expect([status, Object.keys(body)]).toEqual([422, ['error', 'payload']])
  })
})

describe('the shape of a JSON body', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  const around = (member: string) => `{"push": {"payload": "[[{{,,", "x": ${member}}}`
  const long = (text: string) => text + ' '.repeat(2000)

  test.each([
    ['as deep as it may be', long(around(nested(30)))],
    ['of two thousand characters, however deep', around(nested(900))],
    ['with as many members as it may have', around(JSON.stringify(Array(1997).fill([])))],
    ['with a member of the name __proto__', around('{"__proto__": {"payload": "b"}}')],
    ['with a number of ten thousand digits', around('9'.repeat(10_000))],
    ['with the same member again and again', around(`0${',"x": 1'.repeat(1900)}`)],
  ])('with %s is accepted as a push', async (_, text) => {
    const { status, body } = await send(text, 'application/json')
    expect(status).toBe(201)
    expect((await api.retrieve(String(body.url_token))).body.payload).toBe('[[{{,,')
  })

  test.each([
    ['too deep', long(around(nested(31))), '32 levels'],
    ['of brackets alone', '['.repeat(70_000), '32 levels'],
    ['of too many members', around(JSON.stringify(Array(1998).fill([]))), '2000 members'],
    ['of the same member too often', around(`0${',"x": 1'.repeat(2000)}`), '2000 members'],
  ])('with %s is refused, naming the limit', async (_, text, limit) => {
    const { status, body } = await send(text, 'application/json')
    expect([status, body]).toEqual([400, { error: expect.stringContaining(limit) }])
  })
})

describe('a content type', () => {
  test.each([
    'text/plain',
    'text/json',
    'application/xml',
    'application/octet-stream',
    'application/merge-patch+json',
    'multipart/mixed; boundary=x',
    'application/jsonp',
  ])('%s is unsupported', async (type) => {
    const { status, body } = await send(json, type)
    expect(status).toBe(415)
    expect(Object.keys(body)).toEqual(['error'])
  })

  test('that is missing is refused as malformed', async () => {
    expect((await send(json, null)).status).toBe(400)
  })

  test('that is missing is refused as malformed, even without a body', async () => {
    expect((await api.call(PUSHES, { method: 'POST' })).status).toBe(400)
  })
})

describe('a body that is too large', () => {
  const large = '{"push": {"payload": "x", "note": ""}}'.padEnd(80_000)
  const inPieces = (text: string) =>
    new ReadableStream({
      start(controller) {
        for (let at = 0; at < text.length; at += 10_000)
          controller.enqueue(bytes(text.slice(at, at + 10_000)))
        controller.close()
      },
    })

  const refusal = { error: expect.stringMatching(/\b71536 bytes.*--max-payload-bytes/) }

  test('is refused by its Content-Length, before it is read', async () => {
    const pulled: number[] = []
    const body = new ReadableStream({ pull: () => void pulled.push(1) }, { highWaterMark: 0 })
    const { status, body: told } = await send(body, 'application/json', { 'content-length': '80000' })
    expect([status, told]).toEqual([413, refusal])
    expect(pulled).toEqual([])
  })

  test.each(['application/json', 'application/x-www-form-urlencoded'])(
    'is refused while it arrives in chunks: %s',
    async (type) => {
      const { status, body } = await send(inPieces(large), type)
      expect([status, body]).toEqual([413, refusal])
    },
  )

  test('is refused in the text parts of a multipart body', async () => {
    const part = `--x\r\nContent-Disposition: form-data; name="push[payload]"\r\n\r\n${large}\r\n--x--\r\n`
    const { status, body } = await send(inPieces(part), 'multipart/form-data; boundary=x')
    expect([status, body]).toEqual([413, refusal])
  })

  test('leaves nothing behind', async () => {
    const before = api.entries()
    await send(inPieces(large), 'application/json')
    expect(api.entries()).toEqual(before)
  })
})

test('a payload of the maximum size fits, however it is escaped', async () => {
  const payload = '\u0001'.repeat(1000)
  const escaped = `{"push": {"payload": "${'\\u0001'.repeat(1000)}"}}`
  const form = `push[payload]=${'%01'.repeat(1000)}`
  const created = [
    await send(escaped, 'application/json'),
    await send(form, 'application/x-www-form-urlencoded'),
  ]
  for (const { status, body } of created) {
    expect(status).toBe(201)
    expect((await api.retrieve(String(body.url_token))).body.payload).toBe(payload)
  }
})
