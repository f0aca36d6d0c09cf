// An import that is killed at any step has imported everything or nothing, and the next one imports the rest.

import { expect, test } from 'bun:test'
import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { importReport, newFolder, verification } from '../support/import.ts'
import { START } from '../support/instance.ts'
import { writeSource } from '../support/password-pusher.ts'
import { openTestStore } from '../support/store.ts'

const CHILD = resolve(import.meta.dir, '../support/import-child.ts')

/**
 * One import copies its folder at each step: each copy should equal the folder after a kill at that step. To
 * verify that, one step of so many is run with a real kill. Each run chooses other steps.
 */
const KILL_EVERY = 8

async function runChild(folder: string, killAt: number, copies: readonly string[] = []): Promise<number> {
  const child = Bun.spawn([process.execPath, CHILD, folder, String(killAt), ...copies], { stderr: 'inherit' })
  const printed = await new Response(child.stdout).text()
  await child.exited
  return Number(printed)
}

function filesIn(dataDir: string): number {
  const entries = readdirSync(join(dataDir, 'files'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).length
}

test('an import that is killed at any step imports everything or nothing', async () => {
  const original = newFolder()
  const written = await writeSource(original)
  written.addUser({ id: 1, email: 'ann@example.org' })
  const files = [{ key: 'abcdkey1', filename: 'a.txt', content: Buffer.alloc(1000, 1) }]
  written.addPush({ id: 1, urlToken: 'k8ft9i41akc1', payload: 'one', createdAt: START, userId: 1, files })
  written.addPush({ id: 2, urlToken: 'k8ft9i41akc2', payload: 'two', createdAt: START })
  await written.close()
  const wish = {
    database: join(original, 'storage/db/production.sqlite3'),
    storage: join(original, 'storage'),
    masterKeyFile: join(original, 'master.key'),
  }

  /** Checks what was imported. Resolves to the number of imported pushes. */
  async function check(step: number, dataDir: string): Promise<number> {
    // Needed because the copy is at another path.
    const { store } = await openTestStore({ dataDir, acceptMove: true })
    await store.files.removeDue()
    const { live } = await store.health.countPushes()
    const accounts = (await store.accounts.listAccounts()).length
    await store.close()
    expect([step, live, accounts, filesIn(dataDir)]).toEqual([step, live, live / 2, live / 2])
    expect((await importReport({ ...wish, dataDir }, START)).pushes.live).toBe(2 - live)
    expect(await verification({ ...wish, dataDir }, START)).toMatchObject({
      ...{ live: 2, failures: [], differences: [] },
    })
    return live
  }

  const room = newFolder()
  const copyOf = (name: string) => {
    cpSync(original, join(room, name), { recursive: true })
    return join(room, name)
  }
  const whole = copyOf('whole')
  const copies = join(room, 'copies')
  const steps = await runChild(whole, 0, [copies])
  expect(steps).toBeGreaterThan(8)
  const outcomes = [await check(0, join(whole, 'box'))]
  for (let step = 1; step <= steps; step += 1) outcomes.push(await check(step, join(copies, `${step}`)))
  for (let step = 1 + Math.floor(Math.random() * KILL_EVERY); step <= steps; step += KILL_EVERY) {
    const killed = copyOf(`killed-${step}`)
    await runChild(killed, step)
    expect(await check(step, join(killed, 'box'))).toBe(outcomes[step] ?? -1)
  }
  expect([...new Set(outcomes)].sort()).toEqual([0, 2])
  for (const folder of [original, room]) rmSync(folder, { recursive: true, force: true })
}, 300_000)
