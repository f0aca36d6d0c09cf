// A restore of the server loses live pushes, because no backup contains their keys.

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

test('a push past its time before the restore expires at that time', () => {
  const push = examplePush(NOW, { expiresAt: NOW + 1 })
  expect(lose(push, NOW + 1)).toMatchObject({ lost: false, expiredOn: NOW + 1 })
})

test('an expired push stays unchanged', () => {
  const push = examplePush(NOW, { expiredOn: NOW, deleted: true })
  expect(decideLoss(push, VISIT, NOW + 5)).toEqual({ after: push, now: NOW + 5, entry: null })
})

test('a new push is not lost', () => {
  expect(asCreated(lose(examplePush(NOW), NOW + 5))).toMatchObject({ lost: false, expiredOn: null })
})
