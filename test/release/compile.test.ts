import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compile, PROJECT } from '../../scripts/compile.ts'

test('compiling leaves only the executable in its folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-compile-'))
  await compile({ output: join(folder, 'oncebox') })
  expect(readdirSync(folder)).toEqual(['oncebox'])
  rmSync(folder, { recursive: true })
})

test('the environment of the build does not change the executable', () => {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-compile-'))
  const output = join(folder, 'oncebox')
  const script = `import { compile } from './scripts/compile.ts'; await compile({ output: ${JSON.stringify(output)} })`
  const digests = ['test', 'production'].map((environment) => {
    const env = { ...process.env, NODE_ENV: environment }
    expect(Bun.spawnSync([process.execPath, '-e', script], { cwd: PROJECT, env }).exitCode).toBe(0)
    return Bun.SHA256.hash(readFileSync(output), 'hex')
  })
  expect(digests[0]).toBe(digests[1] ?? '')
  rmSync(folder, { recursive: true })
})
