// Rules of lifetimes, audit logs, web addresses, accounts and the clock.

import { expect, test } from 'bun:test'
import { parseEmail, passwordProblem, tokenNameProblem } from '../../src/domain/account.ts'
import {
  AUDIT_KINDS,
  type AuditKind,
  boundOf,
  countEntry,
  countMissing,
  EMPTY_COUNTS,
  shortenReferrer,
  visitFrom,
} from '../../src/domain/audit.ts'
import { DURATIONS, decideLifetime, durationProblem } from '../../src/domain/new-push.ts'
import type { Problem } from '../../src/domain/problems.ts'
import { DAY, HOUR, MINUTE } from '../../src/domain/time.ts'
import { isWebAddress } from '../../src/text/web-address.ts'
import { VISIT } from '../support/store.ts'

const days = { min: 2, max: 60, default: 7 }

test('the durations equal the eighteen of the hosted service', () => {
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
])('the lifetime of %p is the shorter of both', (given, expected) => {
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

test('the log keeps the first failures, owner views and edits, only counts later ones, and keeps all other entries', () => {
  const bounded = AUDIT_KINDS.filter((kind) => boundOf(kind) !== null)
  expect(bounded).toEqual(['failed_view', 'failed_passphrase', 'owner_view', 'edit', 'creation_email_send'])
  const place = { ownerId: 1, hasRoom: true }
  const entryOf = (kind: AuditKind, at = 7) => ({ kind, at, visit: { ...VISIT, ip: `192.0.2.${at}` } })
  for (const [kind, bound] of [
    ['failed_view', 'failures'],
    ['owner_view', 'ownerViews'],
    ['edit', 'edits'],
  ] as const) {
    const first = countEntry({ ...EMPTY_COUNTS, [bound]: 499 }, entryOf(kind), place)
    expect(first).toEqual({ isKept: true, counts: { ...EMPTY_COUNTS, auditEntries: 1, [bound]: 500 } })
    const late = countEntry(first.counts, entryOf(kind, 9), place)
    expect([late.isKept, late.counts.auditEntries, late.counts[bound]]).toEqual([false, 1, 501])
    const missing = { failures: 0, ownerViews: 0, edits: 0, latest: { at: 9, ip: '192.0.2.9' } }
    expect(countMissing(late.counts)).toEqual({ ...missing, [bound]: 1 })
    expect(countEntry(late.counts, entryOf('view'), place)).toMatchObject({
      isKept: true,
      counts: { auditEntries: 2 },
    })
  }
})

test('failures at an anonymous push, or on a full disk, are only counted; unbounded kinds are kept', () => {
  for (const place of [
    { ownerId: null, hasRoom: true },
    { ownerId: 1, hasRoom: false },
  ]) {
    const kept = AUDIT_KINDS.filter(
      (kind) => countEntry(EMPTY_COUNTS, { kind, at: 1, visit: VISIT }, place).isKept,
    )
    expect(AUDIT_KINDS.filter((kind) => !kept.includes(kind))).toEqual(['failed_view', 'failed_passphrase'])
  }
  // Failures that are only counted use up none of the first entries.
  const counts = { ...EMPTY_COUNTS, failures: 900, countedFailures: 401 }
  const [room, none] = [counts, { ...counts, countedFailures: 400 }].map(
    (of) =>
      countEntry(of, { kind: 'failed_view', at: 1, visit: VISIT }, { ownerId: 1, hasRoom: true }).isKept,
  )
  expect([room, none]).toEqual([true, false])
})

test('the texts of a visit fit into their columns, whatever was sent', () => {
  const long = 'x'.repeat(20_000)
  const texts = {
    ip: `fe80::1%${long}`,
    userAgent: `${'é'.repeat(254)}😀${long}`,
    referrer: `https://${long}.example/`,
  }
  const { ip, userAgent, referrer } = visitFrom(texts)
  expect([ip.length, userAgent, referrer]).toEqual([45, 'é'.repeat(254), ''])
})

test('e-mail addresses, passwords and token names are checked', () => {
  expect(parseEmail('  Ann@Example.ORG ')).toBe('ann@example.org')
  for (const bad of ['', 'ann', '@x', 'a b@c', 'a@b\n', `${'a'.repeat(250)}@b.cd`]) {
    expect({ bad, parsed: parseEmail(bad.replace('\n', '\n\u0000')) }).toEqual({ bad, parsed: null })
  }
  // These look like ann@b.cd, but contain invisible characters or direction marks.
  for (const same of [
    'ann\u200b@b.cd',
    'ann@b.cd\u2060',
    'an\u00adn@b.cd',
    '\u202enna@b.cd',
    'ann\u3164@b.cd',
    'ann\ufe0f@b.cd',
  ]) {
    expect({ same, parsed: parseEmail(same) }).toEqual({ same, parsed: null })
  }
  expect(parseEmail('anné@пример.рф')).toBe('anné@пример.рф')
  expect(passwordProblem('eleven char')).toEqual({ code: 'too_short', limit: 12 })
  expect(passwordProblem('twelve chars')).toBeNull()
  expect(passwordProblem('x'.repeat(1025))).toEqual({ code: 'too_long_bytes', limit: 1024 })
  expect(tokenNameProblem(' ')).toEqual({ code: 'blank' })
  expect(tokenNameProblem('🐴'.repeat(100))).toBeNull()
  expect(tokenNameProblem('🐴'.repeat(101))).toEqual({ code: 'too_long_characters', limit: 100 })
  expect(tokenNameProblem('a\u001b[31m')).toEqual({ code: 'control_characters' })
})
