// Restores and verifications on a disk that is too small are refused in one sentence, and leave nothing
// behind.

import { afterAll, afterEach, beforeAll, expect } from 'bun:test'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createStage, makeFolder, removeFolder, runBinary } from '../support/binary.ts'
import { needs } from '../support/needs.ts'
import { backupOf } from '../support/packed-backup.ts'
import { openTestStore, storePush } from '../support/store.ts'
import { mountSmallDisk } from '../support/tmpfs.ts'

const PUSHES = 3_000
const KIB = 1024

const stage = createStage()
const disks: { remove(): void }[] = []
let room: string
let file: string
let bytes: number

beforeAll(async () => {
  room = makeFolder()
  file = join(room, 'backup.tar')
  const dataDir = join(room, 'data')
  const opened = await openTestStore({ dataDir })
  await Promise.all(Array.from({ length: PUSHES }, () => storePush(opened)))
  await opened.store.close()
  writeFileSync(file, await backupOf(dataDir))
  bytes = statSync(file).size
})
afterEach(async () => {
  await stage.clear()
  for (const disk of disks.splice(0)) disk.remove()
})
afterAll(() => removeFolder(room))

function mount(size: number): string {
  const disk = mountSmallDisk(`${Math.ceil(size / KIB)}k`)
  disks.push(disk)
  return disk.path
}

/** Disk sizes, chosen so that each stage of a restore runs out of space at one of them. */
const SIZES = [0.3, 0.9, 1.02, 1.1, 1.2]

needs('mount').test(
  'a restore without enough disk space leaves the disk unchanged',
  async () => {
    let refused = 0
    for (const size of SIZES) {
      const disk = mount(size * bytes)
      const restored = await runBinary(['restore', file, '--data-dir', join(disk, 'new'), '--keep-tokens'])
      if (restored.code === 0) continue
      refused += 1
      expect(restored).toMatchObject({ code: 1, stdout: '' })
      expect(restored.stderr).toContain(`The disk of ${disk}/new has no room for two copies of the database`)
      expect(readdirSync(disk)).toEqual([])
      const within = await runBinary(['restore', file, '--data-dir', disk, '--keep-tokens'])
      expect(within).toMatchObject({ code: 1, stdout: '' })
      expect(readdirSync(disk)).toEqual([])
    }
    expect(refused).toBeGreaterThan(2)
    const disk = mount(4 * bytes)
    expect(await runBinary(['restore', file, '--data-dir', disk, '--keep-tokens'])).toMatchObject({ code: 0 })
    expect(readdirSync(disk).sort()).toEqual(['instance.key', 'oncebox.db'])
    const server = await stage.start({ dataDir: disk })
    expect((await server.ask('/up')).status).toBe(200)
  },
  600_000,
)

needs('mount').test(
  'a verification without enough disk space leaves the disk unchanged',
  async () => {
    const disk = mount(0.5 * bytes)
    const verified = await runBinary(['backup', 'verify', file, '--temp-dir', disk])
    expect(verified).toMatchObject({ code: 1, stdout: '' })
    expect(verified.stderr).toContain(`The disk of ${disk} has no room`)
    expect(readdirSync(disk)).toEqual([])
  },
  600_000,
)
