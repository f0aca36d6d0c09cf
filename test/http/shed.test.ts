// Who is sent away under load, and how.

import { expect, test } from 'bun:test'
import { createShed } from '../../src/http/shed.ts'

const busy = createShed({ basePath: '/box', keepUp: () => true, onShed: () => undefined })
const calm = createShed({ basePath: '/box', keepUp: () => false, onShed: () => undefined })
const ask = (path: string) => new Request(`http://localhost${path}`)

test.each(['/api/v2/pushes', '/box/api/v2/pushes', '/box/p.json', '/en/p/x.json', '/d/x'])(
  '%s is told in JSON',
  async (path) => {
    const answer = busy(ask(path))
    expect(answer?.status).toBe(503)
    expect(answer?.headers.get('retry-after')).toBe('1')
    expect(await answer?.json()).toEqual({ error: expect.stringContaining('busy') })
  },
)

test.each(['/', '/box/p/x', '/pushes'])('%s is told in words', async (path) => {
  const answer = busy(ask(path))
  expect(answer?.status).toBe(503)
  expect(await answer?.text()).toContain('busy')
})

test.each(['/api/v2/version', '/box/api/v2/version.json', '/api/v1/version/'])('%s is let in', (path) => {
  expect(busy(ask(path))).toBeNull()
})

test('in a calm moment everybody is let in', () => {
  expect(calm(ask('/api/v2/pushes'))).toBeNull()
})
