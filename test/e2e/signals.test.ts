// Signals of the compiled binary: which reload, which do nothing, and a log that stays parseable.

import { afterEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createStage, runBinary } from '../support/binary.ts'
import { waitUntil } from '../support/waiting.ts'

const stage = createStage()
afterEach(stage.clear)

const linesOf = (text: string) => text.trimEnd().split('\n')

test('SIGHUP, SIGUSR1 and SIGUSR2 do not end the server', async () => {
  const server = await stage.start()
  for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGHUP'] as const) {
    process.kill(server.pid, signal)
    await Bun.sleep(50)
  }
  expect((await server.ask('/up')).status).toBe(200)
  await server.untilLogged('a reload changed nothing')
  expect(await server.end()).toBe(0)
})

test('after a rotation, SIGHUP continues the log in a new file without losing a line', async () => {
  const path = join(stage.folder(), 'oncebox.log')
  const server = await stage.start({ flags: ['--log-file', path, '--log-format', 'json'] })
  for (let i = 0; i < 20; i += 1) await (await server.ask('/robots.txt')).text()
  renameSync(path, `${path}.1`)
  for (let i = 0; i < 20; i += 1) await (await server.ask('/robots.txt')).text()
  process.kill(server.pid, 'SIGHUP')
  await waitUntil(() => existsSync(path) && readFileSync(path, 'utf8').includes('reloaded'))
  for (let i = 0; i < 20; i += 1) await (await server.ask('/robots.txt')).text()
  expect(await server.end()).toBe(0)
  const [old, fresh] = [`${path}.1`, path].map((file) => readFileSync(file, 'utf8'))
  const requests = [...linesOf(old ?? ''), ...linesOf(fresh ?? '')]
    .map((line) => JSON.parse(line))
    .filter((line) => line.route === '/robots.txt')
  expect(requests).toHaveLength(60)
  expect(fresh).toContain('reloaded')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(server.stderr()).toBe('')
})

test('with JSON every line of both outputs parses, even of refused starts, and none contains the setup link', async () => {
  const server = await stage.start({
    flags: ['--log-format', 'json'],
    env: { ONCEBOX_NO_SUCH_THING: '1' },
  })
  await server.untilLogged(join(server.dataDir, 'setup-link'))
  const lines = [...linesOf(server.stdout()), ...linesOf(server.stderr())].map((line) => JSON.parse(line))
  expect(lines.every(({ level, time, msg }) => level && time && msg)).toBe(true)
  const flags = ['--log-format', 'json', '--port', String(server.port), '--data-dir', stage.folder()]
  const inUse = await runBinary(['serve', ...flags])
  expect(linesOf(inUse.stderr).map((line) => JSON.parse(line).level)).toContain('fatal')
  const link = readFileSync(join(server.dataDir, 'setup-link'), 'utf8').trim()
  expect(link).toContain('/welcome/')
  for (const text of [server.stdout(), server.stderr()]) expect(text).not.toContain('welcome')
})

test("if the log's folder is missing, a reload reports it, and all lines go to standard error", async () => {
  const folder = join(stage.folder(), 'logs')
  mkdirSync(folder)
  const server = await stage.start({ flags: ['--log-file', join(folder, 'oncebox.log')] })
  const checks = async () =>
    ((await (await server.ask('/readyz')).json()) as { checks: { log: string } }).checks.log
  expect(await checks()).toBe('ok')
  rmSync(folder, { recursive: true })
  process.kill(server.pid, 'SIGHUP')
  await server.untilLogged('error Cannot open the log file')
  await (await server.ask('/robots.txt')).text()
  await server.untilLogged('/robots.txt')
  expect(await checks()).toContain('Until then standard error has the lines.')
  mkdirSync(folder)
  await (await server.ask('/sign-in')).text()
  await server.untilLogged('takes lines again')
  expect(readFileSync(join(folder, 'oncebox.log'), 'utf8')).toContain('/sign-in')
  expect(await checks()).toBe('ok')
})

test('a log file that cannot be opened refuses the start and names the remedy', async () => {
  const { code, stderr } = await stage.serve(stage.folder(), '--log-file', '/no/such/folder/x.log')
  expect(code).toBe(1)
  expect(stderr).toContain('Cannot open the log file /no/such/folder/x.log: there is no such file or folder')
})
