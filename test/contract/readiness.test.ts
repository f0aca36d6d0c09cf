// /readyz: each part by its name with a remedy, 503 if no push can be created, and details for authorized
// clients only.

import { afterEach, expect, test } from 'bun:test'
import { appendFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Init, startInstance, type TestInstance } from '../support/instance.ts'

const LOCAL = '127.0.0.1'
const running: TestInstance[] = []
afterEach(async () => {
  for (const instance of running.splice(0)) await instance.close()
})

async function start(flags: Record<string, string> = {}): Promise<TestInstance> {
  const instance = await startInstance({ flags })
  running.push(instance)
  return instance
}

async function ask(instance: TestInstance, init: Init = { from: LOCAL }) {
  const response = await instance.fetch('/readyz', init)
  return { status: response.status, body: (await response.json()) as { ready: boolean; checks?: object } }
}

const ALL_FINE = { database: 'ok', disk: 'ok', inodes: 'ok', key: 'ok', damage: 'ok', clock: 'ok' }

test('an instance that can take pushes is ready, part by part', async () => {
  const instance = await start()
  expect(await ask(instance)).toEqual({ status: 200, body: { ready: true, checks: ALL_FINE } })
  expect((await instance.fetch('/readyz', { method: 'HEAD', from: LOCAL })).status).toBe(200)
})

test('below the floor of free space the instance is not ready and states the remedy', async () => {
  const instance = await start({ 'min-free-space': '1024TiB' })
  const { status, body } = await ask(instance)
  expect([status, body.ready]).toEqual([503, false])
  expect(body.checks).toMatchObject({ ...ALL_FINE, disk: expect.stringContaining('--min-free-space') })
})

test('the log has only the first of several unready responses in a row', async () => {
  const instance = await start({ 'min-free-space': '1024TiB' })
  const lines = () => instance.log.filter((line) => line.includes('/readyz')).length
  for (let asked = 0; asked < 3; asked += 1) expect((await ask(instance)).status).toBe(503)
  expect(lines()).toBe(1)
})

test('a missing or replaced key file is reported, while pushes are still accepted', async () => {
  const instance = await start()
  const path = join(instance.dataDir, 'instance.key')
  renameSync(path, `${path}.away`)
  const gone = await ask(instance)
  expect(gone.status).toBe(200)
  expect(gone.body.checks).toMatchObject({ key: expect.stringContaining('there is no such file') })
  writeFileSync(path, `1 ${'ab'.repeat(32)}\n`)
  expect((await ask(instance)).body.checks).toMatchObject({ key: expect.stringContaining('does not hold') })
  renameSync(`${path}.away`, path)
  appendFileSync(path, `2 ${'cd'.repeat(32)}\n`)
  expect((await ask(instance)).body.checks).toMatchObject({ key: 'ok' })
})

test('a clock that jumped back is reported', async () => {
  const instance = await start()
  await instance.fetch('/api/v2/pushes', { json: { push: { payload: 'x' } } })
  instance.clock.set(instance.clock.now() - 60 * 60 * 1000)
  expect((await ask(instance)).body.checks).toMatchObject({
    clock: expect.stringContaining('set the clock right'),
  })
})

test('any Host gets an answer, but only loopback under a loopback name gets details', async () => {
  const instance = await start()
  const foreign = await ask(instance, { from: LOCAL, headers: { host: 'evil.example' } })
  expect(foreign).toEqual({ status: 200, body: { ready: true } })
  expect((await ask(instance, { from: LOCAL, headers: { host: '[::1]:5100' } })).body.checks).toEqual(
    ALL_FINE,
  )
  expect(await ask(instance, { from: '192.0.2.1' })).toEqual({ status: 200, body: { ready: true } })
})

test('administrators see details from anywhere, others never', async () => {
  const instance = await start()
  const admin = await instance.addAccount('ann@example.org', { isAdmin: true })
  const member = await instance.addAccount('bob@example.org')
  expect((await ask(instance, { token: admin })).body.checks).toEqual(ALL_FINE)
  for (const token of [member, 'obx_0000000000000000000000000000000000000000', 'nonsense'])
    expect(await ask(instance, { token })).toEqual({ status: 200, body: { ready: true } })
})

test('once an undeclared proxy has forwarded a request, loopback gets no details', async () => {
  const instance = await start()
  const forwarded = { from: LOCAL, headers: { 'x-forwarded-for': '203.0.113.9' } }
  expect((await ask(instance, forwarded)).body).toEqual({ ready: true })
  expect((await ask(instance)).body).toEqual({ ready: true })
})

test('with a public base URL, loopback gets no details unless proxies are declared', async () => {
  const silent = await start({ 'base-url': 'https://once.example' })
  expect((await ask(silent)).body).toEqual({ ready: true })
  const declared = await start({ 'base-url': 'https://once.example', 'trusted-proxy': LOCAL })
  expect((await ask(declared)).body.checks).toEqual(ALL_FINE)
  const visitor = { from: LOCAL, headers: { 'x-forwarded-for': '203.0.113.9' } }
  expect((await ask(declared, visitor)).body).toEqual({ ready: true })
  const forged = { from: LOCAL, headers: { 'x-forwarded-for': '127.0.0.1, 203.0.113.9' } }
  expect((await ask(declared, forged)).body).toEqual({ ready: true })
})
