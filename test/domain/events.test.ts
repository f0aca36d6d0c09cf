// Tests which visit causes which event for the owner.

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
  ...{
    id: 7,
    email: 'ann@example.org',
    isAdmin: false,
    hasTwoFactor: false,
    hasAuthenticator: false,
    passkeys: 0,
  },
  ...{ disabledAt: null, createdAt: 0, resets: 0, hasPassword: true, isService: false },
}
const owned = (changes: Partial<Push> = {}) => examplePush(NOW, { ownerId: OWNER.id, ...changes })
const eventsBy = (before: Push, change: Change<Push> | null) =>
  change === null ? null : eventsOf(before, change)
const claim = (push: Push, lookBy: typeof OWNER | null = null) =>
  eventsBy(push, decideClaim(push, { visit, lookBy }, NOW).change)

test('a view causes one event, the last one two; an owner’s view causes none', () => {
  expect(claim(owned())).toEqual(['push.opened'])
  expect(claim(owned({ expireAfterViews: 1 }))).toEqual(['push.opened', 'push.used_up'])
  expect(claim(owned(), OWNER)).toEqual([])
})

test('a try on a push that has ended causes an event, unless its owner tries', () => {
  const push = owned({ expiredOn: NOW })
  const by = (account: number | null) =>
    eventsBy(push, decideClaim(push, { visit, lookBy: null, by: account }, NOW).change)
  expect(by(null)).toEqual(['push.tried_after_end'])
  expect(by(OWNER.id + 1)).toEqual(['push.tried_after_end'])
  expect(by(OWNER.id)).toEqual([])
})

test('only the last wrong passphrase causes an event, whether it locks or expires the push', () => {
  for (const deletableByViewer of [true, false]) {
    const push = owned({ passphraseRequired: true, wrongTriesInAll: 3, deletableByViewer })
    const asked = { visit, wrong: true, maxTries: 3 }
    expect(eventsBy(push, decideRefusal(push, asked, NOW).change)).toEqual([])
    expect(eventsBy(push, decideLastTry(push, asked, NOW))).toEqual(['push.locked'])
  }
  const locked = owned({ deletableByViewer: false, triesSpent: true })
  expect(eventsBy(locked, decideUnlock(locked, visit, NOW))).toEqual([])
})

test('only the expiry by time of an unopened push causes an event', () => {
  const push = owned()
  expect(eventsBy(push, decideLapse(push, LATER))).toEqual(['push.expired_unopened'])
  expect(eventsBy(push, decideLapse(push, NOW))).toEqual([])
  const opened = owned({ views: 1 })
  expect(eventsBy(opened, decideLapse(opened, LATER))).toEqual([])
  expect(eventsBy(push, decideDeletion(push, { visit, hasGrants: false }, NOW))).toEqual([])
  expect(eventsBy(push, decideLoss(push, visit, NOW))).toEqual([])
})

test('a push expires soon in its last day, unless its lifetime was no longer', () => {
  const push = owned({ expiresAt: NOW + 2 * DAY })
  expect(expiresSoon(push, NOW)).toBe(false)
  expect(expiresSoon(push, NOW + DAY)).toBe(true)
  expect(expiresSoon(push, NOW + 2 * DAY)).toBe(false)
  expect(expiresSoon({ ...push, expiredOn: NOW }, NOW + DAY)).toBe(false)
  expect(expiresSoon(owned({ expiresAt: NOW + DAY }), NOW + HOUR)).toBe(false)
})

test('an event reveals only kind and limits of its push', () => {
  expect(describePush(owned({ views: 2, kind: 'qr' }), NOW)).toEqual({
    kind: 'qr',
    views_remaining: 3,
    expires_at: '2026-11-21T12:00:00.000Z',
    expired: false,
  })
})
