import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compile } from '../../scripts/compile.ts'

test('compiling leaves the executable and nothing else in its folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-compile-'))
  await compile({ output: join(folder, 'oncebox') })
  expect(readdirSync(folder)).toEqual(['oncebox'])
  rmSync(folder, { recursive: true })
})
