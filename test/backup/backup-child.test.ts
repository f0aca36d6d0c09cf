// The process that makes a backup. Small programs in its place print something, die or refuse to end.

import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStartBackup } from '../../src/backup/backup-child.ts'

const folders: string[] = []
afterEach(() => {
  for (const path of folders.splice(0)) rmSync(path, { recursive: true, force: true })
})

/** Runs a program of a few lines in place of our own. */
function start(program: string, args: string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-child-'))
  folders.push(folder)
  const path = join(folder, 'program.ts')
  writeFileSync(path, program)
  const env = { PATH: process.env.PATH, HOME: '/root', ONCEBOX_DATABASE_PASSWORD: 'secret' }
  return createStartBackup({ self: [process.execPath, path], env })(args)
}

test.each([
  ['is done', 'console.error("oncebox: warning: something")', null],
  ['refuses', 'console.error("x\\noncebox: no room.\\n    at line 3"); process.exit(1)', 'no room.'],
  ['warns', 'console.error("oncebox: warning: it is damaged"); process.exit(1)', 'it is damaged'],
  ['dies', 'process.exit(3)', 'It ended with 3.'],
  ['is killed', 'process.kill(process.pid, "SIGKILL")', 'It was killed by SIGKILL. Look for the reason'],
])('reports what a process that %s printed', async (_, program, said) => {
  const end = await start(program).ended
  expect(end).toEqual({ state: 'ended', said: said === null ? null : expect.stringContaining(said) })
})

test('a process that was asked to end counts as stopped', async () => {
  const child = start('setInterval(() => undefined, 1000)')
  child.kill('SIGTERM')
  expect(await child.ended).toEqual({ state: 'stopped' })
  expect(await start('process.exit(143)').ended).toEqual({ state: 'stopped' })
})

test('a process that cannot be started counts as failed', async () => {
  const child = createStartBackup({ self: ['/nowhere/oncebox', 'x'], env: {} })([])
  expect(await child.ended).toMatchObject({ said: expect.stringContaining('No process could be started') })
})

test('the process gets its arguments, the variables that the system needs, and nothing else', async () => {
  const child = start(
    `console.error([...process.argv.slice(2), ...Object.keys(process.env).filter((name) => name !== '_')].join()); process.exit(1)`,
    ['backup', '--keep'],
  )
  expect(await child.ended).toEqual({ state: 'ended', said: 'backup,--keep,PATH' })
})
