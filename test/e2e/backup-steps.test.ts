// A backup that is killed at any step is complete or absent, and the next one removes its leftovers.

import { beforeAll, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { countPushes, makeOld } from '../support/backup.ts'
import { buildChild } from '../support/built-child.ts'
import { openTestStore, storePush } from '../support/store.ts'

let program: string
beforeAll(async () => {
  program = await buildChild('backup-child.ts')
})

/** Files that SQLite keeps beside an open database. */
const OF_SQLITE = /-(wal|shm)$/

async function runChild(
  dataDir: string,
  { file, killAt }: { file: string; killAt: number },
): Promise<string> {
  const command = [process.execPath, program, dataDir, file, String(killAt)]
  const { stdout, exited } = Bun.spawn(command, { stderr: 'inherit' })
  const said = await new Response(stdout).text()
  await exited
  return said.trim()
}

test('a backup that is killed at any step is complete or absent, and the next one removes its leftovers', async () => {
  const opened = await openTestStore()
  for (let n = 0; n < 50; n += 1) await storePush(opened)
  await opened.store.close()
  const { dataDir } = opened
  const room = `${dataDir}-room`
  mkdirSync(room)
  try {
    const steps = Number(await runChild(dataDir, { file: join(room, '0.tar'), killAt: 0 }))
    expect(steps).toBeGreaterThan(8)
    const list = () =>
      readdirSync(dataDir)
        .sort()
        .filter((name) => !OF_SQLITE.test(name))
    const before = list()
    for (let killAt = 1; killAt <= steps; killAt += 1) {
      const file = join(room, `${killAt}.tar`)
      expect(await runChild(dataDir, { file, killAt })).toBe('')
      const left = readdirSync(room).filter((name) => !/^\d+\.tar(\.oncebox-.*\.part)?$/.test(name))
      expect(left).toEqual([])
      if (readdirSync(room).includes(`${killAt}.tar`)) expect(await countPushes(file)).toBe(50)
      const parts = () => readdirSync(room).filter((name) => name.endsWith('.part'))
      for (const part of parts()) makeOld(join(room, part))
      const next = join(room, `${killAt}-next.tar`)
      expect(await runChild(dataDir, { file: next, killAt: 0 })).toBe(String(steps))
      expect(await countPushes(next)).toBe(50)
      rmSync(next)
      expect(parts()).toEqual([])
      expect(list()).toEqual(before)
    }
  } finally {
    rmSync(room, { recursive: true })
    rmSync(dataDir, { recursive: true })
  }
}, 600_000)
