// The effects of visits on a push, and their audit entries.

import { expect, test } from 'bun:test'
import { visitFrom } from '../../src/domain/audit.ts'
import { DAY, SECOND } from '../../src/domain/time.ts'
import {
  decideClaim,
  decideDeletion,
  decideEditing,
  decideLapse,
  decideLastTry,
  decideLoss,
  decideRefusal,
  decideUnlock,
  forward,
} from '../../src/domain/visits.ts'
import { examplePush } from '../support/store.ts'

const NOW = Date.parse('2026-11-20T12:00:00.000Z')
const LATER = NOW + 30 * DAY
const visit = visitFrom({ ip: '192.0.2.1', userAgent: 'test', referrer: '' })
const unchanged = {
  expireAfterDays: null,
  duration: null,
  expiresAt: null,
  expireAfterViews: null,
}

test('a view is counted and logged', () => {
  const { outcome, change } = decideClaim(examplePush(NOW), { visit, lookBy: null }, NOW)
  expect(outcome).toBe('view')
  expect(change).toMatchObject({ now: NOW, after: { views: 1 }, entry: { kind: 'view', visit } })
})

test('a push past its time is refused, but only the sweeper records the expiry', () => {
  const push = examplePush(NOW)
  const refused = {
    outcome: 'expired' as const,
    change: { after: push, now: LATER, entry: { kind: 'failed_view' as const, visit }, by: null },
  }
  expect(decideClaim(push, { visit, lookBy: null }, LATER)).toEqual(refused)
  expect(decideRefusal(push, { visit, wrong: true }, LATER)).toEqual(refused)
  expect(decideLapse(push, LATER).after.expiredOn).toBe(push.expiresAt)
})

test.each([
  ['missing', false, 0],
  ['wrong', true, 1],
])('a %s passphrase is logged, with %p wrong tries', (_, wrong, wrongTries) => {
  const { outcome, change } = decideRefusal(examplePush(NOW), { visit, wrong }, NOW)
  expect(outcome).toBe('refused')
  expect(change).toMatchObject({ after: { wrongTries }, entry: { kind: 'failed_passphrase' } })
})

test.each([
  ['expires a push that viewers may delete', true, 'expire'],
  ['locks one that they may not', false, 'lock'],
])('the last wrong passphrase %s', (_, deletableByViewer, kind) => {
  const push = examplePush(NOW, { deletableByViewer, wrongTriesInAll: 3 })
  const last = decideLastTry(push, { visit, maxTries: 3 }, NOW)
  expect(last?.entry).toEqual({ kind: kind as 'expire', visit })
  expect(last?.after).toMatchObject({ triesSpent: true, expiredOn: deletableByViewer ? NOW : null })
  expect(decideLastTry(push, { visit, maxTries: 4 }, NOW)).toBeNull()
  expect(decideLastTry(push, { visit, maxTries: 0 }, NOW)).toBeNull()
})

test('only a locked live push can be unlocked', () => {
  const locked = examplePush(NOW, { deletableByViewer: false, triesSpent: true, wrongTriesInAll: 3 })
  expect(decideUnlock(locked, visit, NOW)).toMatchObject({
    after: { triesSpent: false, wrongTriesInAll: 0 },
    entry: { kind: 'unlock' },
  })
  expect(decideUnlock(locked, visit, LATER)).toBeNull()
  expect(decideUnlock(examplePush(NOW), visit, NOW)).toBeNull()
})

test('a deletion ends a live push once; for a used-up push it ends the downloads', () => {
  const push = examplePush(NOW)
  const change = decideDeletion(push, { visit, hasGrants: false }, NOW + SECOND)
  expect(change).toMatchObject({
    after: { expiredOn: NOW + SECOND, deleted: true },
    entry: { kind: 'expire' },
  })
  const deleted = change?.after ?? push
  expect(decideDeletion(deleted, { visit, hasGrants: false }, NOW + 2 * SECOND)).toBeNull()
  const viewed = { ...push, expiredOn: NOW }
  const ended = decideDeletion(viewed, { visit, hasGrants: true }, NOW + 1)?.after
  expect(ended).toEqual({ ...viewed, deleted: true, updatedAt: NOW + 1 })
  expect(decideDeletion(ended ?? viewed, { visit, hasGrants: true }, NOW + 2)).toBeNull()
  expect(decideDeletion(viewed, { visit, hasGrants: false }, NOW)).toBeNull()
})

test('a deletion after the expiry by time only records that expiry', () => {
  const push = examplePush(NOW)
  const change = decideDeletion(push, { visit, hasGrants: false }, LATER)
  expect(change).toEqual({
    after: { ...push, expiredOn: push.expiresAt, updatedAt: LATER },
    now: LATER,
    entry: null,
  })
  expect(change).toEqual(decideLapse(push, LATER))
})

test('a push that a restore expired is lost, unless it was past its time', () => {
  const push = examplePush(NOW)
  expect(decideLoss(push, visit, NOW)).toMatchObject({
    after: { lost: true },
    entry: { kind: 'expire', visit },
  })
  expect(decideLoss(push, visit, LATER)).toEqual(decideLapse(push, LATER))
})

test('an edit is logged when it changes a limit or a label, and otherwise writes nothing', () => {
  const push = examplePush(NOW, { expireAfterViews: 5 })
  const edit = { ...unchanged, expireAfterViews: 3 }
  const edited = { outcome: 'edited' as const, change: { after: { ...push, expireAfterViews: 3 } } }
  expect(decideEditing(push, { edit, isLabelled: false, visit }, NOW)).toMatchObject(edited)
  expect(decideEditing(push, { edit: unchanged, isLabelled: true, visit }, NOW)).toMatchObject({
    change: { now: NOW, entry: { kind: 'edit', visit } },
  })
  expect(decideEditing(push, { edit: unchanged, isLabelled: false, visit }, NOW)).toEqual({
    outcome: 'edited',
    change: null,
  })
  const longer = { ...unchanged, expireAfterViews: 9 }
  expect(decideEditing(push, { edit: longer, isLabelled: false, visit }, NOW).outcome).toBe('refused')
})

test('a change is never dated before the last one, unless the clock was wrong then', () => {
  expect(forward({ updatedAt: 99_000 }, 100_000)).toBe(100_000)
  expect(forward({ updatedAt: 100_900 }, 100_000)).toBe(100_900)
  expect(forward({ updatedAt: 500_000 }, 100_000)).toBe(100_000)
})
