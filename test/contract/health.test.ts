// Health checks of the process and its database, and a start that fails.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openInstance } from '../../src/app.ts'
import { wholeMilliseconds } from '../../src/domain/time.ts'
import { startStopwatch } from '../support/effort.ts'
import { configOf, startInstance } from '../support/instance.ts'

/** Overwrites a file that SQLite has open, so that its next read fails. */
function overwrite(path: string): void {
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(statSync(path).size, 0xee))
  closeSync(file)
}

test('if the database throws, /up answers 503 and not 500', async () => {
  const instance = await startInstance()
  await instance.fetch('/api/v2/pushes', { json: { push: { payload: 'x' } } })
  expect((await instance.fetch('/up')).status).toBe(200)
  for (const ending of ['', '-wal', '-shm']) overwrite(join(instance.dataDir, `oncebox.db${ending}`))
  const response = await instance.fetch('/up')
  expect([response.status, await response.json()]).toEqual([503, { up: false }])
  expect(instance.log.join('\n')).not.toContain('a request failed')
  await instance.close().catch(() => undefined)
  rmSync(instance.dataDir, { recursive: true, force: true })
})

test('an error during startup closes the store, so that the next start can open it', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'oncebox-fault-'))
  const { config, settings } = configOf({ 'data-dir': dataDir, 'min-free-space': '0' })
  const ports = {
    now: Date.now,
    uptime: () => wholeMilliseconds(performance.now()),
    network: { listAddresses: () => [], hostName: () => 'box' },
    writeLog: () => undefined,
  }
  const faulty = { ...config, trustedProxies: ['not a network'] }
  await expect(openInstance({ config: faulty, settings }, ports)).rejects.toThrow()
  const stop = startStopwatch()
  const instance = await openInstance({ config, settings }, ports)
  expect(stop()).toBeLessThan(4_000)
  await instance.close()
  rmSync(dataDir, { recursive: true, force: true })
})

test('while the store is read-only, /readyz answers 503 and names the part; it recovers at once', async () => {
  const instance = await startInstance()
  const ready = async () => {
    const response = await instance.fetch('/readyz', { from: '127.0.0.1' })
    const { checks } = (await response.json()) as { checks: { database: string } }
    return [response.status, checks.database]
  }
  const create = async () =>
    (await instance.fetch('/api/v2/pushes', { json: { push: { payload: 'x' } } })).status
  const beside = new Database(join(instance.dataDir, 'oncebox.db'))
  beside.run(
    "CREATE TRIGGER broken BEFORE UPDATE ON instance BEGIN SELECT RAISE(ABORT, 'the row is broken'); END",
  )
  instance.clock.advance(120_000)
  expect(await create()).toBe(500)
  const why = `Nothing can be written to ${instance.dataDir}: the row is broken.`
  expect([await ready(), await ready()]).toEqual(Array(2).fill([503, why]))
  beside.run('DROP TRIGGER broken')
  expect([await ready(), await create()]).toEqual([[200, 'ok'], 201])
  beside.close()
  await instance.close()
})

test('a start warns of flags that accept a risk for one start only', async () => {
  const accepting = await startInstance({ flags: { 'accept-clock': 'true', 'accept-move': 'true' } })
  for (const flag of ['--accept-clock', '--accept-move'])
    expect(accepting.log.join('\n')).toContain(`warn ${flag} is for one start: leave it out at the next one`)
  expect(accepting.log.join('\n')).not.toContain('--accept-database is')
  await accepting.close()
})
