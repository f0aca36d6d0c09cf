import { expect, test } from 'bun:test'
import { FREE_BYTES } from '../../../src/http/door/body-room.ts'
import { readBody } from '../../../src/http/intake/body.ts'

/** Whether a body of so many bytes is held back until the turn of its request. */
async function isHeldBack(bytes: number): Promise<boolean> {
  let isHeld = false
  const limits = {
    ...{ maxBytes: 1024 * 1024, limit: null, maxStreamBytes: 1024 * 1024, timeoutMs: 60_000 },
    take: () => undefined,
    turn: async () => undefined,
    inTurn: async () => {
      isHeld = true
    },
  }
  const headers = { 'content-length': String(bytes) }
  const request = new Request('http://localhost/', { method: 'POST', body: 'x'.repeat(bytes), headers })
  const exchange = { request, stayOpen: () => undefined } as never
  expect((await readBody(exchange, limits)).length).toBe(bytes)
  return isHeld
}

test('a small body is held back for a turn, and no longer one, which would fill memory that nobody counts', async () => {
  expect(await isHeldBack(FREE_BYTES)).toBe(true)
  expect(await isHeldBack(FREE_BYTES + 1)).toBe(false)
})
