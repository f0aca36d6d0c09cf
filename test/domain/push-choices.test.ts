// The saved defaults for the next push: only what differs from the server's, within the limits.

import { expect, test } from 'bun:test'
import type { PushLimits } from '../../src/domain/new-push.ts'
import { choicesOf, fitChoices, NO_CHOICES } from '../../src/domain/push-choices.ts'
import { DAY, HOUR } from '../../src/domain/time.ts'

const LIMITS: PushLimits = {
  payloadBytes: 1024,
  fileBytes: 1024,
  files: 10,
  days: { min: 1, max: 90, default: 7 },
  views: { min: 1, max: 100, default: 5 },
  retrievalStep: true,
  deletableByViewer: true,
  showSender: false,
  endToEnd: 'offered',
  mail: false,
  requirePassphrase: false,
  viewsAnonymous: null,
  kinds: new Set(['text']),
}
const AS_PRESET = {
  lifetime: 7 * DAY,
  expireAfterViews: 5,
  retrievalStep: true,
  deletableByViewer: true,
  encryptedBy: null,
}

test('a choice that equals the default is not saved, so that a new default takes effect', () => {
  expect(choicesOf(AS_PRESET, LIMITS)).toEqual(NO_CHOICES)
  const chosen = choicesOf({ ...AS_PRESET, lifetime: HOUR, retrievalStep: false }, LIMITS)
  expect(chosen).toEqual({ ...NO_CHOICES, lifetime: HOUR, retrievalStep: false })
})

test.each([
  ['too long', { lifetime: 60 * DAY, views: 80 }, { lifetime: 30 * DAY, views: 10 }],
  ['too short', { lifetime: DAY, views: 1 }, { lifetime: 2 * DAY, views: 2 }],
  ['under a day, which the minimum of days allows', { lifetime: HOUR }, { lifetime: HOUR }],
  ['within', { lifetime: 3 * DAY, views: 9 }, { lifetime: 3 * DAY, views: 9 }],
  ['not made', {}, {}],
])('choices are fitted to changed limits: %s', (_name, choices, fitting) => {
  const narrower = {
    ...LIMITS,
    days: { min: 2, max: 30, default: 7 },
    views: { min: 2, max: 10, default: 5 },
  }
  expect(fitChoices({ ...NO_CHOICES, ...choices }, narrower)).toEqual({ ...NO_CHOICES, ...fitting })
})
