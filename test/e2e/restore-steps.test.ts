// A restore that is killed at every step: the folder is complete or absent, and the next restore succeeds.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startApi } from '../support/api.ts'
import { buildChild } from '../support/built-child.ts'
import { backupOf } from '../support/packed-backup.ts'

const room = mkdtempSync(join(tmpdir(), 'oncebox-restore-steps-'))
const file = join(room, 'backup.tar')
let program: string
let token: string
let links: string[]

beforeAll(async () => {
  program = await buildChild('restore-child.ts')
  const api = await startApi({ dataDir: join(room, 'data') })
  token = await api.addAccount('ann@example.org')
  links = []
  for (let n = 0; n < 5; n += 1) links.push((await api.create({ name: `push ${n}` }, { token })).url_token)
  await api.stop()
  writeFileSync(file, await backupOf(join(room, 'data'), { members: { 'tls-authority.pem': 'PEM' } }))
})
afterAll(() => rmSync(room, { recursive: true, force: true }))

/** Runs a restore. Returns the number of steps, or null if it was killed before the end. */
async function runChild(dataDir: string, killAt: number): Promise<number | null> {
  const child = Bun.spawn([process.execPath, program, file, dataDir, String(killAt)], {
    ...{ stdout: 'pipe', stderr: 'pipe' },
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  await child.exited
  if (child.signalCode === null && child.exitCode !== 0) throw new Error(err)
  return child.exitCode === 0 ? Number(out) : null
}

async function expectWhole(dataDir: string): Promise<void> {
  expect(readdirSync(dataDir).sort()).toEqual(['instance.key', 'oncebox.db', 'tls-authority.pem'])
  const api = await startApi({ dataDir })
  const expired = await api.list('expired', token)
  expect(expired).toHaveLength(links.length)
  for (const urlToken of links) expect((await api.retrieve(urlToken)).status).toBe(404)
  for (const { url_token: urlToken } of expired) {
    expect((await api.audit(urlToken, token)).map(({ kind }) => kind)).toEqual(['creation', 'expire'])
    expect((await api.retrieve(urlToken)).body).toMatchObject({ expired: true, payload: null })
  }
  await api.stop()
}

test.each([
  ['a new folder', false],
  ['an empty folder', true],
])(
  'killed at any step on its way into %s',
  async (_, exists) => {
    let place = 0
    const makePlace = (): string => {
      place += 1
      const path = join(room, `place-${exists}-${place}`)
      mkdirSync(path)
      if (exists) mkdirSync(join(path, 'new'))
      return path
    }
    const steps = (await runChild(join(makePlace(), 'new'), 0)) ?? 0
    expect(steps).toBeGreaterThan(5)
    console.log(`${steps} steps`)
    for (let step = 1; step <= steps; step += 1) {
      const parent = makePlace()
      const dataDir = join(parent, 'new')
      expect(await runChild(dataDir, step)).toBeNull()
      const isThere = existsSync(join(dataDir, 'oncebox.db'))
      if (isThere) {
        // At most an empty folder may be left.
        for (const name of readdirSync(dataDir).filter((other) => other.startsWith('.oncebox-restore-')))
          rmdirSync(join(dataDir, name))
      } else expect(await runChild(dataDir, 0)).toBe(steps)
      await expectWhole(dataDir)
      expect({ step, left: readdirSync(parent) }).toEqual({ step, left: ['new'] })
    }
  },
  600_000,
)
