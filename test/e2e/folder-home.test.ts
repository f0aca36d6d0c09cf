// Copies of a data folder, made with common tools, and changes that are not copies.

import { afterEach, expect, test } from 'bun:test'
import { chmodSync, copyFileSync, cpSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { BINARY, createStage, runBinary } from '../support/binary.ts'
import { needs } from '../support/needs.ts'

const TRACE = /^\s+at |bug in Oncebox/m

const stage = createStage()
afterEach(stage.clear)

/** Makes a folder that was served, with an unopened push of one view. */
async function usedFolder() {
  const dataDir = join(stage.folder(), 'data')
  const server = await stage.start({ dataDir })
  const { url_token } = await (await server.create({ payload: 'kept', expire_after_views: 1 })).json()
  await server.end()
  return { dataDir, urlToken: url_token as string }
}

const copyOf = (dataDir: string) => {
  const copy = join(stage.folder(), 'copy')
  cpSync(dataDir, copy, { recursive: true, preserveTimestamps: true })
  chmodSync(copy, 0o700)
  return copy
}

async function expectRefused(dataDir: string, ...words: string[]): Promise<void> {
  const { code, stdout, stderr } = await stage.serve(dataDir)
  expect([code, stdout]).toEqual([1, ''])
  for (const part of ['looks like a copy', '--accept-move', 'oncebox restore', ...words])
    expect(stderr).toContain(part)
  expect(stderr).not.toMatch(TRACE)
}

test('a copy beside its running original is refused, and hands nothing out', async () => {
  const { dataDir, urlToken } = await usedFolder()
  const copy = copyOf(dataDir)
  const original = await stage.start({ dataDir })
  expect((await (await original.retrieve(urlToken)).json()).payload).toBe('kept')
  await expectRefused(copy, dataDir, copy)
})

test('an accepted copy is served from then on, and the log says what that means', async () => {
  const { dataDir } = await usedFolder()
  const copy = copyOf(dataDir)
  const accepted = await stage.start({ dataDir: copy, env: { ONCEBOX_ACCEPT_MOVE: 'true' } })
  await accepted.untilLogged('can be opened here again')
  expect(await accepted.end()).toBe(0)
  expect(await (await stage.start({ dataDir: copy })).end()).toBe(0)
})

test('a restored older database hands no push out again', async () => {
  const { dataDir, urlToken } = await usedFolder()
  const copy = copyOf(dataDir)
  const server = await stage.start({ dataDir })
  expect((await (await server.retrieve(urlToken)).json()).payload).toBe('kept')
  await server.end()
  copyFileSync(join(copy, 'oncebox.db'), join(dataDir, 'oncebox.db'))
  await expectRefused(dataDir, 'are from different times')
  rmSync(join(dataDir, 'serve.home'))
  await expectRefused(dataDir, 'are from different times')
})

for (const tool of ['cp', 'rsync', 'tar'] as const)
  needs(tool, 'sh').test(
    `a whole folder that ${tool} puts back at the same path hands nothing out again`,
    async () => {
      const { dataDir, urlToken } = await usedFolder()
      const kept = copyOf(dataDir)
      const server = await stage.start({ dataDir })
      expect((await (await server.retrieve(urlToken)).json()).payload).toBe('kept')
      await server.end()
      putBack(tool, kept, dataDir)
      // Without birth times, which some file systems lack, the server cannot notice the move.
      if (statSync(join(dataDir, 'oncebox.db')).birthtimeMs === 0) return
      const { code, stderr } = await stage.serve(dataDir)
      expect(code).toBe(1)
      for (const part of ['looks put back', '--accept-move', 'oncebox restore'])
        expect(stderr).toContain(part)
      expect(stderr).not.toMatch(TRACE)
      const accepted = await stage.start({ dataDir, env: { ONCEBOX_ACCEPT_MOVE: 'true' } })
      expect(await accepted.end()).toBe(0)
      expect(await (await stage.start({ dataDir })).end()).toBe(0)
    },
  )

function run(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command)
  if (exitCode !== 0) throw new Error(stderr.toString())
}

function putBack(tool: string, kept: string, dataDir: string): void {
  if (tool === 'rsync') run('rsync', '-a', '--delete', '--ignore-times', `${kept}/`, `${dataDir}/`)
  else {
    rmSync(dataDir, { recursive: true })
    mkdirSync(dataDir, { mode: 0o700 })
    if (tool === 'cp') run('cp', '-a', `${kept}/.`, dataDir)
    else run('sh', '-c', 'tar -C "$0" -cf - . | tar -C "$1" -xpf -', kept, dataDir)
  }
}

needs('sqlite3').test(
  'sqlite3 after kill -9 is named as the cause of a lost log, and with -readonly it loses none',
  async () => {
    const { dataDir } = await usedFolder()
    const look = ['sqlite3', '-readonly', join(dataDir, 'oncebox.db'), 'SELECT count(*) FROM pushes']
    await (await stage.start({ dataDir })).end('SIGKILL')
    run(...look)
    await (await stage.start({ dataDir })).end('SIGKILL')
    run(...look.filter((part) => part !== '-readonly'))
    await expectRefused(dataDir, 'was removed since', 'sqlite3', '-readonly', 'nothing is lost')
  },
)

test('a counted view is not lost when the WAL is removed after kill -9', async () => {
  const { dataDir, urlToken } = await usedFolder()
  const server = await stage.start({ dataDir })
  expect((await (await server.retrieve(urlToken)).json()).payload).toBe('kept')
  await server.end('SIGKILL')
  rmSync(join(dataDir, 'oncebox.db-wal'))
  await expectRefused(dataDir, 'was removed since')
})

test('database and key alone, at another path, are refused', async () => {
  const { dataDir } = await usedFolder()
  const other = join(stage.folder(), 'other')
  mkdirSync(other, { mode: 0o700 })
  for (const name of ['oncebox.db', 'instance.key']) cpSync(join(dataDir, name), join(other, name))
  await expectRefused(other, dataDir)
})

test('repeated kill -9 at any moment is not mistaken for a move', async () => {
  const { dataDir } = await usedFolder()
  // Kill at random moments, from before the first line of the start to well after it.
  for (let round = 0; round < 10; round += 1) {
    const flags = ['--data-dir', dataDir, '--port', '0', '--min-free-space', '0', '--no-open']
    const child = Bun.spawn([BINARY, 'serve', ...flags], { stdout: 'ignore', stderr: 'ignore' })
    await Bun.sleep(25 * round)
    child.kill('SIGKILL')
    await child.exited
  }
  const server = await stage.start({ dataDir })
  expect(await server.end('SIGKILL')).toBeGreaterThan(128)
  expect(await (await stage.start({ dataDir })).end()).toBe(0)
})

test('account commands work on a copy, which the server still refuses', async () => {
  const { dataDir } = await usedFolder()
  const copy = copyOf(dataDir)
  const add = ['user', 'add', 'ann@example.org', '--password-stdin', '--data-dir', copy]
  expect((await runBinary(add, { input: 'correct horse battery' })).code).toBe(0)
  await expectRefused(copy)
})
