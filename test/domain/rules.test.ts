// Rules of lifetimes, audit logs, web addresses, accounts and the clock.

import { expect, test } from 'bun:test'
import { parseEmail, passwordProblem, tokenNameProblem } from '../../src/domain/account.ts'
import {
  AUDIT_KINDS,
  boundOf,
  countEntry,
  countListed,
  countMissing,
  shortenReferrer,
} from '../../src/domain/audit.ts'
import { DURATIONS, decideLifetime, durationProblem } from '../../src/domain/new-push.ts'
import type { Problem } from '../../src/domain/problems.ts'
import { DAY, HOUR, MINUTE } from '../../src/domain/time.ts'
import { isWebAddress } from '../../src/domain/web-address.ts'

const days = { min: 2, max: 60, default: 7 }

test('the durations are the eighteen of the hosted service', () => {
  expect(DURATIONS).toHaveLength(18)
  expect([DURATIONS[0], DURATIONS[3], DURATIONS[6], DURATIONS[13], DURATIONS[17]]).toEqual([
    15 * MINUTE,
    HOUR,
    DAY,
    14 * DAY,
    90 * DAY,
  ])
})

test.each([
  [
    { days: null, duration: null },
    { lifetime: 7 * DAY, expireAfterDays: 7 },
  ],
  [
    { days: 3, duration: null },
    { lifetime: 3 * DAY, expireAfterDays: 3 },
  ],
  [
    { days: null, duration: HOUR },
    { lifetime: HOUR, expireAfterDays: 1 },
  ],
  [
    { days: 3, duration: HOUR },
    { lifetime: HOUR, expireAfterDays: 1 },
  ],
  [
    { days: 3, duration: 14 * DAY },
    { lifetime: 3 * DAY, expireAfterDays: 3 },
  ],
  [
    { days: null, duration: 14 * DAY },
    { lifetime: 14 * DAY, expireAfterDays: 14 },
  ],
])('the lifetime of %p is the shorter one', (given, expected) => {
  expect(decideLifetime(given, days)).toEqual(expected)
})

test.each<[number, Problem | null]>([
  [15 * MINUTE, null],
  [DAY, { code: 'too_few_days', limit: 2 }],
  [60 * DAY, null],
  [90 * DAY, { code: 'too_many_days', limit: 60 }],
])('a duration of %p ms has the problem %p', (duration, problem) => {
  expect(durationProblem(duration, days)).toEqual(problem)
})

test.each([
  ['https://example.org', true],
  ['HTTP://example.org/a?b#c', true],
  ['http://[::1]:8080/', true],
  ['javascript:alert(1)', false],
  ['data:text/html,x', false],
  ['ftp://example.org', false],
  ['//example.org', false],
  ['/relative', false],
  ['https://', false],
  ['https:///path', false],
  ['https:example.org', false],
  ['java\nscript:alert(1)', false],
  ['https://exa\tmple.org', false],
  [' https://example.org', false],
])('%p is a web address: %p', (text, is) => {
  expect(isWebAddress(text)).toBe(is)
})

test('a referrer is shortened to its origin', () => {
  expect(shortenReferrer('https://chat.example/room/7?link=secret#x')).toBe('https://chat.example/')
  for (const odd of ['', 'nonsense', 'about:blank', 'android-app://com.example/'])
    expect(shortenReferrer(odd)).toBe('')
})

test('a referrer of more than 2,000 characters, or with an origin of more than 300, is left out', () => {
  const path = (length: number) => `https://chat.example/${'x'.repeat(length - 21)}`
  expect([2000, 2001].map((length) => shortenReferrer(path(length)))).toEqual(['https://chat.example/', ''])
  // In Punycode the host is longer than it was sent.
  const origins = [30, 100].map((labels) => shortenReferrer(`https://${'é.'.repeat(labels)}example/`))
  expect(origins.map((origin) => origin !== '' && origin.length <= 300)).toEqual([true, false])
})

test('the log keeps the first and latest failures, the latest owner views, and all other entries', () => {
  expect(AUDIT_KINDS.filter((kind) => boundOf(kind) !== null)).toEqual([
    'failed_view',
    'failed_passphrase',
    'owner_view',
  ])
  const log = { auditEntries: 1, failures: 499, ownerViews: 0 }
  const first = countEntry(log, 'failed_view')
  expect(first).toEqual({ bound: null, counts: { auditEntries: 2, failures: 500, ownerViews: 0 } })
  const late = countEntry(first.counts, 'failed_passphrase')
  expect(late).toEqual({ bound: 'failures', counts: { auditEntries: 2, failures: 501, ownerViews: 0 } })
  const look = countEntry(late.counts, 'owner_view')
  expect(look).toEqual({ bound: 'owner_views', counts: { auditEntries: 2, failures: 501, ownerViews: 1 } })
  expect(countEntry(look.counts, 'view').counts.auditEntries).toBe(3)
  expect(countMissing({ failures: 1_000, ownerViews: 500 })).toEqual({ failures: 0, ownerViews: 0 })
  expect(countMissing({ failures: 1_001, ownerViews: 502 })).toEqual({ failures: 1, ownerViews: 2 })
  expect(countListed({ auditEntries: 503, failures: 5_000, ownerViews: 7 })).toBe(1_010)
})

test('e-mail addresses, passwords and token names are checked', () => {
  expect(parseEmail('  Ann@Example.ORG ')).toBe('ann@example.org')
  for (const bad of ['', 'ann', '@x', 'a b@c', 'a@b\n', `${'a'.repeat(250)}@b.cd`]) {
    expect({ bad, parsed: parseEmail(bad.replace('\n', '\n\u0000')) }).toEqual({ bad, parsed: null })
  }
  expect(passwordProblem('eleven char')).toEqual({ code: 'too_short', limit: 12 })
  expect(passwordProblem('twelve chars')).toBeNull()
  expect(passwordProblem('x'.repeat(1025))).toEqual({ code: 'too_long_bytes', limit: 1024 })
  expect(tokenNameProblem(' ')).toEqual({ code: 'blank' })
  expect(tokenNameProblem('🐴'.repeat(100))).toBeNull()
  expect(tokenNameProblem('🐴'.repeat(101))).toEqual({ code: 'too_long_characters', limit: 100 })
  expect(tokenNameProblem('a\u001b[31m')).toEqual({ code: 'control_characters' })
})
