// An import that is killed at any step has brought everything or nothing, and the next one brings the rest.

import { expect, test } from 'bun:test'
import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { importReport, newFolder, verification } from '../support/import.ts'
import { START } from '../support/instance.ts'
import { writeSource } from '../support/password-pusher.ts'
import { openTestStore } from '../support/store.ts'

const CHILD = resolve(import.meta.dir, '../support/import-child.ts')

async function runChild(folder: string, killAt: number): Promise<number> {
  const child = Bun.spawn([process.execPath, CHILD, folder, String(killAt)], { stderr: 'inherit' })
  const printed = await new Response(child.stdout).text()
  await child.exited
  return Number(printed)
}

function filesIn(dataDir: string): number {
  const entries = readdirSync(join(dataDir, 'files'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).length
}

test('killed at every step, it brings everything or nothing', async () => {
  const original = newFolder()
  const written = await writeSource(original)
  written.addUser({ id: 1, email: 'ann@example.org' })
  const files = [{ key: 'abcdkey1', filename: 'a.txt', content: Buffer.alloc(1000, 1) }]
  written.addPush({ id: 1, urlToken: 'k8ft9i41akc1', payload: 'one', createdAt: START, userId: 1, files })
  written.addPush({ id: 2, urlToken: 'k8ft9i41akc2', payload: 'two', createdAt: START })
  await written.close()
  const outcomes = new Set<number>()
  let steps = Number.POSITIVE_INFINITY
  for (let killAt = 0; killAt <= steps; killAt += 1) {
    const folder = newFolder()
    cpSync(original, folder, { recursive: true })
    const done = await runChild(folder, killAt)
    if (killAt === 0) steps = done
    const dataDir = join(folder, 'box')
    const { store } = await openTestStore({ dataDir })
    await store.files.removeDue()
    const { live } = await store.lists.countPushes()
    const accounts = (await store.accounts.listAccounts()).length
    await store.close()
    expect([killAt, live, accounts, filesIn(dataDir)]).toEqual([killAt, live, live / 2, live / 2])
    outcomes.add(live)
    const wish = { database: join(folder, 'storage/db/production.sqlite3'), storage: join(folder, 'storage') }
    const again = { ...wish, masterKeyFile: join(folder, 'master.key'), dataDir }
    expect((await importReport(again, START)).pushes.live).toBe(2 - live)
    expect(await verification(again, START)).toMatchObject({ live: 2, failures: [], differences: [] })
    rmSync(folder, { recursive: true, force: true })
  }
  expect(steps).toBeGreaterThan(8)
  expect([...outcomes].sort()).toEqual([0, 2])
  rmSync(original, { recursive: true, force: true })
}, 300_000)
