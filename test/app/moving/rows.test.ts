// Rows of every table go from one engine to the other and back, and are the same everywhere.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compareStores } from '../../../src/app/moving/compare.ts'
import { copyRows } from '../../../src/app/moving/copy-rows.ts'
import { visitFrom } from '../../../src/domain/audit.ts'
import { installedEngines } from '../../support/database-servers.ts'
import { makeFullFolder, openPostgres, openSqlite, type TestMoving } from '../../support/moving.ts'
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts'
import { openTestStore } from '../../support/store.ts'

const hasPostgres = installedEngines().includes('postgres')
let server: TestPostgres
let full: Awaited<ReturnType<typeof makeFullFolder>>
let folder: string
beforeAll(async () => {
  if (hasPostgres) server = await startTestPostgres()
  full = await makeFullFolder()
  folder = mkdtempSync(join(tmpdir(), 'oncebox-moving-'))
})
afterAll(async () => {
  await server?.stop()
  for (const path of [folder, full.dataDir]) rmSync(path, { recursive: true, force: true })
})

const source = () => openSqlite(join(full.dataDir, 'oncebox.db'))
let made = 0
const newSqlite = () => openSqlite(join(folder, `${++made}.db`))

async function copy(from: TestMoving, to: TestMoving, onStep: (step: string) => void = () => undefined) {
  const onProgress = () => undefined
  await copyRows({
    reader: from.reader,
    writer: to.writer,
    skipDamaged: false,
    onProgress,
    onStep,
  })
  return (await compareStores({ source: from.reader, target: to.reader }, onProgress)).compared
}

test('a copy in the same engine holds every row', async () => {
  const [from, to] = [source(), newSqlite()]
  const compared = await copy(from, to)
  expect(compared.pushes?.rows).toBe(1_512)
  expect(compared.recoveryCodes?.rows).toBe(2_500)
  for (const { rows } of Object.values(compared)) expect(rows).toBeGreaterThan(0)
  expect(await to.reader.count()).toEqual(await from.reader.count())
  await from.close()
  await to.close()
})

test('a copy that is broken off goes on where it stopped', async () => {
  const [from, to] = [source(), newSqlite()]
  const steps: string[] = []
  await copy(from, newSqlite(), (step) => steps.push(step))
  for (let n = 1; n <= steps.length; n += 1) {
    let left = n
    const stop = () => {
      left -= 1
      if (left === 0) throw new Error('stopped')
    }
    await copy(from, to, stop).catch((cause) => expect(cause.message).toBe('stopped'))
  }
  expect(steps.length).toBeGreaterThan(12)
  expect((await copy(from, to)).pushes?.rows).toBe(1_512)
  await from.close()
  await to.close()
})

test('what differs is named', async () => {
  const [from, to] = [source(), newSqlite()]
  await copy(from, to)
  const pushes = (await from.reader.readPushes(null)).items
  const last = await to.writer.findLast('pushes')
  const more = {
    ...pushes[0]!,
    push: { ...pushes[0]!.push, id: Number(last?.[0]) + 1, lookup: Buffer.alloc(16, 250) },
  }
  await to.writer.writePushes([{ ...more, share: null, secrets: null, entries: pushes[0]!.entries }])
  await expect(compareStores({ source: from.reader, target: to.reader }, () => undefined)).rejects.toThrow(
    `push ${more.push.id} differs`,
  )
  await from.close()
  await to.close()
})

test.skipIf(!hasPostgres)('rows are the same in PostgreSQL, and after the way back', async () => {
  const [from, between, back] = [source(), await openPostgres(server), newSqlite()]
  const there = await copy(from, between)
  const home = await copy(between, back)
  expect(home).toEqual(there)
  expect(await copy(back, await openPostgres(server))).toEqual(there)
  expect(await between.reader.count()).toEqual(await from.reader.count())
  expect(await between.readSums()).toEqual(await from.readSums())
  expect(await back.readSums()).toEqual(await from.readSums())
  for (const opened of [from, between, back]) await opened.close()
})

test.skipIf(!hasPostgres)(
  'a folder that comes back serves the same audit logs, and goes on with them',
  async () => {
    const [from, between] = [source(), await openPostgres(server)]
    await copy(from, between)
    await from.close()
    const readLog = async (dataDir: string) => {
      const { store } = await openTestStore({ dataDir, clock: full.clock, acceptMove: true })
      const logOf = async (id: number) => (await Array.fromAsync(store.audit.readAll({ id }))).flat()
      const logs = [await logOf(full.failing), await logOf(full.watched), await logOf(3)]
      const visit = visitFrom({ ip: '', userAgent: 'new', referrer: '' })
      await store.pushes.claimView({ id: full.watched, visit, lookBy: null })
      expect((await logOf(full.watched)).at(-1)?.userAgent).toBe('new')
      await store.close()
      return logs
    }
    const back = mkdtempSync(join(folder, 'back-'))
    const opened = openSqlite(join(back, 'oncebox.db'))
    await copy(between, opened)
    await opened.close()
    await between.close()
    await Bun.write(join(back, 'instance.key'), Bun.file(join(full.dataDir, 'instance.key')))
    const before = await readLog(full.dataDir)
    expect(before[0]).toHaveLength(502)
    expect(await readLog(back)).toEqual(before)
  },
)
