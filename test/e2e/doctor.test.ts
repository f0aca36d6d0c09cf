// `oncebox doctor` as a process: beside a running server, after a killed one, as root for another user, and
// in JSON.

import { afterEach, expect, test } from 'bun:test'
import { chmodSync, chownSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createStage, runBinary, type Started } from '../support/binary.ts'

const stage = createStage()
afterEach(stage.clear)

const doctor = (dataDir: string, ...flags: string[]) =>
  runBinary(['doctor', '--data-dir', dataDir, '--min-free-space', '0', ...flags])

const portOf = (server: Started) => ['--port', String(server.port)]

test('doctor works beside a running server without disturbing it, and asks it for its checks', async () => {
  const server = await stage.start()
  const { url_token } = await (await server.create({ payload: 'kept' })).json()
  const { code, stdout, stderr } = await doctor(server.dataDir, ...portOf(server))
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain(`The server answers on ${server.url}`)
  expect(stdout).toEndWith('Nothing is wrong.\n')
  expect((await (await server.retrieve(url_token)).json()).payload).toBe('kept')
  // The server was started with --port 0, and has recorded where it listens.
  const asStarted = await doctor(server.dataDir, '--port', '0')
  expect([asStarted.code, asStarted.stdout]).toEqual([
    0,
    expect.stringContaining(`The server answers on ${server.url}`),
  ])
  const elsewhere = await doctor(server.dataDir, '--port', '1')
  expect([elsewhere.code, elsewhere.stdout]).toEqual([
    0,
    expect.stringContaining('and not on port 1 as the settings'),
  ])
  process.kill(server.pid, 'SIGSTOP')
  const stopped = await doctor(server.dataDir, ...portOf(server))
  process.kill(server.pid, 'SIGCONT')
  expect([stopped.code, stopped.stdout]).toEqual([
    1,
    expect.stringContaining('The server of this folder does not answer'),
  ])
})

test('problems that the running server finds are reported once, in its words', async () => {
  const floor = await stage.start({ flags: ['--min-free-space', '1024TiB'] })
  const { disk } = (await (await floor.ask('/readyz')).json()).checks
  for (const own of ['0', '1024TiB']) {
    const { code, stdout } = await runBinary(['doctor', '--data-dir', floor.dataDir, '--min-free-space', own])
    expect([code, stdout.match(/^\w+ +disk /gm)?.length]).toEqual([1, 1])
    // Ignore the numbers, because other programs use the disk meanwhile.
    expect(stdout.replace(/\d+/g, '')).toContain(disk.replace(/\d+/g, ''))
  }
  await floor.untilLogged('MiB are free')
})

test('--deep reads all data beside a running server', async () => {
  const server = await stage.start()
  await server.create({ payload: 'kept' })
  const { code, stdout } = await doctor(server.dataDir, ...portOf(server), '--deep')
  expect([code, stdout]).toEqual([0, expect.stringContaining('Not checked: payloads (1)')])
})

test("after kill -9, doctor reads the server's data without changing it", async () => {
  const server = await stage.start()
  await server.create({ payload: 'kept' })
  await server.end('SIGKILL')
  const before = readdirSync(server.dataDir).sort()
  const { code, stdout } = await doctor(server.dataDir, '--port', '0')
  expect([code, stdout]).toEqual([0, expect.stringContaining('the next start finishes its log')])
  expect(readdirSync(server.dataDir).sort()).toEqual(before)
})

test('--json prints one document with totals; wrong flags are reported as usual', async () => {
  const missing = await doctor('/no/such/folder', '--json', '--port', '0')
  expect(missing.code).toBe(1)
  const told = JSON.parse(missing.stdout)
  expect(told).toMatchObject({ ok: false })
  expect(told.findings).toContainEqual({
    part: 'folder',
    state: 'problem',
    said: 'There is no data folder at /no/such/folder.',
    remedy: expect.stringContaining('oncebox serve'),
  })
  expect((await doctor('/tmp', '--port', '99999')).code).toBe(2)
})

test("run by root, doctor inspects with the owner's rights, and finds files of root in the folder", async () => {
  if (process.geteuid?.() !== 0) return
  const server = await stage.start()
  await server.end()
  const uid = 4321
  for (const name of readdirSync(server.dataDir)) chownSync(join(server.dataDir, name), uid, uid)
  chownSync(server.dataDir, uid, uid)
  const well = await doctor(server.dataDir, '--port', '0')
  expect([well.code, well.stdout]).toEqual([0, expect.stringContaining('Nothing is wrong')])
  chownSync(join(server.dataDir, 'oncebox.db'), 0, 0)
  chmodSync(join(server.dataDir, 'oncebox.db'), 0o644)
  const { code, stdout } = await doctor(server.dataDir, '--port', '0')
  expect([code, stdout]).toEqual([1, expect.stringContaining('take it over (chown -hR 4321)')])
})
