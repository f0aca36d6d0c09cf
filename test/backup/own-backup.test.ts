// A backup in the folder of --backup-dir: it is made only while the disk is mounted, and removes only certain
// files.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backUpInFolder } from '../../src/backup/own-backup.ts'
import { ownBackups } from '../../src/domain/backup-plan.ts'
import { readBackupNote, writeBackupNote } from '../../src/store/folder/notes.ts'
import { makeOld, wishOf } from '../support/backup.ts'
import { START } from '../support/instance.ts'
import { openTestStore } from '../support/store.ts'

const DAY = 24 * 60 * 60 * 1000
let [dataDir, room, folder] = ['', '', '']
let now = START

beforeEach(async () => {
  const opened = await openTestStore()
  dataDir = opened.dataDir
  await opened.store.close()
  room = mkdtempSync(join(tmpdir(), 'oncebox-own-'))
  folder = join(room, 'backups')
  now = START
})
afterEach(() => {
  for (const path of [dataDir, room]) rmSync(path, { recursive: true, force: true })
})

function make({ keep = 3 } = {}) {
  const { file: _, ...wish } = wishOf(dataDir)
  const ports = { now: () => now, writeOutput: async () => undefined, onProgress: () => undefined }
  return backUpInFolder({ ...wish, folder, keep }, ports)
}

async function own(): Promise<string[]> {
  return ownBackups(readdirSync(folder), (await readBackupNote(dataDir)).mark)
}

describe('the folder', () => {
  test('is created at its first use, and the note records the backup', async () => {
    const { bytes } = await make()
    const [name = ''] = await own()
    expect(readdirSync(folder)).toEqual([name])
    const { last } = await readBackupNote(dataDir)
    expect(last).toMatchObject({ folder, name, at: START, bytes, kept: 1, isSameDisk: true })
  })

  test('that was used before is not created again, because its disk may not be mounted', async () => {
    await make()
    renameSync(folder, `${folder}-disk`)
    await expect(make()).rejects.toThrow('there is no such file or folder. Mount the disk')
    expect(readdirSync(room)).toEqual(['backups-disk'])
    renameSync(`${folder}-disk`, folder)
    await make()
    expect(await own()).toHaveLength(2)
  })

  test('on the disk of the data is refused if the last backup went to another disk; another folder is accepted', async () => {
    await make()
    const note = await readBackupNote(dataDir)
    const last = note.last && { ...note.last, isSameDisk: false }
    await writeBackupNote(dataDir, { ...note, last })
    await expect(make()).rejects.toThrow('is now on the disk of the data')
    expect(await own()).toHaveLength(1)
    folder = join(room, 'others')
    await make()
    expect(await own()).toHaveLength(1)
  })

  test.each(['', 'backups'])('is not in the data folder (%s)', async (inner) => {
    folder = join(dataDir, inner)
    const before = readdirSync(dataDir)
    await expect(make()).rejects.toThrow('lies in the data folder')
    expect(readdirSync(dataDir)).toEqual(before)
  })
})

function rootPageOf(path: string, table: string): number {
  const database = new Database(path, { readonly: true })
  const sql = 'SELECT rootpage FROM sqlite_schema WHERE name = ?'
  const found = database.query<{ rootpage: number }, [string]>(sql).get(table)
  database.close()
  return found?.rootpage ?? 0
}

/** Overwrites a page, as a failing disk does. */
function withoutPage(database: Buffer, page: number): Buffer {
  const bytes = database.readUInt16BE(16)
  return Buffer.from(database).fill(0xff, (page - 1) * bytes, page * bytes)
}

describe('making a backup', () => {
  async function makeMany(times: number, keep: number) {
    for (let n = 0; n < times; n += 1) {
      now += DAY
      await make({ keep })
    }
  }

  test('removes the server’s oldest backup once the new one is complete', async () => {
    await makeMany(3, 3)
    const before = await own()
    await makeMany(1, 3)
    expect((await own()).slice(0, 2)).toEqual(before.slice(1))
    expect((await readBackupNote(dataDir)).last).toMatchObject({ kept: 3, name: (await own()).at(-1) })
  })

  test('gives two backups different names while the clock stands still', async () => {
    await make()
    await make()
    expect(await own()).toHaveLength(2)
  })

  test('touches no file of another server or of a person', async () => {
    await makeMany(1, 1)
    const foreign = [
      'oncebox-backup-2020-01-01T00-00-00Z-abcdef.tar',
      'oncebox-backup-2020-01-01T00-00-00Z.tar',
      // Another process may be writing it.
      'oncebox-backup-2020-01-01T00-00-00Z-abcdef.tar.oncebox-1.part',
      'photo.jpg',
    ]
    for (const name of foreign) writeFileSync(join(folder, name), 'mine')
    const left = join(folder, 'oncebox-backup-2020-01-01T00-00-00Z-abcdef.tar.oncebox-7.part')
    writeFileSync(left, 'half')
    makeOld(left)
    await makeMany(3, 1)
    expect(readdirSync(folder).sort()).toEqual([...foreign, ...(await own())].sort())
    expect(await own()).toHaveLength(1)
  })

  test('makes and removes none while the database cannot be read: earlier backups hold what is lost', async () => {
    await makeMany(2, 2)
    const path = join(dataDir, 'oncebox.db')
    const whole = readFileSync(path)
    writeFileSync(path, withoutPage(whole, rootPageOf(path, 'accounts')))
    await expect(makeMany(1, 2)).rejects.toThrow('malformed')
    expect(await own()).toHaveLength(2)
    writeFileSync(path, whole)
    await makeMany(1, 2)
    expect(await own()).toHaveLength(2)
  })

  test('reports an old backup that cannot be removed, after the new one is complete', async () => {
    await makeMany(1, 1)
    const [old = ''] = await own()
    // A folder of that name cannot be removed as a file, by root either.
    rmSync(join(folder, old))
    mkdirSync(join(folder, old))
    now += DAY
    await expect(make({ keep: 1 })).rejects.toThrow(/was made, but the old backup .* cannot be removed/)
    expect((await readBackupNote(dataDir)).last?.name).toBe((await own()).at(-1))
  })
})

test.skipIf(process.getuid?.() === 0)(
  'a folder without write permission is reported with the remedy',
  async () => {
    await make()
    chmodSync(folder, 0o500)
    await expect(make()).rejects.toThrow('permission denied. Let the user that this runs as write there.')
    chmodSync(folder, 0o700)
  },
)
