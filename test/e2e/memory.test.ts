// Memory stays flat under many requests. A coarse check; the bench measures exact figures.

import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BINARY, createStage, type Started } from '../support/binary.ts'
import { HOSTILE_BODIES } from '../support/hostile.ts'
import { writeSource } from '../support/password-pusher.ts'
import { waitUntil } from '../support/waiting.ts'

const stage = createStage()
afterAll(stage.clear)

const WARM_UP = 3_000
const REQUESTS = 10_000
const CLIENTS = 32
const BODY_BYTES = 6_300_000
const MIB = 1024 * 1024

/** Returns 0 for a process that has ended. */
function residentBytes({ pid }: Pick<Started, 'pid'>, name: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
    return Number(kib ?? 0) * 1024
  } catch {
    return 0
  }
}

/** Half of the requests create and half retrieve, some with larger payloads. */
async function load(server: Started, requests: number): Promise<void> {
  let left = requests / 2
  const client = async () => {
    while (left > 0) {
      left -= 1
      const payload = 'p'.repeat(left % 50 === 0 ? 50_000 : 100)
      const { url_token } = await (await server.create({ payload, expire_after_views: 1 })).json()
      const answer = await (await server.retrieve(url_token)).json()
      if (answer.payload !== payload) throw new Error('another payload came back')
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
}

// Linux has the resident size of another process in /proc.
test.skipIf(process.platform !== 'linux')(
  '10,000 creates and retrieves leave memory flat',
  async () => {
    const server = await stage.start()
    await load(server, WARM_UP)
    const before = residentBytes(server)
    await load(server, REQUESTS)
    const after = residentBytes(server)
    console.log(`resident: ${Math.round(before / MIB)} MiB, then ${Math.round(after / MIB)} MiB`)
    expect(before).toBeGreaterThan(0)
    expect(after - before).toBeLessThan(40 * MIB)
    expect(after).toBeLessThan(250 * MIB)
  },
  600_000,
)

// The bodies that use most memory: those that are parsed before they are refused, and those of the largest
// size.
test
  .skipIf(process.platform !== 'linux')
  .each(['JSON body: brackets', 'JSON of escapes', 'form body: pluses'])(
  'eight of the largest bodies at once take less than ten times their bytes, and release the memory: %s',
  async (kind) => {
    const server = await stage.start()
    const { type, body } = HOSTILE_BODIES[kind]?.(BODY_BYTES) ?? { type: '', body: '' }
    const post = async () => {
      const answer = await server.ask('/api/v2/pushes', {
        ...{ method: 'POST', headers: { 'content-type': type }, body },
      })
      await answer.arrayBuffer()
      return answer.status
    }
    await server.create({ payload: 'x' })
    const before = residentBytes(server)
    const statuses = await Promise.all(Array.from({ length: 8 }, post))
    expect(statuses.every((status) => status === 400 || status === 422)).toBe(true)
    const peak = residentBytes(server, 'VmHWM')
    console.log(`resident: ${Math.round(before / MIB)} MiB, at most ${Math.round(peak / MIB)} MiB`)
    expect(peak - before).toBeLessThan(8 * 10 * BODY_BYTES)
    await waitUntil(() => residentBytes(server) - before < 40 * MIB)
    await server.end()
  },
  600_000,
)

/** Imports pushes, each with three log entries; a few have passphrases. */
async function importMany(pushes: number) {
  const folder = stage.folder()
  const source = await writeSource(folder)
  await source.run('BEGIN')
  const now = Date.now()
  for (let id = 1; id <= pushes; id += 1) {
    const createdAt = now - (id % 80) * 86_400_000 - ((id * 7919) % 86_400) * 1000
    const entries = [0, 1, 1].map((kind, n) => ({ kind, at: createdAt + n * 1000 }))
    const urlToken = `k8ft9i41ak${String(id).padStart(7, '0')}`
    const passphrase = id % 1_000 === 0 ? 'tell it by phone' : null
    source.addPush({
      id,
      urlToken,
      payload: `secret ${id}`,
      passphrase,
      days: 90,
      views: 9,
      createdAt,
      entries,
    })
  }
  await source.run('COMMIT')
  await source.close()
  const { database, masterKeyFile } = source.wish
  const flags = ['--database', database, '--master-key-file', masterKeyFile, '--min-free-space', '0']
  const child = Bun.spawn(
    [BINARY, 'import', 'password-pusher', ...flags, '--data-dir', join(folder, 'box')],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let resident = 0
  const watch = setInterval(() => {
    resident = Math.max(resident, residentBytes(child))
  }, 50)
  const [report, progress] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  clearInterval(watch)
  expect(await child.exited).toBe(0)
  expect(report).toContain(`${pushes} active pushes`)
  return { resident, progress }
}

test.skipIf(process.platform !== 'linux')(
  'an import of 12,000 pushes takes no more memory than one of 3,000, and shows its progress',
  async () => {
    const few = await importMany(3_000)
    const many = await importMany(12_000)
    console.log(
      `resident: ${Math.round(few.resident / MIB)} MiB, then ${Math.round(many.resident / MIB)} MiB`,
    )
    expect(few.resident).toBeGreaterThan(0)
    expect(many.resident - few.resident).toBeLessThan(35 * MIB)
    expect(many.resident).toBeLessThan(330 * MIB)
    expect(many.progress).toMatch(/^… (preparing|storing): \d+ of 12000 pushes$/m)
  },
  600_000,
)
