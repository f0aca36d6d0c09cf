// Values that the server gives away and gets back: grants, marks, nonces, sign-ins that wait for a code, and
// codes of an app.

import { describe, expect, test } from 'bun:test'
import { openAnswer, sealAnswer } from '../../src/crypto/idempotency-key.ts'
import { findKey, type Keyring, newKeyFile, parseKeyFile } from '../../src/crypto/keyring.ts'
import { openJson, sealJson } from '../../src/crypto/sealed-field.ts'
import { SEGMENT_BYTES, sealedSize, sealStream } from '../../src/crypto/sealed-stream.ts'
import { checkTotp } from '../../src/crypto/totp.ts'
import type { Account } from '../../src/domain/account.ts'
import { HOUR } from '../../src/domain/time.ts'
import { createPageSeals } from '../../src/pushes/page-seals.ts'
import { openSharedState } from '../support/shared-state.ts'
import { codeOf } from '../support/tour.ts'

const line = (number: number) => `${number} ${String(number).padStart(64, '0')}`
const first = parseKeyFile(line(1))
const other = parseKeyFile(line(2))
/** Seals under key 2, and still opens what key 1 sealed. */
const both = parseKeyFile(`${line(2)}\n${line(1)}`)
const marksOf = (keyring: Keyring) =>
  createPageSeals({ keyring, usedNonces: openSharedState(() => 0).nonces, now: () => 0 }).marks

const place = { subkey: 'grants', subject: new Uint8Array(), field: 'grant' } as const
const grant = { push: 'ab', file: 'f', filename: 'ä.txt', size: 5, until: 7 }
const account = (id: number) => ({ id }) as Account

type Sealed = {
  seal: (keyring: typeof first) => string
  open: (text: string, keyring: typeof first) => unknown
  content: unknown
}

const TEXTS: Record<string, Sealed> = {
  'a value such as a download grant': {
    seal: (keyring) => sealJson(grant, keyring, place),
    open: (text, keyring) => openJson(text, keyring, place),
    content: grant,
  },
  'the mark of a form': {
    seal: (keyring) => marksOf(keyring).issue(account(3)),
    open: (mark, keyring) => marksOf(keyring).read(mark),
    content: { accountId: 3 },
  },
}

describe.each(Object.entries(TEXTS))('%s', (_, { seal, open, content }) => {
  test('opens under the key that sealed it, even if a newer key seals now', () => {
    expect([open(seal(first), first), open(seal(first), both)]).toEqual([content, content])
  })

  test('is refused under another key, altered, truncated or empty', () => {
    const text = seal(first)
    const altered = `${text.slice(0, -9)}${text.at(-9) === 'A' ? 'B' : 'A'}${text.slice(-8)}`
    expect(open(text, other)).toBeNull()
    for (const bad of [altered, text.slice(0, -4), '', 'x', '3.', '3.x']) expect(open(bad, first)).toBeNull()
  })
})

test('a sealed value opens only in its place, and only in its exact spelling', () => {
  const text = sealJson(grant, first, place)
  for (const odd of [`${text}=`, `${text} `, `${text.slice(0, 5)}\n${text.slice(5)}`])
    expect(openJson(odd, first, place)).toBeNull()
  expect(openJson(text, first, { ...place, field: 'form mark' })).toBeNull()
  expect(openJson(text, first, { ...place, subkey: 'pages' })).toBeNull()
})

test('the mark of a form that was opened signed out names no account, on any node', () => {
  const mark = marksOf(first).issue(null)
  expect(marksOf(other).read(mark)).toEqual({ accountId: null })
})

test('a nonce is valid once, for its own subject, under a key of its instance, and for twelve hours', async () => {
  let time = 1_700_000_000_000
  const now = () => time
  const { nonces, spend } = openSharedState(now)
  const [page, stranger, later] = [first, other, both].map((keyring) => {
    const { issue, press } = createPageSeals({ usedNonces: nonces, keyring, now }).nonces
    const use = (text: string, subject: string) =>
      press({ text, subject }, (nonce) => spend(nonce).then(() => 'good'))
    return { issue, use, press }
  })
  const nonce = page!.issue('page')
  expect(page!.issue('page')).not.toBe(nonce)
  for (const bad of ['', 'x', nonce.slice(0, -4), `${nonce}AAAA`, `${nonce}=`, `${nonce} `])
    expect(await page!.use(bad, 'page')).toBe('stale')
  expect([await page!.use(nonce, 'other'), await stranger!.use(nonce, 'page')]).toEqual(['stale', 'stale'])
  expect([await later!.use(nonce, 'page'), await page!.use(nonce, 'page')]).toEqual(['good', 'used'])
  const old = page!.issue('page')
  time += 12 * HOUR + 1
  expect(await page!.use(old, 'page')).toBe('stale')
})

test('a refused press stores nothing, and its form acts again only after the first press has failed', async () => {
  const now = () => 1_700_000_000_000
  const { nonces, spend, countRows } = openSharedState(now)
  const page = createPageSeals({ usedNonces: nonces, keyring: first, now }).nonces
  const press = { text: page.issue('page'), subject: 'page' }
  expect([await page.press(press, async () => 'refused'), await page.press(press, spend)]).toEqual([
    'refused',
    'used',
  ])
  const failed = { ...press, text: page.issue('page') }
  const fail = page.press(failed, () => Promise.reject(new Error('no room')))
  await expect(fail).rejects.toThrow('no room')
  expect([await page.press(failed, async () => 'done'), countRows()]).toEqual(['done', 0])
})

test('a used nonce is reported as used even by a process that does not remember the press', async () => {
  const now = () => 1_700_000_000_000
  const { nonces, spend, countRows } = openSharedState(now)
  const pages = [first, first].map((keyring) => createPageSeals({ usedNonces: nonces, keyring, now }).nonces)
  const press = { text: pages[0]!.issue('page'), subject: 'page' }
  // Both have checked before either uses it up.
  const raced = await Promise.all(
    pages.map((page) => page.press(press, (nonce) => spend(nonce).then(() => 'good'))),
  )
  expect(raced.sort()).toEqual(['good', 'used'])
  const again = createPageSeals({ usedNonces: nonces, keyring: first, now }).nonces
  expect([await again.press(press, spend), countRows()]).toEqual(['used', 1])
})

test('a keyring finds the key of a number; numbers go from 1 to 255', () => {
  expect([findKey(both, 1)?.number, findKey(both, 2)?.number, findKey(both, 3)]).toEqual([1, 2, null])
  expect(parseKeyFile(line(255)).sealing.number).toBe(255)
  for (const number of [0, 256]) expect(() => parseKeyFile(line(number))).toThrow('line 1')
  expect(parseKeyFile(newKeyFile()).keys).toHaveLength(1)
})

test('a stored answer can be opened with its own idempotency key and no other', () => {
  const presented = (key: string) => ({ key: key.repeat(32), scope: 'account 1' })
  const answer = { fingerprint: Buffer.alloc(32, 5), urlToken: '0123456789abcdefghjkmnpqrs' }
  const sealed = sealAnswer(answer, presented('a'), first.sealing)
  expect(openAnswer(sealed, presented('a'), first.sealing)?.urlToken).toBe(answer.urlToken)
  expect(openAnswer(sealed, presented('b'), first.sealing)).toBeNull()
})

test.each([0, 1, SEGMENT_BYTES, SEGMENT_BYTES + 1])(
  '%d bytes take as much space as was calculated',
  async (size) => {
    let sealed = 0
    async function* content() {
      yield new Uint8Array(size)
    }
    for await (const chunk of sealStream(content(), { id: 'f', key: new Uint8Array(32) }))
      sealed += chunk.length
    expect(sealedSize(size)).toBe(sealed)
  },
)

describe('a code of an authenticator app', () => {
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
  const now = 1_700_000_010_000
  const step = Math.floor(now / 30_000)
  const check = (at: number, lastStep: number | null) =>
    checkTotp({ secret, code: codeOf(secret, at), now, lastStep })

  test('is valid in its time step and in the one before and after', () => {
    const steps = [-60_000, -30_000, 0, 30_000, 60_000].map((off) => check(now + off, null))
    expect(steps).toEqual([null, step - 1, step, step + 1, null])
  })

  test('is valid only after the last time step that was used', () => {
    expect([step - 1, step, step + 1].map((last) => check(now, last))).toEqual([step, null, null])
  })

  test('may contain blanks, but must have exactly six digits', () => {
    const code = codeOf(secret, now)
    const checked = (typed: string) => checkTotp({ secret, code: typed, now, lastStep: null })
    expect(checked(` ${code.slice(0, 3)} ${code.slice(3)}`)).toBe(step)
    for (const bad of ['', code.slice(1), `${code}0`, 'abcdef']) expect(checked(bad)).toBeNull()
  })
})
