// Shared by the tests of the previous version of the API: scenarios of an owner.

import type { Scenario } from '../../support/scenarios.ts'

export const payload = 'correct horse'
export const link = 'https://example.org/a?b=c'
export const NO_PUSH = '0123456789abcdefghjkmnpqrs'

export const ask = (line: string, rest: Partial<Scenario> = {}): Scenario => ({
  name: line,
  ask: line,
  as: 'owner',
  status: 200,
  ...rest,
})
