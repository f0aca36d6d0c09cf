// Load shedding: the requests that are refused, and the refusal.

import { expect, test } from 'bun:test'
import { createCors } from '../../../src/http/door/cors.ts'
import { createShed } from '../../../src/http/door/shed.ts'

const cors = createCors(['https://app.example'])
const busy = createShed({
  basePath: '/box',
  isOverloaded: () => true,
  commitOverdue: () => undefined,
  onShed: () => undefined,
  cors,
})
const calm = createShed({
  basePath: '/box',
  isOverloaded: () => false,
  commitOverdue: () => undefined,
  onShed: () => undefined,
  cors,
})
const ask = (path: string) => new Request(`http://localhost${path}`)

test.each(['/api/v2/pushes', '/box/api/v2/pushes', '/box/p.json', '/en/p/x.json', '/d/x'])(
  '%s is refused in JSON',
  async (path) => {
    const answer = busy(ask(path))
    expect(answer?.status).toBe(503)
    expect(answer?.headers.get('retry-after')).toBe('1')
    expect(answer?.headers.get('cross-origin-resource-policy')).toBe('same-origin')
    expect(await answer?.json()).toEqual({ error: expect.stringContaining('busy') })
  },
)

test.each(['/', '/box/p/x', '/pushes'])('%s is refused in plain text', async (path) => {
  const answer = busy(ask(path))
  expect(answer?.status).toBe(503)
  expect(await answer?.text()).toContain('busy')
})

test.each(['/api/v2/version', '/box/api/v2/version.json', '/api/v1/version/'])(
  '%s is admitted under load',
  (path) => {
    expect(busy(ask(path))).toBeNull()
  },
)

test('without load every request is admitted', () => {
  expect(calm(ask('/api/v2/pushes'))).toBeNull()
})

test('in a long turn of the event loop a few requests are admitted, but the late ones of many are refused', () => {
  const shed = createShed({
    basePath: '',
    isOverloaded: () => false,
    commitOverdue: () => undefined,
    onShed: () => undefined,
    cors,
  })
  expect(shed(ask('/p/x'))).toBeNull()
  Bun.sleepSync(250)
  for (let n = 0; n < 99; n += 1) expect(shed(ask('/p/x'))).toBeNull()
  expect(shed(ask('/p/x'))?.status).toBe(503)
})

test('the next turn of the event loop starts a new count', async () => {
  const shed = createShed({
    basePath: '',
    isOverloaded: () => false,
    commitOverdue: () => undefined,
    onShed: () => undefined,
    cors,
  })
  for (let n = 0; n < 200; n += 1) expect(shed(ask('/p/x'))).toBeNull()
  Bun.sleepSync(250)
  expect(shed(ask('/p/x'))?.status).toBe(503)
  await new Promise(setImmediate)
  expect(shed(ask('/p/x'))).toBeNull()
})
