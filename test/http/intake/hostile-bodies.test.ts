// How long a hostile body blocks other requests while no loop is JIT-compiled yet: right after a start, or
// while the compiler waits for a processor.

import { expect, test } from 'bun:test'
import { join } from 'node:path'

const CHILD = join(import.meta.dir, '../../support/hostile-child.ts')
/**
 * Maximum, in multiples of an empty loop over the bytes (70 ms on the benchmark's machine). A loop of this
 * program took 130 to 450 ms.
 */
const MOST = 1.7

type Longest = { turns: Record<string, number>; looped: number }

test('no hostile body blocks the event loop for long, even before loops are compiled', async () => {
  // Turns off the JIT of JavaScript only. Regular expressions and Bun's own parsers stay fast.
  const env = { ...process.env, BUN_JSC_useBaselineJIT: '0' }
  const child = Bun.spawn([process.execPath, CHILD], { env, stderr: 'inherit' })
  const { turns, looped }: Longest = await new Response(child.stdout).json()
  expect(Object.keys(turns).length).toBeGreaterThan(50)
  expect(Object.entries(turns).filter(([, ms]) => ms > MOST * looped)).toEqual([])
})
