// What the doctor says of the backups that the server makes by itself.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { examineBackups } from '../../src/app/doctor/backups.ts'
import { writeBackupNote } from '../../src/store/folder/backup-note.ts'
import { configOf, START } from '../support/instance.ts'

const DAY = 24 * 60 * 60 * 1000
let dataDir = ''
let outside = ''

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'oncebox-data-'))
  outside = mkdtempSync(join(tmpdir(), 'oncebox-doctor-'))
})
afterEach(() => {
  for (const path of [dataDir, outside]) rmSync(path, { recursive: true, force: true })
})

test('a folder that cannot be used, one on the same disk, and a last one that is too old are told', async () => {
  const folder = join(outside, 'b')
  const told = async (now = START) => {
    const { config } = configOf({ 'data-dir': dataDir, 'backup-dir': folder })
    const findings = await examineBackups(config, { now, isServed: false })
    return findings.map(({ state, said, remedy }) => `${state}: ${said} → ${remedy}`).join('\n')
  }
  expect(await told()).toContain(`warning: There is no ${folder} yet. → Start the server`)
  expect(statSync(folder, { throwIfNoEntry: false })).toBeUndefined()
  writeFileSync(folder, '')
  expect(await told()).toStartWith(
    `problem: ${folder} cannot take backups: a part of its path is not a folder. → Name a folder.`,
  )
  rmSync(folder)
  mkdirSync(folder)
  expect(await told()).toContain(`warning: There is no backup in ${folder} yet.`)
  const made = { name: 'a.tar', at: START - DAY / 24, bytes: 3, durationMs: 5, kept: 1, isSameDisk: true }
  await writeBackupNote(dataDir, { mark: 'abcdef', folders: [folder], last: { folder, ...made } })
  expect(await told()).toContain('problem: ')
  expect(await told()).toContain(
    'oncebox-folder-abcdef.txt is not in it. → Mount its disk, or start the server once',
  )
  writeFileSync(join(folder, 'oncebox-folder-abcdef.txt'), '')
  const said = await told()
  for (const words of [
    'is on the disk of the data',
    'everybody who has one can read the names, notes and links',
  ])
    expect(said).toContain(words)
  expect(said).not.toContain('overdue')
  expect(await told(START + 3 * DAY)).toContain('is of 2026-11-20T11:00:00.000Z: the next is overdue')
})

test('a server without --backup-dir is no fault', async () => {
  const { config } = configOf({ 'data-dir': dataDir })
  const findings = await examineBackups(config, { now: START, isServed: true })
  expect(findings).toEqual([expect.objectContaining({ state: 'ok', part: 'backups' })])
})
