// What a restore of the server makes of a push: nothing in a backup opens it.

import { expect, test } from 'bun:test'
import { asCreated } from '../../src/domain/push.ts'
import { decideLoss } from '../../src/domain/visits.ts'
import { examplePush, VISIT } from '../support/store.ts'

const NOW = Date.parse('2026-11-20T12:00:00.000Z')

const lose = (push: ReturnType<typeof examplePush>, now: number) => decideLoss(push, VISIT, now).after

test('a live push expires as lost at the time of the restore, and does not count as deleted', () => {
  expect(lose(examplePush(NOW), NOW + 5)).toMatchObject({
    ...{ lost: true, deleted: false, expiredOn: NOW + 5, updatedAt: NOW + 5 },
  })
})

test('a push whose time was over before the restore expires at its own time', () => {
  const push = examplePush(NOW, { expiresAt: NOW + 1 })
  expect(lose(push, NOW + 1)).toMatchObject({ lost: false, expiredOn: NOW + 1 })
})

test('a push that had ended stays as it is', () => {
  const push = examplePush(NOW, { expiredOn: NOW, deleted: true })
  expect(decideLoss(push, VISIT, NOW + 5)).toEqual({ after: push, now: NOW + 5, entry: null })
})

test('at its creation no push is lost', () => {
  expect(asCreated(lose(examplePush(NOW), NOW + 5))).toMatchObject({ lost: false, expiredOn: null })
})
