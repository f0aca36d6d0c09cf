// The code beside a link: pages ask for two digits before a view is used up, and the API does not.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { MINUTE } from '../../src/domain/time.ts'
import { PUSHES } from '../support/api.ts'
import { startInstance, type TestInstance } from '../support/instance.ts'
import { elementsIn, valueIn } from '../support/page-facts.ts'
import { createPeople, type People } from '../support/people.ts'

let server: TestInstance
let people: People
let token: string

beforeEach(async () => {
  server = await startInstance()
  people = createPeople(server)
  token = await server.addAccount('ann@example.org')
})

afterEach(() => server.close())

type Made = { url_token: string; code: string; path: string }

async function make(
  fields: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Made> {
  const json = { push: { payload: 'sesame', code_required: true, ...fields } }
  const made = await (await server.fetch(PUSHES, { json, token, headers })).json()
  return { ...made, path: new URL(made.html_url).pathname }
}

async function press({ path }: Made, fields: Record<string, string>) {
  const { text } = await people.get(path)
  return people.post(path, { nonce: valueIn(text, 'nonce'), ...fields })
}

const wrongOf = ({ code }: Made, n = 1) => String((Number(code) + n) % 100).padStart(2, '0')

async function viewsOf({ url_token }: Made): Promise<number> {
  const [push] = await (await server.fetch(`${PUSHES}/active`, { token })).json()
  return push.url_token === url_token ? push.views_remaining : -1
}

async function failuresOf({ url_token }: Made): Promise<number> {
  const { logs } = await (await server.fetch(`${PUSHES}/${url_token}/audit`, { token })).json()
  return logs.filter(({ kind }: { kind: string }) => kind === 'failed_passphrase').length
}

describe('a push with a code', () => {
  test('shows the code in the answer to its create, even to a repeated one, and nowhere else', async () => {
    const headers = { 'idempotency-key': 'a-key-of-22-characters' }
    const made = await make({}, headers)
    expect(made.code).toMatch(/^[0-9]{2}$/)
    expect(await make({}, headers)).toEqual(made)
    expect(await make({ code_required: false })).not.toHaveProperty('code')
    for (const path of ['', '/preview'])
      expect(await (await server.fetch(`${PUSHES}/${made.url_token}${path}`)).json()).not.toHaveProperty(
        'code',
      )
  })

  test('opens on its page with the code, and through the API without it', async () => {
    const made = await make()
    const { text } = await people.get(made.path)
    expect(elementsIn(text, 'input[name="code"][required][inputmode="numeric"]')).toHaveLength(1)
    expect(text).not.toContain(`<strong>${made.code}<`)
    expect((await press(made, { code: ` ${made.code} ` })).text).toContain('sesame')
    expect((await (await server.fetch(`${PUSHES}/${made.url_token}`)).json()).payload).toBe('sesame')
  })

  test.each([
    ['Arabic', 0x0660],
    ['Persian', 0x06f0],
    ['Hindi', 0x0966],
    ['Thai', 0x0e50],
    ['full-width', 0xff10],
  ])('opens with its code in %s digits', async (_script, zero) => {
    const made = await make()
    const code = made.code.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)))
    expect((await press(made, { code })).text).toContain('sesame')
  })

  test('uses up no view for a wrong or missing code, and audits the wrong one', async () => {
    const made = await make()
    const missing = await press(made, { code: '' })
    expect([missing.status, missing.text.includes('sesame')]).toEqual([422, false])
    expect(missing.text).toContain('Please enter the code.')
    const wrong = await press(made, { code: wrongOf(made) })
    expect([wrong.status, wrong.text.includes('That is not the code.')]).toEqual([422, true])
    expect([await viewsOf(made), await failuresOf(made)]).toEqual([5, 1])
  })

  test('asks for its code and its passphrase in one form, and counts their wrong tries separately', async () => {
    const made = await make({ passphrase: 'open sesame' })
    for (let n = 0; n < 5; n += 1) await press(made, { code: wrongOf(made), passphrase: 'wrong' })
    server.clock.advance(MINUTE)
    const wrong = await press(made, { code: made.code, passphrase: 'wrong' })
    expect([wrong.status, wrong.text.includes('That is not the passphrase.')]).toEqual([422, true])
    expect((await press(made, { code: made.code, passphrase: 'open sesame' })).text).toContain('sesame')
  })

  test('is shown to its owner, who is not asked for the code', async () => {
    const made = await make()
    const ann = await people.signIn('ann@example.org')
    for (const path of [`/p/${made.url_token}/preview`, `/pushes/${made.url_token}`])
      expect((await ann.get(path)).text).toMatch(new RegExp(`>${made.code}<`))
    const { text } = await ann.get(made.path)
    expect(elementsIn(text, 'input[name="code"]')).toEqual([])
    expect((await people.get(`/p/${made.url_token}/preview`)).text).not.toMatch(
      new RegExp(`<strong>${made.code}<`),
    )
  })
})

describe('wrong codes', () => {
  test('are limited to five a minute, after ten in total to one a minute, and never end the push', async () => {
    const made = await make()
    const guess = async (code = wrongOf(made)) => (await press(made, { code })).status
    const minute = async (tries: number) => {
      const statuses: number[] = []
      for (let n = 0; n < tries; n += 1) statuses.push(await guess())
      return statuses
    }
    expect(await minute(7)).toEqual([422, 422, 422, 422, 422, 429, 429])
    const refused = await press(made, { code: made.code })
    expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([429, 60])
    server.clock.advance(MINUTE)
    expect(await minute(6)).toEqual([422, 422, 422, 422, 422, 429])
    for (let n = 0; n < 3; n += 1) {
      server.clock.advance(MINUTE)
      expect(await minute(2)).toEqual([422, 429])
    }
    expect([await viewsOf(made), await failuresOf(made)]).toEqual([5, 13])
    server.clock.advance(MINUTE)
    expect((await press(made, { code: made.code })).text).toContain('sesame')
  })

  test('sent at once are counted one by one, and a right one among them does not bypass the limit', async () => {
    const made = await make()
    const codes = Array.from({ length: 30 }, (_, n) => (n === 29 ? made.code : wrongOf(made, n + 1)))
    const answers = await Promise.all(codes.map((code) => press(made, { code })))
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(5)
    expect(await failuresOf(made)).toBe(5)
  })

  test('right codes that race open the push as often as it allows', async () => {
    const made = await make({ expire_after_views: 3 })
    const answers = await Promise.all(Array.from({ length: 8 }, () => press(made, { code: made.code })))
    expect(answers.filter(({ text }) => text.includes('sesame'))).toHaveLength(3)
  })
})
