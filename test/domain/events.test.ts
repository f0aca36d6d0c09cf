// Which visit tells its owner which event.

import { expect, test } from 'bun:test'
import { visitFrom } from '../../src/domain/audit.ts'
import { describePush, eventsOf, expiresSoon } from '../../src/domain/events.ts'
import type { Push } from '../../src/domain/push.ts'
import { DAY, HOUR } from '../../src/domain/time.ts'
import {
  type Change,
  decideClaim,
  decideDeletion,
  decideLapse,
  decideLastTry,
  decideLoss,
  decideRefusal,
  decideUnlock,
} from '../../src/domain/visits.ts'
import { examplePush } from '../support/store.ts'

const NOW = Date.parse('2026-11-20T12:00:00.000Z')
const LATER = NOW + 30 * DAY
const visit = visitFrom({ ip: '192.0.2.1', userAgent: 'test', referrer: '' })
const OWNER = {
  ...{ id: 7, email: 'ann@example.org', isAdmin: false, hasTwoFactor: false },
  ...{ disabledAt: null, createdAt: 0, resets: 0 },
}
const owned = (changes: Partial<Push> = {}) => examplePush(NOW, { ownerId: OWNER.id, ...changes })
const told = (before: Push, change: Change<Push> | null) =>
  change === null ? null : eventsOf(before, change)
const claim = (push: Push, lookBy: typeof OWNER | null = null) =>
  told(push, decideClaim(push, { visit, lookBy }, NOW).change)

test('a view is told, the last one twice, and a look of the owner or at an expired push not at all', () => {
  expect(claim(owned())).toEqual(['push.opened'])
  expect(claim(owned({ expireAfterViews: 1 }))).toEqual(['push.opened', 'push.used_up'])
  expect(claim(owned(), OWNER)).toEqual([])
  expect(claim(owned({ expiredOn: NOW }))).toEqual([])
})

test('the last wrong passphrase is told, whether it locks or expires, and none before it', () => {
  for (const deletableByViewer of [true, false]) {
    const push = owned({ passphraseRequired: true, wrongTriesInAll: 3, deletableByViewer })
    const asked = { visit, wrong: true, maxTries: 3 }
    expect(told(push, decideRefusal(push, asked, NOW).change)).toEqual([])
    expect(told(push, decideLastTry(push, asked, NOW))).toEqual(['push.locked'])
  }
  const locked = owned({ deletableByViewer: false, triesSpent: true })
  expect(told(locked, decideUnlock(locked, visit, NOW))).toEqual([])
})

test('only an end by time that nobody opened the push before is told', () => {
  const push = owned()
  expect(told(push, decideLapse(push, LATER))).toEqual(['push.expired_unopened'])
  expect(told(push, decideLapse(push, NOW))).toEqual([])
  const opened = owned({ views: 1 })
  expect(told(opened, decideLapse(opened, LATER))).toEqual([])
  expect(told(push, decideDeletion(push, { visit, hasGrants: false }, NOW))).toEqual([])
  expect(told(push, decideLoss(push, visit, NOW))).toEqual([])
})

test('what expires within a day is soon, but not what never was to live longer', () => {
  const push = owned({ expiresAt: NOW + 2 * DAY })
  expect(expiresSoon(push, NOW)).toBe(false)
  expect(expiresSoon(push, NOW + DAY)).toBe(true)
  expect(expiresSoon(push, NOW + 2 * DAY)).toBe(false)
  expect(expiresSoon({ ...push, expiredOn: NOW }, NOW + DAY)).toBe(false)
  expect(expiresSoon(owned({ expiresAt: NOW + DAY }), NOW + HOUR)).toBe(false)
})

test('an event says nothing of its push but kind and limits', () => {
  expect(describePush(owned({ views: 2, kind: 'qr' }))).toEqual({
    kind: 'qr',
    views_remaining: 3,
    expires_at: '2026-11-21T12:00:00.000Z',
    expired: false,
  })
})
