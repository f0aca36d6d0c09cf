// Which work leaves a full line.

import { expect, test } from 'bun:test'
import { createWaitingLine } from '../../src/services/waiting-line.ts'

test('of two groups of equal size that were never served, the group of the newcomer loses a work', () => {
  const line = createWaitingLine<{ network: string; client: string; subject: string }>({
    maxWaiting: 3,
    maxOfClient: 3,
  })
  const work = (network: string, client: string) => ({ network, client, subject: 'push' })
  for (const waiting of [work('a', 'a1'), work('b', 'b1'), work('b', 'b2')])
    expect(line.add(waiting)).toBeNull()
  const newcomer = work('a', 'a2')
  expect(line.add(newcomer)).toBe(newcomer)
})
