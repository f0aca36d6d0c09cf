// A truncated database, or one with flipped bits: the damage is noticed and reported, and no push ever
// returns altered content.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { DomainError } from '../../../../src/domain/errors.ts'
import { createTestClock, startInstance } from '../../../support/instance.ts'

const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)
const PUSHES = 80
/**
 * Each run tries other damage. DAMAGE_RUNS makes a run longer: 40 are enough to meet refusals, failures and
 * bytes that are never read.
 */
const RUNS = Number(process.env.DAMAGE_RUNS ?? 40)

let whole: string
let copy: string
let token: string
/** The payload of each push. */
const truth = new Map<string, string>()

const payloadOf = (n: number) => `payload ${n} ${'x'.repeat(n % 8 === 0 ? 9000 : n)}`

beforeAll(async () => {
  console.log(`FUZZ_SEED=${SEED}`)
  whole = mkdtempSync(join(tmpdir(), 'oncebox-whole-'))
  copy = mkdtempSync(join(tmpdir(), 'oncebox-damaged-'))
  const instance = await startInstance({ dataDir: whole })
  token = await instance.addAccount('ann@example.org')
  for (let n = 0; n < PUSHES; n += 1) {
    const push = { payload: payloadOf(n), expire_after_views: 100, name: `name ${n}` }
    const { url_token } = await (await instance.fetch('/api/v2/pushes', { json: { push }, token })).json()
    truth.set(url_token, payloadOf(n))
  }
  await instance.restart()
  // Copy the folder after an orderly end, which also removes it.
  cpSync(whole, copy, { recursive: true })
  await instance.close().catch(() => undefined)
  cpSync(copy, whole, { recursive: true })
})

afterAll(() => {
  for (const folder of [whole, copy]) rmSync(folder, { recursive: true, force: true })
})

/** Needed because the folder is a copy. */
const AS_MOVED = { flags: { 'accept-move': 'true' } }

type Outcome = { refused: string | null; right: number; failed: number; lost: number }

/** Starts with a damaged database, if it starts, and asks for every push. */
async function tryDamaged(damage: (path: string) => void): Promise<Outcome> {
  const path = join(copy, 'oncebox.db')
  copyFileSync(join(whole, 'oncebox.db'), path)
  for (const name of ['oncebox.db-wal', 'oncebox.db-shm']) rmSync(join(copy, name), { force: true })
  damage(path)
  const outcome: Outcome = { refused: null, right: 0, failed: 0, lost: 0 }
  const started = await startInstance({ ...AS_MOVED, dataDir: copy, clock: createTestClock() }).catch(
    (cause) => {
      if (!(cause instanceof DomainError)) throw cause
      outcome.refused = cause.message
      return null
    },
  )
  if (started === null) return outcome
  for (const [urlToken, payload] of truth) {
    const response = await started.fetch(`/api/v2/pushes/${urlToken}`)
    const view = await response.json()
    if (response.status === 200) {
      expect([payload, null]).toContain(view.payload)
      outcome.right += 1
    } else if (response.status >= 500) {
      expect(Object.keys(view)).toContain('error')
      outcome.failed += 1
    } else outcome.lost += 1
  }
  // A failure is logged.
  if (outcome.failed > 0) expect(started.log.join('\n')).toMatch(/a request failed/)
  await started.close().catch(() => undefined)
  cpSync(join(whole, 'instance.key'), join(copy, 'instance.key'))
  return outcome
}

test('an intact database serves everything', async () => {
  expect(await tryDamaged(() => undefined)).toEqual({ refused: null, right: PUSHES, failed: 0, lost: 0 })
})

test('a database truncated anywhere is refused, naming the file', async () => {
  const size = readFileSync(join(whole, 'oncebox.db')).length
  const lengths = fc.sample(fc.integer({ min: 1, max: size - 1 }), { seed: SEED, numRuns: 40 })
  for (const length of [...lengths, 512, 4096, size - 4096, size - 1]) {
    const { refused, right } = await tryDamaged((path) => truncateSync(path, length))
    expect({ length, right, isRefused: refused?.includes('oncebox.db') }).toEqual({
      length,
      right: 0,
      isRefused: true,
    })
  }
}, 300_000)

test('a database with flipped bytes never hands out a wrong payload', async () => {
  const bytes = readFileSync(join(whole, 'oncebox.db'))
  const flips = fc.sample(
    fc.array(fc.record({ at: fc.nat({ max: bytes.length - 1 }), by: fc.integer({ min: 1, max: 255 }) }), {
      minLength: 1,
      maxLength: 4,
    }),
    { seed: SEED, numRuns: RUNS },
  )
  let refused = 0
  let failed = 0
  for (const changes of flips) {
    const outcome = await tryDamaged((path) => {
      const altered = Buffer.from(bytes)
      for (const { at, by } of changes) altered[at] = (altered[at] ?? 0) ^ by
      writeFileSync(path, altered)
    })
    refused += outcome.refused === null ? 0 : 1
    failed += outcome.failed
  }
  console.log(
    `of ${flips.length} damaged databases ${refused} were refused; ${failed} pushes failed and were told`,
  )
  expect(refused + failed).toBeGreaterThan(0)
}, 300_000)
