// How long other requests wait beside a hostile body, while no loop of this program is compiled yet: as on a
// server that has just started, or whose compiler waits for a processor.

import { expect, test } from 'bun:test'
import { join } from 'node:path'

const CHILD = join(import.meta.dir, '../../support/hostile-child.ts')
/**
 * So many times what the barest loop over each byte takes, which is 70 ms on the machine of the benchmark:
 * our own took 130 to 450.
 */
const MOST = 1.7

type Longest = { turns: Record<string, number>; looped: number }

test('no hostile body holds the event loop for long, even before loops are compiled', async () => {
  // Patterns and the parser of Bun are as fast as ever.
  const env = { ...process.env, BUN_JSC_useBaselineJIT: '0' }
  const child = Bun.spawn([process.execPath, CHILD], { env, stderr: 'inherit' })
  const { turns, looped }: Longest = await new Response(child.stdout).json()
  expect(Object.keys(turns).length).toBeGreaterThan(50)
  expect(Object.entries(turns).filter(([, ms]) => ms > MOST * looped)).toEqual([])
})
