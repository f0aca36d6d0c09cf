// A secret in the output of a recipe: hidden in every coding that programs commonly print.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { hideSecret } from '../../../src/cli/mcp/redaction.ts'

const SECRET = 'pa$$ "wörd"/+<&>\\%41 𝄞\'x'

const latin1 = (text: string) => Buffer.from(text).toString('latin1')
const hide = (output: string, secret = SECRET) =>
  Buffer.from(hideSecret(latin1(output), latin1(secret)), 'latin1').toString()

const bytes = Buffer.from(SECRET)
const wrapped = (text: string) => text.replace(/.{10}/g, '$&\n')
const ascii = (text: string) =>
  JSON.stringify(text).replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

test.each([
  ['as it is', SECRET],
  ['base64', bytes.toString('base64')],
  ['base64 for URLs', bytes.toString('base64url')],
  ['base64 of something around it', Buffer.from(`user:${SECRET}!`).toString('base64')],
  ['base64 of one character before it', Buffer.from(`x${SECRET}`).toString('base64')],
  ['base64 in lines', wrapped(bytes.toString('base64'))],
  ['base64 in lines of JSON', JSON.stringify(wrapped(bytes.toString('base64')))],
  ['hexadecimal', bytes.toString('hex')],
  [
    'capital hexadecimal with colons',
    bytes
      .toString('hex')
      .toUpperCase()
      .replace(/..(?!$)/g, '$&:'),
  ],
  [
    'hexadecimal as od prints it',
    bytes
      .toString('hex')
      .replace(/(..){16}/g, '$&\n')
      .replace(/../g, ' $&'),
  ],
  ['hexadecimal escapes', [...bytes].map((byte) => `\\x${byte.toString(16)}`).join('')],
  ['encodeURIComponent', encodeURIComponent(SECRET)],
  ['encodeURI', encodeURI(SECRET)],
  ['a form', String(new URLSearchParams({ a: SECRET })).slice(2)],
  ['lower-case percent codes for all', [...bytes].map((byte) => `%${byte.toString(16)}`).join('')],
  ['percent codes twice', encodeURIComponent(encodeURIComponent(SECRET))],
  ['JSON', JSON.stringify(SECRET)],
  ['JSON in JSON', JSON.stringify(JSON.stringify({ a: SECRET }))],
  ['ASCII JSON', ascii(SECRET)],
  ['JSON with escaped slashes', JSON.stringify(SECRET).replaceAll('/', '\\/')],
  [
    'HTML',
    SECRET.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  ],
  ['HTML numbers', [...SECRET].map((one) => `&#${one.codePointAt(0)};`).join('')],
  ['UTF-16', Buffer.from(SECRET.replaceAll(/[^ -~]/g, ''), 'utf16le').toString('latin1')],
  ['colours of a search', `\x1b[31m${SECRET.slice(0, 3)}\x1b[0m${SECRET.slice(3)}`],
])('%s is hidden', (name, output) => {
  const secret = name === 'UTF-16' ? SECRET.replaceAll(/[^ -~]/g, '') : SECRET
  const shown = hide(`before ${output} after ${output}`, secret)
  expect(shown).toMatch(/^before "*\\?"?(\{\\"a\\":\\)?.*\[secret\].* after .*\[secret\]/s)
  expect(shown.length).toBeLessThan(70)
})

test('each line of a longer secret is hidden', () => {
  const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nBAQEFAASCBKcwggSjAgEAAo\n-----END KEY-----\n'
  expect(hide(`> MIIEvQIBADANBgkqhkiG9w0\n> BAQEFAASCBKcwggSjAgEAAo`, key)).toBe('> [secret]\n> [secret]')
})

test('other output stays unchanged', () => {
  expect(hide('naïve: 12 of 30 hosts, 0xdeadbeef \\n done')).toBe(
    'naïve: 12 of 30 hosts, 0xdeadbeef \\n done',
  )
})

test('no secret appears in its own output, whatever its characters', () => {
  const secret = fc
    .string({ minLength: 8, maxLength: 60, unit: 'binary' })
    .filter((text) => text.trim().length >= 8)
  fc.assert(
    fc.property(secret, fc.string(), (text, around) => {
      const raw = Buffer.from(text.replaceAll('\0', '0'))
      const well = raw.toString()
      for (const form of [
        well,
        raw.toString('base64'),
        raw.toString('hex'),
        encodeURIComponent(well),
        JSON.stringify(well),
      ])
        expect(hide(`${around}|${form}|`, well)).not.toContain(form)
    }),
  )
})

test('a hostile secret is found in bounded time', () => {
  const startedAt = performance.now()
  for (const part of ['%25', '\\\\', 'aaaa', '&amp;', '\\u005c'])
    hideSecret(part.repeat(32_000 / part.length), part.repeat(4096 / part.length))
  // Text that almost contains the secret everywhere: in base64, in hexadecimal, and escaped.
  hideSecret('aWlp'.repeat(8000), `${'i'.repeat(4000)}!`)
  hideSecret('30'.repeat(16_000), `${'0'.repeat(4000)}!`)
  hideSecret('\\'.repeat(32_000), 'abcdefgh')
  hideSecret('\\'.repeat(40), `${'\\'.repeat(26)}Z`)
  expect(performance.now() - startedAt).toBeLessThan(10_000)
}, 120_000)
