import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Api, PUSHES, startApi } from '../support/api.ts'
import { runScenarios } from '../support/scenarios.ts'
import { BOUNDARY, multipart, type Part } from './multipart.ts'

const disabled = { kind: [expect.stringMatching(/disabled/)] }
const file = { filename: 'a.txt', data: 'aGk=' }

describe('while files are off, pushing one', () => {
  runScenarios(
    [
      {
        name: 'needs an account in the first place',
        ask: 'POST /api/v2/pushes',
        init: { json: { push: { payload: 'a', files: [file] } } },
        status: 401,
      },
      {
        name: 'needs an account for an empty list of files too',
        ask: 'POST /api/v2/pushes',
        init: { json: { push: { payload: 'a', files: [] } } },
        status: 401,
      },
      {
        name: 'needs an account for kind file without files too',
        ask: 'POST /api/v2/pushes',
        init: { json: { push: { payload: 'a', kind: 'file' } } },
        status: 401,
      },
      {
        name: 'is refused as a disabled kind when the kind follows from the files',
        ask: 'POST /api/v2/pushes',
        as: 'owner',
        init: { json: { push: { payload: 'a', files: [file] } } },
        status: 422,
        body: disabled,
      },
      {
        name: 'is refused as a disabled kind when it is named',
        ask: 'POST /api/v2/pushes',
        as: 'owner',
        init: { json: { push: { payload: 'a', kind: 'file', files: [file] } } },
        status: 422,
        body: disabled,
      },
      {
        name: 'is refused together with a kind that is on',
        ask: 'POST /api/v2/pushes',
        as: 'owner',
        init: { json: { push: { payload: 'a', kind: 'text', files: [file] } } },
        status: 422,
      },
      {
        name: 'is not what an account does that sends an empty list',
        ask: 'POST /api/v2/pushes',
        as: 'owner',
        init: { json: { push: { payload: 'a', files: [] } } },
        status: 201,
        body: { kind: 'text', files: [] },
        audit: ['creation'],
      },
      {
        name: 'is not what somebody does who gives null or nothing for files',
        ask: 'POST /api/v2/pushes',
        init: { json: { push: { payload: 'a', files: null, kind: '' } } },
        status: 201,
        body: { kind: 'text', files: [] },
        audit: ['creation'],
      },
    ],
    { flags: { files: 'false' } },
  )
})

describe('in a multipart body', () => {
  let api: Api
  let owner: string

  beforeAll(async () => {
    api = await startApi({ flags: { files: 'false' } })
    owner = await api.addAccount('owner@example.org')
  })

  afterAll(() => api.close())

  function send(parts: Part[], token?: string) {
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
    const account = token === undefined ? {} : { token }
    return api.call(PUSHES, { method: 'POST', headers, body: multipart(parts), ...account })
  }

  const text: Part = { name: 'push[payload]', content: 'a' }
  const names = ['push[files][]', 'push[files]', 'push[files][0]', 'push%5Bfiles%5D%5B%5D']
  const dispositions = [
    'filename="a.txt"',
    'filename=a.txt',
    'filename="grüezi 🐴.txt"',
    "filename*=UTF-8''gr%C3%BCezi.txt",
    'filename="=?utf-8?B?Z3LDvGV6aS50eHQ=?="',
  ]

  test('the page says so when a file is dragged over it', async () => {
    const page = await (await api.fetch('/')).text()
    expect(page).toMatch(/<p class="overlay refused".*?Files are disabled on this server\.<\/p>/s)
    expect(page).not.toContain('id="kind-file"')
  })

  test.each(names)('a file part is a file as %s, before the text or after it', async (name) => {
    const part = { name, content: 'contents', disposition: 'filename="a.txt"' }
    for (const parts of [
      [part, text],
      [text, part],
    ]) {
      const before = api.entries()
      expect((await send(parts)).status).toBe(401)
      const { status, body } = await send(parts, owner)
      expect([status, body]).toEqual([422, expect.objectContaining(disabled)])
      expect(api.entries()).toEqual(before)
    }
  })

  test.each(dispositions)('a part with %s is a file', async (disposition) => {
    const part = { name: 'push[files][]', content: 'contents', disposition }
    expect((await send([text, part])).status).toBe(401)
    expect((await send([text, part], owner)).status).toBe(422)
  })

  test.each(names)('an unnamed empty file part is no file: %s', async (name) => {
    const headers = ['Content-Type: application/octet-stream']
    const part = { name, content: '', disposition: 'filename=""', headers }
    for (const token of [undefined, owner]) {
      const { status, body } = await send([part, text, part], token)
      expect([status, body]).toEqual([201, expect.objectContaining({ kind: 'text', files: [] })])
    }
  })

  test('a large file is refused without being read to its end', async () => {
    const head = multipart([{ name: 'push[files][]', content: 'x', disposition: 'filename="a"' }], {
      end: '',
    })
    let pulled = 0
    const body = new ReadableStream({
      pull(controller) {
        pulled += 1
        controller.enqueue(pulled === 1 ? head.subarray(0, -2) : new Uint8Array(64 * 1024))
      },
    })
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
    const { status } = await api.call(PUSHES, { method: 'POST', headers, body, token: owner })
    expect(status).toBe(422)
    expect(pulled).toBeLessThan(100)
  })
})
