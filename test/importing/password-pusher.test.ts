// Imports from an SQLite file, besides what holds for every database: its WAL, its damage, its version.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { openTestBucket } from '../support/bucket.ts'
import { importReport, newFolder, runImport, verification } from '../support/import.ts'
import { importCases, live } from '../support/import-cases.ts'
import { START } from '../support/instance.ts'
import { type SourcePush, type WriteOptions, writeSource } from '../support/password-pusher.ts'
import { openTestStore } from '../support/store.ts'

const NOW = START

describe('from an SQLite file', () => importCases(() => null))

let folder: string
let dataDir: string

beforeEach(() => {
  folder = newFolder()
  dataDir = join(folder, 'box')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function source(pushes: SourcePush[] = [], options: WriteOptions = {}) {
  const written = await writeSource(folder, options)
  for (const push of pushes) written.addPush(push)
  return written
}

test('the WAL is read, through a symlink too, and no byte of the source is written', async () => {
  const written = await source([live(1)], { log: true })
  written.addPush(live(2))
  const copy = join(folder, 'copy')
  mkdirSync(copy)
  const names = ['production.sqlite3', 'production.sqlite3-wal']
  for (const name of names) copyFileSync(join(folder, 'storage/db', name), join(copy, name))
  const before = names.map((name) => readFileSync(join(copy, name)))
  const wish = { ...written.wish, database: join(copy, 'production.sqlite3'), dataDir }
  expect((await importReport(wish, NOW)).pushes.live).toBe(2)
  expect(readdirSync(copy).sort()).toEqual(names)
  expect(names.map((name) => readFileSync(join(copy, name)))).toEqual(before)
  symlinkSync(join(copy, 'production.sqlite3'), join(folder, 'link'))
  const overLink = { ...wish, database: join(folder, 'link'), dataDir: join(folder, 'other') }
  expect((await importReport(overLink, NOW)).pushes.live).toBe(2)
  await written.close()
})

describe('a dry run is refused like its import', () => {
  async function refusals(parts: { keyFile?: string; dataDir?: string }): Promise<void> {
    const { wish, close } = await source([live(1)])
    await close()
    const reasons = []
    for (const mode of ['dry-run', 'import'] as const)
      reasons.push(await runImport({ ...wish, dataDir, ...parts, mode }, NOW).catch((cause) => cause.message))
    expect(reasons[0]).toBeString()
    expect(reasons[0]).toBe(reasons[1])
  }
  const keyFile = () => join(folder, 'instance.key')

  test('with a key file without a key', async () => {
    writeFileSync(keyFile(), 'no key', { mode: 0o600 })
    await refusals({ keyFile: keyFile() })
  })
  test('with a key file whose folder is missing', () =>
    refusals({ keyFile: join(folder, 'none/instance.key') }))
  test('with the key file of another database', async () => {
    await (await openTestStore({ dataDir })).store.close()
    await (await openTestStore({ dataDir: join(folder, 'other') })).store.close()
    await refusals({ keyFile: join(folder, 'other/instance.key') })
  })
  test('without the key file of the database', async () => {
    await (await openTestStore({ dataDir })).store.close()
    await refusals({ keyFile: keyFile() })
  })
  test('into a folder with other files', () => refusals({ dataDir: folder }))
})

test('databases of version 1, foreign, damaged and missing ones are refused', async () => {
  const path = join(folder, 'other.sqlite3')
  const refuse = (why: RegExp) => expect(runImport({ database: path, dataDir }, NOW)).rejects.toThrow(why)
  await refuse(/There is no file/)
  const old = new Database(path)
  old.run('CREATE TABLE passwords (id integer)')
  old.close()
  await refuse(/version 1; upgrade that server to 2\.x/)
  writeFileSync(path, Buffer.alloc(8192, 'no database'))
  await refuse(/Cannot read the database|file is not a database/)
  const { wish, close } = await source(
    Array.from({ length: 400 }, (_, id) => live(id + 1, { payload: 'x'.repeat(500) })),
  )
  await close()
  const bytes = readFileSync(wish.database)
  writeFileSync(wish.database, bytes.fill(0xff, bytes.length / 2, bytes.length / 2 + 20_000))
  await expect(runImport({ ...wish, dataDir }, NOW)).rejects.toThrow(/Cannot read the database/)
  const { store } = await openTestStore({ dataDir })
  expect(await store.health.countPushes()).toEqual({ live: 0, expired: 0 })
  await store.close()
})

test('a server that has the database open is reported', async () => {
  const { wish, close } = await source([live(1)], { log: true })
  const said: string[] = []
  await runImport({ ...wish, dataDir, mode: 'dry-run' }, NOW, (line) => said.push(line))
  expect(said).toEqual([expect.stringContaining('the old server seems to run')])
  await close()
})

test('files are imported into the server’s bucket, and compared there', async () => {
  const bucket = await openTestBucket()
  const files = [{ key: 'abcdkey1', filename: 'a.txt', content: Buffer.from('once') }]
  const written = await source([live(1, { files })])
  const place = { dataDir, keyFile: join(folder, 'instance.key'), ...bucket.config }
  const wish = { ...written.wish, ...place }
  expect((await importReport(wish, NOW)).files).toMatchObject({ count: 1 })
  expect(bucket.listKeys()).toHaveLength(1)
  expect(await verification(wish, NOW)).toMatchObject({ differences: [] })
  const onDisk = runImport({ ...wish, filesUrl: null }, NOW)
  await expect(onDisk).rejects.toThrow('need their files in the bucket')
  await written.close()
  await bucket.close()
})
