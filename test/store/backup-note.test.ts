// The note about a server's own backups: written completely or not at all, and never mistaken for a missing
// one when it is damaged.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BackupNote, readBackupNote, writeBackupNote } from '../../src/store/folder/notes.ts'

let dataDir = ''
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'oncebox-note-'))
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

const path = () => join(dataDir, 'backups.json')
const NOTE: BackupNote = {
  mark: 'k3f9xq',
  last: {
    ...{ folder: '/mnt/b', name: 'a.tar', at: 5, bytes: 7, durationMs: 9, kept: 2, isSameDisk: false },
  },
}

test('a written note is read back, is readable only for its owner, and leaves no other file', async () => {
  await writeBackupNote(dataDir, { mark: 'a', last: null })
  await writeBackupNote(dataDir, NOTE)
  expect(await readBackupNote(dataDir)).toEqual(NOTE)
  expect([readdirSync(dataDir), statSync(path()).mode & 0o777]).toEqual([['backups.json'], 0o600])
})

test('a data folder without a note gets a random mark', async () => {
  const marks = await Promise.all([1, 2].map(async () => (await readBackupNote(dataDir)).mark))
  expect(marks.map((mark) => /^[0-9a-z]{6}$/.test(mark))).toEqual([true, true])
  expect(new Set(marks).size).toBe(2)
})

test.each(['', 'null', '[]', '{', '{"mark":"../x"}'])(
  'a damaged note (%s) is refused with the remedy, because with a new mark no earlier backup would ever be removed',
  async (text) => {
    writeFileSync(path(), text)
    await expect(readBackupNote(dataDir)).rejects.toThrow('is damaged. Remove it')
  },
)
