// A disk that becomes read-only, and folders without permissions: reported, and no acknowledged change is
// lost.

import { afterEach, expect, test } from 'bun:test'
import { chmodSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createStage } from '../support/binary.ts'
import { needs } from '../support/needs.ts'
import { mountSmallDisk } from '../support/tmpfs.ts'

const stage = createStage()
const disks: { remove(): void }[] = []

afterEach(async () => {
  await stage.clear()
  for (const disk of disks.splice(0)) disk.remove()
})

const remount = (path: string, how: 'ro' | 'rw') => {
  const { success, stderr } = Bun.spawnSync(['mount', '-o', `remount,${how}`, path])
  if (!success) throw new Error(`remounting was refused: ${stderr}`)
}

needs('mount').describe('on a disk that becomes read-only', () => {
  test('a start is refused, naming the folder, and works once the disk is writable again', async () => {
    const disk = mountSmallDisk('64m')
    disks.push(disk)
    const dataDir = join(disk.path, 'data')
    const server = await stage.start({ dataDir })
    const { url_token } = await (await server.create({ payload: 'kept' })).json()
    await server.end()
    remount(disk.path, 'ro')
    const refused = await stage.serve(dataDir)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain(dataDir)
    remount(disk.path, 'rw')
    const again = await stage.start({ dataDir })
    expect((await (await again.retrieve(url_token)).json()).payload).toBe('kept')
  })

  test('a running server sends no payload whose view it cannot count, and loses nothing', async () => {
    const disk = mountSmallDisk('64m')
    disks.push(disk)
    const dataDir = join(disk.path, 'data')
    const server = await stage.start({ dataDir })
    const made = []
    for (let n = 0; n < 20; n += 1)
      made.push(
        (await (await server.create({ payload: `kept ${n}`, expire_after_views: 2 })).json()).url_token,
      )
    // A disk with files open for writing cannot be remounted, so use permissions. Root can write anyway; any
    // other user is refused.
    chmodSync(dataDir, 0o500)
    const statuses = new Set<number>()
    for (const urlToken of made.slice(0, 5)) {
      const answer = await server.retrieve(urlToken)
      statuses.add(answer.status)
      await answer.arrayBuffer()
    }
    expect([...statuses].every((status) => [200, 500, 503, 507].includes(status))).toBe(true)
    chmodSync(dataDir, 0o700)
    await server.end('SIGKILL')
    const again = await stage.start({ dataDir })
    for (const [n, urlToken] of made.slice(5).entries()) {
      expect((await (await again.retrieve(urlToken)).json()).payload).toBe(`kept ${n + 5}`)
    }
  })
})

test('the start restores permissions that were too open', async () => {
  const server = await stage.start()
  await server.end()
  chmodSync(server.dataDir, 0o777)
  const again = await stage.start({ dataDir: server.dataDir })
  expect(statSync(again.dataDir).mode & 0o777).toBe(0o700)
})

test('a missing files folder is reported when it is needed, and everything else works', async () => {
  const server = await stage.start()
  await server.command(['user', 'add', 'ann@example.org', '--password-stdin'], 'correct horse battery')
  const { stdout } = await server.command(['token', 'create', 'ann@example.org'])
  const auth = { authorization: `Bearer ${stdout.trim()}` }
  const files = [{ filename: 'a', data: 'eA==' }]
  const { url_token } = await (await server.create({ files }, auth)).json()
  const { files: granted } = await (await server.retrieve(url_token)).json()
  rmSync(join(server.dataDir, 'files'), { recursive: true })
  expect((await server.ask(new URL(granted[0].url).pathname)).status).toBe(500)
  expect((await server.retrieve(url_token)).status).toBe(500)
  await server.untilLogged('damaged on disk: a file of push 1 (')
  expect((await server.create({ payload: 'x' })).status).toBe(201)
  expect((await server.create({ files }, auth)).status).toBe(201)
  expect(server.isRunning()).toBe(true)
})
