// Ends the process before and after every durable step of a story: acknowledged changes are kept, others
// happened completely or not at all, and no garbage is left.

import { Database } from 'bun:sqlite'
import { beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildChild } from '../support/built-child.ts'
import type { Told } from '../support/crash-child.ts'
import { createTestClock, START, startInstance } from '../support/instance.ts'

let program = ''
beforeAll(async () => {
  program = await buildChild('crash-child.ts')
})
const HOUR = 60 * 60 * 1000
const DAY = 24 * HOUR
/** Allows a start on a copy, which is at another path. */
const AS_MOVED = { 'accept-move': 'true' }
/**
 * One process copies its folder at each step: each copy should equal the folder after a kill at that step. To
 * verify that, one step of so many is run with a real kill. Each run chooses other steps.
 */
const KILL_EVERY = 40

async function runChild(dataDir: string, killAt: number, copies: readonly string[] = []): Promise<Told[]> {
  const child = Bun.spawn([process.execPath, program, dataDir, String(killAt), ...copies], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  await child.exited
  if (killAt === 0 && child.exitCode !== 0) throw new Error(stderr)
  return stdout
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

type Story = {
  urlToken: string
  views: number
  files: number
  seen: number
  lost: number
  deleted: boolean
  maybeDeleted: boolean
}

/** Returns the facts that must hold for each push whose creation was acknowledged. */
function readStory(told: Told[]): Map<string, Story> {
  const stories = new Map<string, Story>()
  for (const line of told) {
    if (line.told === 'end' || line.told === 'step') continue
    if (line.deed === 'create') {
      const { name, urlToken, views, files } = line
      if (urlToken !== undefined)
        stories.set(name, { urlToken, views, files, seen: 0, lost: 0, deleted: false, maybeDeleted: false })
      continue
    }
    const story = stories.get(line.name)
    if (story === undefined) continue
    const isDone = line.told === 'done'
    if (line.deed === 'view') {
      story.lost += isDone ? -1 : 1
      story.seen += isDone ? 1 : 0
    }
    if (line.deed === 'delete') {
      story.maybeDeleted = true
      story.deleted = isDone
    }
  }
  return stories
}

async function checkAfter(dataDir: string, told: Told[]): Promise<void> {
  const clock = createTestClock(START + 26 * HOUR)
  const instance = await startInstance({ dataDir, clock, flags: AS_MOVED })
  try {
    for (const [name, story] of readStory(told)) {
      const { urlToken, views, seen, lost, deleted, maybeDeleted } = story
      const passphrase = name === 'guarded' ? '?passphrase=right' : ''
      const said = { name, deleted, seen, lost }
      const push = await (await instance.fetch(`/api/v2/pushes/${urlToken}${passphrase}`)).json()
      const used = views - push.views_remaining - (push.payload === null ? 0 : 1)
      if (deleted) expect({ ...said, expired: push.expired }).toEqual({ ...said, expired: true })
      if (push.payload !== null) {
        expect({ ...said, payload: push.payload }).toEqual({ ...said, payload: `payload ${name}` })
        expect(push.files).toHaveLength(story.files)
        for (const { url } of push.files)
          expect((await instance.fetch(new URL(url).pathname)).status).toBe(200)
      } else if (!maybeDeleted && name !== 'short')
        expect({ ...said, isUsedUp: seen + lost >= views }).toEqual({ ...said, isUsedUp: true })
      if (!maybeDeleted && name !== 'short') {
        expect({ ...said, used, isTrue: used >= seen && used <= seen + lost }).toEqual({
          ...said,
          used,
          isTrue: true,
        })
      }
    }
    // Grants of last views end; then the sweep removes their files.
    clock.advance(2 * DAY)
    await instance.sweep()
    await instance.sweep()
    expectNoGarbage(dataDir)
  } finally {
    await instance.close()
  }
}

function expectNoGarbage(dataDir: string): void {
  const database = new Database(join(dataDir, 'oncebox.db'), { readonly: true })
  const rows = database
    .query<{ id: string }, []>('SELECT file_id AS id FROM push_files')
    .all()
    .map(({ id }) => id)
  const due = database.query('SELECT id FROM files_due').all()
  const folder = join(dataDir, 'files')
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
  expect({ files: files.sort(), due }).toEqual({ files: rows.sort(), due: [] })
  expect(database.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  // Expired pushes have no key any more.
  const keys = database.query('SELECT count(*) AS n FROM push_keys WHERE wrapped_key != zeroblob(62)').get()
  const live = database.query('SELECT count(*) AS n FROM pushes WHERE expired_on IS NULL').get()
  expect(keys).toEqual(live)
  database.close()
}

test('after an end at any durable step, the server restarts with all acknowledged changes', async () => {
  const room = mkdtempSync(join(tmpdir(), 'oncebox-steps-'))
  const copyOf = (step: number) => join(room, 'copies', `${step}`)
  try {
    const whole = join(room, 'whole')
    const story = await runChild(whole, 0, [join(room, 'copies')])
    await checkAfter(whole, story)
    const steps = story.filter(({ told }) => told === 'step').length
    console.log(`${steps} durable steps`)
    expect(steps).toBeGreaterThan(60)
    /**
     * Skips states that were already checked: two steps in five leave the same files and acknowledgements.
     */
    const seen = new Set<string>()
    for (let step = 1; step <= steps; step += 1) {
      const end = story.findIndex((line) => line.told === 'step' && line.step === step)
      const told = story.slice(0, end)
      const left = `${hashFolder(copyOf(step))} ${JSON.stringify([...readStory(told)])}`
      if (seen.has(left)) continue
      seen.add(left)
      await checkStep(step, copyOf(step), told)
    }
    for (let step = 1 + Math.floor(Math.random() * KILL_EVERY); step <= steps; step += KILL_EVERY) {
      const killed = join(room, 'killed')
      await checkStep(step, killed, await runChild(killed, step))
    }
  } finally {
    rmSync(room, { recursive: true, force: true })
  }
}, 600_000)

/** Hashes the folder without the WAL index (-shm), which the next start rebuilds. */
function hashFolder(folder: string): bigint {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.endsWith('-shm') && statSync(join(folder, path)).isFile())
    .sort()
  return paths.reduce(
    (seed, path) => Bun.hash.wyhash(readFileSync(join(folder, path)), Bun.hash.wyhash(path, seed)),
    0n,
  )
}

async function checkStep(step: number, dataDir: string, told: Told[]): Promise<void> {
  await checkAfter(dataDir, told).catch((cause) => {
    throw new Error(`after step ${step} (${JSON.stringify(told.at(-1))}): ${cause.message}`)
  })
  rmSync(dataDir, { recursive: true, force: true })
}
