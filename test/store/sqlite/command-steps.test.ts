// How a command changes a database: one step at a time, or many steps in one transaction.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAlone, createCommandSteps, createDrive } from '../../../src/store/sqlite/run-steps.ts'
import { statement } from '../../../src/store/statements.ts'
import { type Alone, run, type Step, type Steps } from '../../../src/store/steps.ts'

let folder: string
let database: Database
let alone: Alone
let steps: Steps

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oncebox-command-'))
  database = new Database(join(folder, 'test.db'), { create: true, readwrite: true })
  database.run('PRAGMA journal_mode = WAL')
  database.run('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)')
  const drive = createDrive(database)
  alone = createAlone(database, drive)
  steps = createCommandSteps(database, drive)
})

afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

const INSERT = statement('INSERT INTO notes (text) VALUES ($1)')
const note = (text: string) => run(INSERT, text)
const notes = () =>
  database
    .query<{ text: string }, []>('SELECT text FROM notes ORDER BY id')
    .all()
    .map(({ text }) => text)

function* noteHalf(): Step<void> {
  yield* note('half')
  throw new Error('broken off')
}

/** Fills the disk, except for the room of short notes. */
function fillDisk(): void {
  const pages = database.query<{ page_count: number }, []>('PRAGMA page_count').get()?.page_count ?? 0
  database.run(`PRAGMA max_page_count = ${pages + 2}`)
}

const LONG = 'x'.repeat(100_000)

test('many steps run in one transaction, with other code between them', async () => {
  const other = new Database(join(folder, 'test.db'), { readonly: true })
  const seen = () => other.query<{ n: number }, []>('SELECT count(*) AS n FROM notes').get()?.n
  await alone(async (run) => {
    await run(note('one'))
    await Bun.sleep(1)
    expect(seen()).toBe(0)
    await run(note('two'))
  })
  expect(seen()).toBe(2)
  other.close()
})

test('a step that throws leaves nothing, and later steps run', async () => {
  await expect(steps.write(noteHalf)).rejects.toThrow('broken off')
  const failing = alone(async (run) => {
    await run(note('half'))
    await Bun.sleep(1)
    throw new Error('broken off')
  })
  await expect(failing).rejects.toThrow('broken off')
  expect(database.inTransaction).toBe(false)
  await steps.write(() => note('after'))
  expect(notes()).toEqual(['after'])
})

test('a full disk rolls everything back, and throws disk_full', async () => {
  fillDisk()
  const full = { code: 'disk_full' }
  await expect(steps.write(() => note(LONG))).rejects.toMatchObject(full)
  const failing = alone(async (run) => {
    await run(note('small'))
    await run(note(LONG))
  })
  await expect(failing).rejects.toMatchObject(full)
  expect(notes()).toEqual([])
  await steps.write(() => note('after'))
  expect(notes()).toEqual(['after'])
})
