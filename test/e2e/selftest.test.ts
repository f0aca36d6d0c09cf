// `oncebox selftest` as a command.

import { afterAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createStage, runBinary } from '../support/binary.ts'

const stage = createStage()
afterAll(stage.clear)

test('every promise holds on this machine, in a temporary folder', async () => {
  const folder = stage.folder()
  const { stdout, stderr, code } = await runBinary([
    'selftest',
    '--minutes',
    '0.1',
    '--data-dir',
    join(folder, 'data'),
  ])
  expect({ stdout, code }).toMatchObject({ code: 0 })
  expect(stdout).toMatch(/^RESULT +PROMISE +TRIED\n(held .+\n){6}All 6 promises held\.\n$/)
  expect(stderr).toContain('Seed ')
  expect(readdirSync(folder)).toEqual([])
})

test('refuses an invalid duration', async () => {
  const { stderr, code } = await runBinary(['selftest', '--minutes', 'soon'])
  expect(code).toBe(2)
  expect(stderr).toContain('--minutes "soon": must be a number')
})
