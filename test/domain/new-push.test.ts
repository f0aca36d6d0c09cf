// Tests the payloads of each kind, and the lifetimes of a push.

import { expect, test } from 'bun:test'
import { durationProblem, payloadProblem } from '../../src/domain/new-push.ts'
import type { PushKind } from '../../src/domain/push.ts'
import { DAY, HOUR } from '../../src/domain/time.ts'

const limits = { payloadBytes: 2_000 } as Parameters<typeof payloadProblem>[2]

test.each<[string, PushKind, string, string | null]>([
  ['text', 'text', 'hello', null],
  ['text of exactly the limit', 'text', 'é'.repeat(1_000), null],
  ['text one byte beyond the limit', 'text', `${'é'.repeat(1_000)}x`, 'too_long_bytes'],
  ['blank text', 'text', ' \n\t', 'blank'],
  ['a blank web address', 'url', ' ', 'blank'],
  ['a blank QR code', 'qr', '', 'blank'],
  ['no text beside files', 'file', '', null],
  ['blank text beside files', 'file', ' ', null],
  ['half of a surrogate pair', 'text', 'a\ud800', 'not_unicode'],
  ['half of a surrogate pair beside files', 'file', '\udc00', 'not_unicode'],
  ['a QR code of 1024 characters', 'qr', 'x'.repeat(1_024), null],
  ['a QR code of 1025 characters', 'qr', 'x'.repeat(1_025), 'too_long_characters'],
  ['text of 1025 characters', 'text', 'x'.repeat(1_025), null],
  ['a web address', 'url', 'https://example.org', null],
  ['a web address with another scheme', 'url', 'ftp://example.org', 'not_web_address'],
  ['text that is no web address', 'text', 'ftp://example.org', null],
  ['a QR code that is no web address', 'qr', 'WIFI:S:x;;', null],
])('%s', (_, kind, payload, code) => {
  expect(payloadProblem(kind, payload, limits)?.code ?? null).toBe(code as never)
})

test('a duration may equal the minimum or maximum of days, and be under a day in any case', () => {
  const range = { min: 2, max: 60, default: 7 }
  const problems = [HOUR, DAY - 1, DAY, 2 * DAY - 1, 2 * DAY, 60 * DAY, 60 * DAY + 1].map(
    (duration) => durationProblem(duration, range)?.code ?? null,
  )
  expect(problems).toEqual([null, null, 'too_few_days', 'too_few_days', null, null, 'too_many_days'])
})
