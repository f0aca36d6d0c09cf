// The record of a server's own backups: whole or not at all, and only what it can be.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type BackupRecord,
  readBackupRecord,
  writeBackupRecord,
} from '../../src/store/folder/backup-record.ts'

let dataDir = ''
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'oncebox-record-'))
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

const path = () => join(dataDir, 'backups.json')
const RECORD: BackupRecord = {
  mark: 'k3f9xq',
  made: [{ folder: '/mnt/b', name: 'a.tar', at: 5, bytes: 7, durationMs: null }],
  begun: [{ folder: '/mnt/b', name: 'b.tar.age' }],
}

test('what was written is read, by its owner alone, and nothing else stays', async () => {
  await writeBackupRecord(dataDir, { mark: 'a', made: [], begun: [] })
  await writeBackupRecord(dataDir, RECORD)
  expect(await readBackupRecord(dataDir)).toEqual(RECORD)
  expect([readdirSync(dataDir), statSync(path()).mode & 0o777]).toEqual([['backups.json'], 0o600])
})

test('what a killed process has left beside it is no hindrance', async () => {
  writeFileSync(`${path()}.oncebox-new`, '{"format"')
  await writeBackupRecord(dataDir, RECORD)
  expect(readdirSync(dataDir)).toEqual(['backups.json'])
})

test('without one each folder gets a mark of its own, and nobody is told', async () => {
  const told: unknown[] = []
  const [one, other] = [
    await readBackupRecord(dataDir, (cause) => told.push(cause)),
    await readBackupRecord(dataDir),
  ]
  expect(one.mark).toMatch(/^[0-9a-z]{6}$/)
  expect([one.mark === other.mark, told]).toEqual([false, []])
})

test.each([
  '',
  '{',
  'null',
  '[]',
  '{"format":2,"mark":"a"}',
  '{"format":1,"mark":"../a","made":[],"begun":[]}',
])('one that is damaged is a new one, which is told: %s', async (text) => {
  writeFileSync(path(), text)
  const told: unknown[] = []
  expect(await readBackupRecord(dataDir, (cause) => told.push(cause))).toMatchObject({ made: [], begun: [] })
  expect(told).toHaveLength(1)
})

test('one that cannot be read keeps no server from its start', async () => {
  mkdirSync(path())
  expect(await readBackupRecord(dataDir)).toMatchObject({ made: [] })
})

test('a name that leads out of the folder is left out', async () => {
  const made = ['../../etc/passwd', 'a/b', '.hidden', '', 'fine.tar'].map((name) => ({
    ...RECORD.made[0],
    name,
  }))
  writeFileSync(path(), JSON.stringify({ format: 1, mark: 'a', made, begun: made }))
  const { made: read, begun } = await readBackupRecord(dataDir)
  expect([read, begun].map((list) => list.map(({ name }) => name))).toEqual([['fine.tar'], ['fine.tar']])
})

test('years of failures do not make it grow without end', async () => {
  const begun = Array.from({ length: 5_000 }, (_, n) => ({ folder: '/mnt/b', name: `${n}.tar` }))
  await writeBackupRecord(dataDir, { ...RECORD, begun })
  expect(readFileSync(path()).length).toBeLessThan(20_000)
})
